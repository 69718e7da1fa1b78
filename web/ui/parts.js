// What several pages show alike: a workload's tags, a change, an issue, a verdict, a search's
// progress.

import { column, commit, el, fold, foldOpenIf, link, longTable, namedCommit, number, says,
  state, strong, svg, tight, version, when, whole, within } from "./dom.js";
import { change, count, interval, machineName, metricName, probability, quantity, workloadName,
  workloadParts } from "./words.js";

/** Device, precision, batch and backend. */
export function tagsOf(name) {
  const parts = workloadParts(name);
  return parts ? [parts.device, parts.precision, parts.batch, parts.backend] : [];
}

const tags = (name) => tagsOf(name).map((text) => el("span", { class: "tag" }, text));

/** Model and task, which lead to the series, and the rest as tags; the whole name on hover. */
export const workload = (name, href) => el("span", { class: "workload", title: name },
  href ? link(href, workloadName(name)) : strong(workloadName(name)), " ", tags(name));

/** "worse", "better" or null, by the interval and the direction that the service gives. */
export function tone(s) {
  if (s.direction === "unknown") return null;
  const [above, below] = s.direction === "higher_is_better" ? ["better", "worse"]
    : ["worse", "better"];
  if (!s.has_ratio) {
    return s.after > s.before ? above : s.after < s.before ? below : null;
  }
  return s.low > 1 ? above : s.high < 1 ? below : null;
}

/** "▲ +23.1 %" in the colour of worse or better, which the sign tells too. */
export function changeOf(s) {
  const text = s.has_ratio ? change(s.ratio)
    : s.unit === "outcome" ? quantity(s.after, s.unit)
      : `${s.after > s.before ? "+" : ""}${quantity(s.after - s.before, s.unit)}`;
  return el("span", { class: `change ${tone(s) ?? ""}` }, text);
}

/** The change with its interval in lighter type. */
export const changeWithin = (s) => [changeOf(s), s.has_ratio && s.low < s.high
  && within(` (${interval(s.low, s.high)})`)];

/** A regression's first series with the size that counts, wherever it is told. */
export const leadOf = (r) => ({ ...r.series[0], ratio: r.effect.ratio, low: r.effect.low,
  high: r.effect.high });

/** What measured the size that counts. */
export const effectWords = { search: "the search's estimate of the step",
  confirmation: "both builds side by side", screening: "one night against its level",
  history: "a step in an imported history" };

/** An issue on the web is a link; a dry run's is a file. */
export function issue(regression) {
  if (!regression.issue_url) return "–";
  const name = `#${regression.issue_number ?? "?"}`;
  return /^https?:\/\//.test(regression.issue_url) ? link(regression.issue_url, name)
    : el("span", { title: regression.issue_url }, name);
}

/** The culprit of a regression, for a cell. */
export function culprit(r) {
  if (r.culprit) {
    const more = r.culprit.commits.length - 1;
    return [namedCommit(r.culprit.commit_details[0]), more > 0 && ` or ${more} next`];
  }
  return r.range ? link(`#/regressions/${r.id}`,
    `within ${count(r.range.commits.length, "commit")}`) : "–";
}

/** What happened since when, in a sentence. */
export function verdict(r) {
  const lead = leadOf(r);
  const what = [workload(lead.workload, `#/series/${lead.series}`), ` ${metricName(lead.metric)} `,
    changeWithin(lead),
    r.series.length > 1 ? ` and ${r.series.length - 1} more series` : ""];
  if (r.range) {
    const among = r.range.commit_details;
    return [what, ` within ${count(among.length, "commit")}, `, namedCommit(among[0]),
      among.length > 1 ? [" to ", namedCommit(among.at(-1))] : "",
      r.may_be_wheel ? ", or by the wheel, which changes there; nobody is blamed"
        : "; which one is not known, and nobody is blamed"];
  }
  if (!r.culprit) return [what, " between ", version(r.good.version), " and ",
    version(r.bad.version), withoutCulprit(r)];
  return [what, " since ", blamed(r), `, ${probability(r.culprit.probability)} certain`];
}

