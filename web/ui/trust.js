// How often verdicts were right: a table for each machine class, and whether the search is right as
// often as it says.

import { chartKey, sample, still } from "./chart.js";
import { column, el, fold, longTable, note, number, rule, section, svg, whole, within,
  written } from "./dom.js";
import { count, metricName } from "./words.js";

const percent = (share) => `${(share * 100).toFixed(1)}\u00a0%`;

const between = (low, high) => `${(low * 100).toFixed(1)} to ${percent(high)}`;

/** "2 of 40", and within which bounds its share probably lies. */
const rate = (r) => (r.cases === 0 ? "not yet" : [`${r.hits} of ${r.cases}`,
  within(` (${between(r.low, r.high)})`)]);

/** Like rate(), but in thousandths, since percent would be all zeros. */
const rare = (r) => (r.cases === 0 ? "not yet" : [`${r.hits} of ${r.cases}`,
  within(` (at most ${Number((r.high * 1000).toPrecision(2))} in 1000)`)]);

const smallest = (s) => [
  s.computed === null ? "not known yet" : [percent(s.computed),
    within(` (${between(s.low, s.high)}, by noise of ${count(s.series, "series", "series")})`)],
  s.planted !== null && el("div", {}, `${percent(s.planted)} by planted ones`)];

const columns = [
  column("metric", (v) => metricName(v.metric)),
  number("false alarms", (v) => rare(v.false_alarms)),
  number("suspected", (v) => v.suspicions),
  number("confirmed", (v) => v.confirmed),
  number("same build", (v) => rate(v.same_build)),
  number("planted and seen", (v) => (v.planted.length === 0 ? "not yet" : v.planted.map((p) => el(
    "div", {}, `${percent(p.change)}: `, rate(p.seen))))),
  number("smallest seen", (v) => smallest(v.smallest_seen))];

const legend = "False alarms: of series and nights. Same build: a build against itself, called "
  + "worse. Smallest seen: with probability 0.9.";

/** One sentence for each metric whose threshold the class cannot show. */
const notShown = (verdicts) => verdicts.filter((v) => v.smallest_seen.shows_threshold === false)
  .map((v) => note(`${metricName(v.metric)}: smallest change seen with probability .9 here: ${
    percent(v.smallest_seen.computed)}`));

/** How often verdicts on one machine class are right; `verdicts` are those on it. */
export function verdictTrust(machine, verdicts) {
  if (verdicts.length === 0) return null;
  const missing = [...new Set(verdicts.flatMap((v) => v.not_measured))];
  return [notShown(verdicts), fold(`trust-${machine.id}`, "How often its verdicts are right",
    longTable(legend, columns, verdicts), missing.length > 0 && el("ul", { class: "note" },
      missing.map((text) => el("li", {}, text))))];
}

const sources = {
  replay_named: ["named by replayed searches", "s0"],
  replay_suspected: ["likeliest commit of replayed searches", "s1"],
  told: ["named, and a person said the cause", "s2"],
};

const [width, height, left, floor] = [560, 320, 48, 280];

/** Each bin's share of right accusations over what was stated; on the diagonal both agree. */
function reliabilityPicture(rows) {
  const x = (p) => left + (width - left - 16) * p, y = (p) => floor - (floor - 14) * p;
  const steps = [0, .25, .5, .75, 1];
  return still(width, height,
    "Share of right accusations over the stated probability; the table has the same",
    steps.map((p) => [rule("axis", x(p), x(p), y(1), y(0)), rule("axis", x(0), x(1), y(p), y(p)),
      written(x(p), floor + 16, `${p * 100} %`, p === 1 ? "end" : "middle"),
      written(left - 8, y(p) + 4, `${p * 100} %`, "end")]),
    written((width + left) / 2, height - 6, "stated", "middle"),
    rule("level", x(0), x(1), y(0), y(1)),
    rows.map((r) => [rule(`interval ${sources[r.source][1]}`, x(r.stated), x(r.stated), y(r.low),
      y(r.high)),
    svg("circle", { class: `point ${sources[r.source][1]}`, r: 4.5, cx: x(r.stated),
      cy: y(r.right / r.cases) },
    svg("title", {}, `${sources[r.source][0]}: ${r.right} of ${r.cases}`))]));
}

const binColumns = [
  whole("accusations", (r) => sources[r.source][0]),
  number("stated", (r) => [percent(r.stated),
    within(` (${between(r.from, r.to)})`)]),
  number("right", (r) => [`${r.right} of ${r.cases}`,
    within(` (${between(r.low, r.high)})`)])];

/** searches: of /api/v1/trust. */
export function searchTrust(searches) {
  const rows = searches.flatMap((s) => s.bins.filter((b) => b.cases > 0)
    .map((b) => ({ ...b, source: s.source })));
  const missing = searches.filter((s) => s.not_measured);
  return section("When a search says how sure it is, how often is it right?",
    rows.length > 0 && [reliabilityPicture(rows),
      chartKey([[sample(rule("level", 0, 24, 6, 6)), "as often as it says"],
        ...Object.entries(sources).filter(([name]) => rows.some((r) => r.source === name))
          .map(([, [words, tone]]) => [sample(svg("circle", { class: `point ${tone}`, r: 4.5,
            cx: 12, cy: 6 })), words])]),
      longTable(null, binColumns, rows)],
    missing.map((s) => note(`${sources[s.source][0]}: `, s.not_measured)));
}
