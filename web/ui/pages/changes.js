// What regressed and what improved in the last days, and how long it took to find and to repair.

import { all, wordsOf } from "../api.js";
import { column, el, lead, link, longTable, note, number, section, tight, when,
  whole } from "../dom.js";
import { addressWith, andMore, changeOf, chooser, madeBetter, regressionLink, seenColumns,
  workload } from "../parts.js";
import { median } from "../statistics.js";
import { count, metricName, quantity, shortVersion, span } from "../words.js";

const periods = [1, 7, 30, 365];
const daysOf = (query) => periods.find((d) => String(d) === query.get("days")) ?? 30;

const seconds = (from, to) => (new Date(to) - new Date(from)) / 1000;

/** Medians of the time to an answer and to a repair. */
function times(regressions, searches) {
  const found = regressions.filter((r) => searches.get(r.bisection)?.finished_at && r.culprit)
    .map((r) => seconds(r.opened_at, searches.get(r.bisection).finished_at));
  const repaired = regressions.filter((r) => r.state === "recovered")
    .map((r) => seconds(r.opened_at, r.updated_at));
  const told = (what, took, none) => [el("dt", {}, what), el("dd", {}, took.length
    ? `${span(median(took))} (median of ${took.length})` : none)];
  return el("dl", { class: "facts" }, told("To the culprit", found, "no search named one"),
    told("To the repair", repaired, "none is repaired yet"));
}

/**
 * Improvements of one night and metric are shown as one, and so are those that repair one
 * regression. The largest series comes first.
 */
const taken = (improvements) => [...Map.groupBy(improvements, (i) => (i.repairs
  ? `repair ${i.repairs}` : `${i.night}/${i.metric}`)).values()].map((some) =>
  some.toSorted((a, b) => Math.abs(Math.log(b.ratio)) - Math.abs(Math.log(a.ratio))));

// An improvement's change has no interval: it is recorded, and never filed.
const asChange = (i) => ({ ...i, low: i.ratio, high: i.ratio });

const improvementColumns = [
  whole("series", ([i, ...more]) => [
    workload(i.workload, `#/series/${i.series}`), ` ${metricName(i.metric)}`,
    andMore([i, ...more])]),
  column("what", ([i]) => (i.repairs ? ["repair of ", regressionLink(i.repairs)]
    : "improvement")),
  number("before", ([i]) => quantity(i.before, i.unit)),
  number("after", ([i]) => quantity(i.after, i.unit, i.before)),
  number("change", ([i]) => changeOf(asChange(i))),
  tight("commit", (some) => {
    const i = some.find((one) => one.made_better.length > 0) ??
      some.find((one) => one.bisection !== null);
    if (!i) return "–";
    return i.made_better.length > 0 ? madeBetter(i.made_better)
      : link(`#/bisections/${i.bisection}`, "not named");
  }),
  tight("build", ([i]) => link(`#/compare?bad=${i.build.id}`,
    i.build.date ?? shortVersion(i.build.version))),
  tight("when", ([i]) => when(i.at))];

/** Whom culprits are by; `chosen`, too, of whom there may be none in this time. */
const authorsOf = (regressions, chosen) => [...new Set([chosen, ...regressions.flatMap((r) =>
  r.culprit?.commit_details.map((c) => c.author) ?? [])].filter(Boolean))].toSorted();

export const page = {
  title: () => "Changes",
  async load(_, query) {
    const since = new Date(Date.now() - daysOf(query) * 86400000);
    since.setUTCMinutes(0, 0, 0);
    const from = since.toISOString().replace(".000", "");
    const wish = new URLSearchParams({ since: from });
    if (query.get("domain")) wish.set("domain", query.get("domain"));
    const theirs = new URLSearchParams(wish), author = query.get("author");
    if (author) theirs.set("author", author);
    const [everybody, own, improvements, searches, domains] = await Promise.all([
      all(`regressions?${wish}`), author ? all(`regressions?${theirs}`) : null,
      all(`improvements?${wish}`), all("bisections"), wordsOf("Domain")]);
    return { regressions: own ?? everybody, authors: authorsOf(everybody, author), improvements,
      searches, domains };
  },
  view({ regressions, authors, improvements, searches, domains }, _, query) {
    const days = daysOf(query), every = query.get("all") === "yes";
    const counted = regressions.filter((r) => r.counted), shown = every ? regressions : counted;
    const rest = regressions.length - shown.length;
    const repaired = counted.filter((r) => r.state === "recovered").length;
    const better = taken(improvements), repairs = better.filter(([i]) => i.repairs).length;
    return [section("What regressed and what improved",
      el("p", { class: "tools" }, periods.map((d) => el("a", {
        href: addressWith("changes", query, { days: d }),
        "aria-current": d === days && "true" }, d === 1 ? "last day" : `last ${d} days`))),
      el("form", { class: "search" }, chooser("changes", "domain", "domain",
        [["", "all"], ...domains.map((name) => [name, name])], query),
      chooser("changes", "author", "culprit by",
        [["", "anybody"], ...authors.map((name) => [name, name])], query)),
      lead(count(counted.length, "regression"), repaired > 0 && `, ${repaired} of them over`,
        `; ${count(better.length - repairs, "improvement")}`, better.length > repairs && ` in ${
          count(improvements.filter((i) => !i.repairs).length, "series", "series")}`,
        `; series of ${count(repairs, "regression")} came back`),
      times(regressions, new Map(searches.map((b) => [b.id, b])))),
    section("Worse", shown.length === 0 ? note("Nothing in this time.")
      : longTable(null, seenColumns, shown),
    (rest > 0 || every) && note(link(
      addressWith("changes", query, { days, all: every ? null : "yes" }),
      every ? "Only those that are counted" : rest === 1
        ? "1 more is suspected or unconfirmed, was dismissed, or is a part of another one"
        : `${rest} more are suspected or unconfirmed, were dismissed, or are a part of another `
          + "one"))),
    section("Better", better.length === 0 ? note("Nothing in this time.")
      : longTable(null, improvementColumns, better))];
  },
  news: () => "There are new changes",
};