function withoutCulprit(r) {
  if (r.state === "historical") {
    return "; from an imported history, nothing was measured side by side, and nobody is blamed";
  }
  const cause = r.attribution?.cause;
  if (cause === "wheel") return "; the wheel changed it, not a commit, and nobody is blamed";
  const both = cause === "environment_and_wheel";
  if (cause !== "environment" && !both) return "";
  const which = r.packages?.said;
  const more = which ? `: ${which}` : ", and no commit is blamed";
  return `; the packages ${both ? "and the wheel " : ""}did it, not the source${more}`;
}

function blamed(r) {
  const commits = r.culprit.commit_details;
  if (commits.length === 1) return namedCommit(commits[0]);
  if (r.together) {
    return commits.flatMap((one, i) => [i === 0 ? "" : ", ", namedCommit(one)]).concat(" together");
  }
  return [`one of ${commits.length} adjacent commits, `, namedCommit(commits[0]), " to ",
    namedCommit(commits.at(-1))];
}

export const regressionLink = (id) => link(`#/regressions/${id}`, `regression ${id}`);

/** A list of the regressions for which a commit is blamed. */
export const blamedFor = (regressions) => regressions.length > 0 && el("ul", {},
  regressions.map((r) => el("li", {}, regressionLink(r.id), " ",
    state(r.state), " ", verdict(r))));

/** The commits that a search named for what got better; "one of 3 commits" of a range. */
export const madeBetter = (causes) => causes.map((cause, i) => [i > 0 && ", ",
  cause.range ? `one of ${cause.commits.length} commits`
    : cause.commits.map((sha, at) => [at > 0 && " ", commit(sha)])]);

/** "+3" for further series, in words on hover. */
export const andMore = (series) => series.length > 1 && el("span", { class: "soft",
  title: `and ${series.length - 1} more series` }, ` +${series.length - 1}`);

/** Columns of a list of regressions. */
export const regressionColumns = [
  whole("regression", (r) => [
    workload(r.series[0].workload, `#/regressions/${r.id}`),
    ` ${metricName(r.series[0].metric)}`, andMore(r.series)]),
  number("change", (r) => changeOf(leadOf(r))),
  column("state", (r) => state(r.state)),
  whole("culprit", culprit),
  column("issue", issue),
  tight("changed", (r) => when(r.updated_at)),
];

/** The same with the time at which each was seen, by which the list is in order. */
export const seenColumns = [...regressionColumns.slice(0, -1), tight("seen", (r) =>
  when(r.opened_at))];

/** Minutes that a search probably still needs; null: nobody can say. */
export const minutesToGo = (b) => (b.state === "open" && b.expected_runs >= 1 && b.own_runs > 0
  ? Math.max(1, Math.ceil(b.expected_runs * b.spent_seconds / b.own_runs / 60)) : null);

function toGo(b) {
  if (b.state !== "open" || b.expected_runs < 1) return "";
  const minutes = minutesToGo(b);
  return `, about ${count(Math.round(b.expected_runs), "run")} to go${
    minutes ? ` (about ${minutes} min, a rough guess)` : ""}`;
}

/** How far a search is, in a sentence. */
export const progress = (b) => el("p", {}, workload(b.workload, `#/series/${b.series}`),
  ` ${metricName(b.metric)}: ${count(b.commit_count, "commit")} with both ends, `,
  `${b.tested_commits} measured, ${b.untestable_commits} not measurable, `,
  `${b.runs} runs in ${count(b.session_count, "session")}`,
  b.builds_under_way > 0 ? `, ${count(b.builds_under_way, "wheel")} being built` : "",
  toGo(b), ", begun ", when(b.started_at));

/** A measured commit's level against the first one's, with its interval. */
export const againstReference = (c) => (c.index === 0 ? "the reference" : !c.change ? "–"
  : [change(c.change.ratio), el("span", { class: "within" },
    ` (${interval(c.change.low, c.change.high)})`)]);

/** 60 × 16 pixels of a series' newest levels. */
export function spark(points) {
  const values = points.map((p) => p.location ?? p);
  if (values.length < 2) return svg("svg", { class: "spark", viewBox: "0 0 60 16" });
  const middle = values.toSorted((a, b) => a - b)[values.length >> 1];
  const low = Math.min(...values, middle * 0.97), high = Math.max(...values, middle * 1.03);
  const at = (v, i) => `${(1 + i * 58 / (values.length - 1)).toFixed(1)},${
    (15 - 14 * (v - low) / (high - low || 1)).toFixed(1)}`;
  return svg("svg", { class: "spark", viewBox: "0 0 60 16", "aria-hidden": "true" },
    svg("polyline", { points: values.map(at).join(" ") }),
    svg("circle", { cx: 59, cy: at(values.at(-1), 0).split(",")[1], r: 1.5 }));
}

/** What a machine class of this id is called. */
export function className(classes, id) {
  const name = machineName(classes.find((m) => m.id === id) ?? { facts: {}, id });
  return classes.some((m) => m.id !== id && machineName(m) === name) ? `${name}, class ${id}`
    : name;
}

/** This page's address with some of its filters changed; null takes one out. */
export function addressWith(page, query, changes) {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return `#/${page}${next.size ? `?${next}` : ""}`;
}

/** Columns without those that say "–" of each of these items. */
export const saying = (columns, items) => columns.filter((c) =>
  items.some((item) => says(c.cell(item))));

/**
 * A fold for each group of items, with a table of its own: `summary(group, items)` and
 * `columns(items)`. One group alone, and those of which isOpen(items) holds, begin open.
 */
export function groupedTables(name, items, { by, summary, columns, isOpen = () => false }) {
  const groups = [...Map.groupBy(items, by)];
  return el("div", { class: "groups" }, groups.map(([group, some]) => foldOpenIf(
    groups.length === 1 || isOpen(some), `${name}-${group}`, summary(group, some),
    longTable(null, saying(columns(some), some), some))));
}

/** "all" and what items have, to choose from: [[value, words]]. */
export const valuesOf = (items, of, words = (value) => value) => [["", "all"],
  ...[...new Set(items.map(of))].toSorted().map((value) => [value, words(value)])];

/** A labelled choice that stands in the address. options: [[value, words]]. */
export function chooser(page, name, label, options, query, chosen = query.get(name)) {
  const node = el("select", { id: name, onchange: () => {
    location.hash = addressWith(page, query, { [name]: node.value });
  } }, options.map(([value, words]) => el("option", { value }, words)));
  node.value = chosen ?? "";
  return el("label", {}, label, node);
}

const isPackage = ([name]) => name.startsWith("package ");

/** "kernel 6.1 → 6.8, thp always → madvise": what of a machine changed; "" where nothing did.
 * What one side did not read is no change. Packages are listed in full. */
export function factsMoved(before, now) {
  const changed = ([name, value]) => value !== before[name]
    && (isPackage([name]) || before[name] !== undefined);
  const gone = Object.keys(before).filter((name) => isPackage([name]) && !(name in now));
  return [...Object.entries(now).filter(changed), ...gone.map((name) => [name])].map(
    ([name, value]) =>
      `${name.replaceAll("_", " ")} ${before[name] ?? "none"} → ${value ?? "none"}`).join(", ");
}

/** What is known of a machine, the packages of its Python folded. */
export function factsOf(machine) {
  const known = Object.entries(machine.facts).filter(([, value]) => value !== "none");
  const facts = (rows) => el("dl", { class: "facts" }, rows.map(([name, value]) =>
    [el("dt", {}, metricName(name.replace(/_bytes$/, ""))),
      el("dd", {}, name.endsWith("_bytes") ? quantity(Number(value), "bytes") : value)]));
  const packages = known.filter(isPackage);
  return [facts(known.filter((fact) => !isPackage(fact))),
    packages.length > 0 && fold(`packages-${machine.id}`,
      `${packages.length} packages of its Python`, facts(packages))];
}
