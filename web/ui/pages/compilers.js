// Compilers: what each suite came to with each backend on the newest night, over nights, and model
// by model. All of it is as the service summed nights up.

import { all, list, machines } from "../api.js";
import { column, el, lead, link, longTable, note, number, section, strong, tight, version, when,
  whole, within } from "../dom.js";
import { addressWith, chooser, className, groupedTables, saying, valuesOf, workload,
} from "../parts.js";
import { smallChart, suiteChart, toneOf, verdictWords } from "../suite_chart.js";
import { change, count, percent, quantity } from "../words.js";

const dayMilliseconds = 86400000, days = 45, most = 5000;

const measures = { speedup: "speed-up", compile_time: "compile time",
  cpu_compression: "CPU compression", gpu_compression: "GPU compression" };
const unitOf = (measure) => (measure === "compile_time" ? "s" : "×");
const orders = { ...measures, latency: "latency", accuracy: "accuracy", name: "workload" };
const parts = ["suite", "task", "device", "precision", "backend"];

const times = (value) => (value === null ? "–" : `${value.toFixed(2)}×`);
const amount = (measure, value) => (measure === "compile_time" ? quantity(value, "s")
  : times(value));

const keyOf = (s) => [s.machine, s.variant, ...parts.map((p) => s[p])].join("/");

/** What the newest nights came to, by suite: [{key, newest, nights, members}], nights in order. */
async function suitesOf() {
  const newest = (await list("suites?limit=1"))[0];
  if (!newest) return [];
  const since = new Date(Date.parse(newest.started_at) - days * dayMilliseconds).toISOString();
  const rows = (await all(`suites?since=${since}`, most))
    .toSorted((a, b) => a.started_at.localeCompare(b.started_at));
  const suites = [...Map.groupBy(rows, keyOf)].map(([key, nights]) =>
    ({ key, nights, newest: nights.at(-1) }));
  const members = (await Promise.all([...new Set(suites.map((s) => s.newest.night))]
    .map((night) => all(`members?night=${night}`, most)))).flat();
  const bySummary = Map.groupBy(members, (m) => m.summary);
  return suites.toSorted((a, b) => a.key.localeCompare(b.key, "en", { numeric: true }))
    .map((s) => ({ ...s, members: bySummary.get(s.newest.id) ?? [] }));
}

const nameOf = (s) => `${s.suite} ${s.task}`;

const titled = (s, href) => el("span", { class: "workload", title: keyOf(s) },
  link(href, nameOf(s)), " ", [s.device, s.precision, s.backend].map((text) =>
    el("span", { class: "tag" }, text)));

/** A mean and over how many models it is. */
const meanOf = (measure) => (s) => {
  const mean = s.newest[measure];
  return mean ? [amount(measure, mean.value), within(` over ${mean.members}`)] : "–";
};

const verdictOf = (mean) => (!mean ? "–" : el("span", { class: toneOf(mean), title: mean.reason },
  verdictWords[mean.verdict], toneOf(mean) && ` ${change(mean.ratio)}`));

const meansOf = (s, measure) => s.nights.filter((n) => n[measure]).map((n) => n[measure]);

function suiteColumns(query) {
  const href = (s) => addressWith("compilers", query, { of: s.key });
  return [
    whole("suite", (s) => titled(s.newest, href(s))),
    number("pass", (s) => [`${s.newest.passed} of ${s.newest.models}`,
      within(` ${percent(s.newest.pass_rate)}`)]),
    number("geomean speed-up", meanOf("speedup")),
    column("against before", (s) => verdictOf(s.newest.speedup)),
    column("nights", (s) => {
      const means = meansOf(s, "speedup");
      return means.length > 1 ? smallChart("Speed-up", means) : "–";
    }),
    number("mean compile time", meanOf("compile_time")),
    number("CPU compression", meanOf("cpu_compression")),
    number("GPU compression", meanOf("gpu_compression"))];
}

/** "6 suites, 1.12× to 1.63×, 1 worse": what the suites of a machine came to. */
function summaryOf(name, suites) {
  const means = suites.map((s) => s.newest.speedup?.value).filter((v) => v !== undefined)
    .toSorted((a, b) => a - b);
  const moved = (tone) => suites.filter((s) => s.newest.speedup
    && toneOf(s.newest.speedup) === tone).length;
  return [strong(name), `: ${count(new Set(suites.map((s) => nameOf(s.newest))).size,
    "suite and task", "suites and tasks")}`, means.length > 0
    && `, ${times(means[0])}${means.length > 1 ? ` to ${times(means.at(-1))}` : ""}`,
  ["worse", "better"].map((tone) => moved(tone) > 0 && [", ", el("span", { class: tone },
    `${moved(tone)} ${tone}`)])];
}

const suiteTables = (suites, classes, query, chosen) => groupedTables("compilers", suites, {
  by: (s) => className(classes, s.newest.machine), summary: summaryOf,
  columns: () => suiteColumns(query), isOpen: (some) => some.includes(chosen) });

const nightColumns = (measure) => [
  column("night", (n) => when(n.started_at)),
  tight("build", (n) => version(n.build.version)),
  number("pass", (n) => `${n.passed} of ${n.models}`),
  number(measures[measure], (n) => (n[measure] ? amount(measure, n[measure].value) : "–"),
    (n) => n[measure]?.value),
  number("over", (n) => n[measure]?.members ?? "–"),
  column("verdict", (n) => verdictOf(n[measure])),
  whole("why", (n) => n[measure]?.reason ?? `no model has a ${measures[measure]}`)];

const measureOf = (query) => (measures[query.get("measure")] ? query.get("measure") : "speedup");

/** The suite that the address names, else one that moved, else one with the mean. */
function chosenOf(suites, query) {
  const mean = (s) => s.newest[measureOf(query)];
  return suites.find((s) => s.key === query.get("of"))
    ?? suites.find((s) => mean(s) && toneOf(mean(s))) ?? suites.find(mean) ?? suites[0];
}

/** One suite night by night. */
function nightByNight(suite, classes, query) {
  const measure = measureOf(query);
  const nights = suite.nights.filter((n) => n[measure])
    .map((n) => ({ date: n.started_at.slice(0, 10), mean: n[measure] }));
  return section(`${nameOf(suite.newest)} night by night`,
    el("p", {}, ["device", "precision", "backend"].map((p) => el("span", { class: "tag" },
      suite.newest[p])), ` on ${className(classes, suite.newest.machine)}`),
    el("form", { class: "search" }, chooser("compilers", "measure", "Mean",
      Object.entries(measures), query, measure)),
    nights.length > 1 ? suiteChart(measures[measure], unitOf(measure), nights)
      : note("There are not two nights with this mean yet."),
    longTable("A mean that moves because its members changed says so, and names them",
      nightColumns(measure), suite.nights.toReversed(), 10));
}

const accuracyOf = (m) => el("span", { class: m.passed ? null : "worse" },
  m.accuracy?.replaceAll("_", " ") ?? (m.passed ? "–" : "fails"));

const memberColumns = (classes) => [
  whole("workload", (m) => workload(m.workload, m.series && `#/series/${m.series}`)),
  column("machine", (m) => className(classes, m.machine)),
  column("accuracy", accuracyOf),
  number("latency", (m) => quantity(m.latency, "s"), (m) => m.latency),
  number("speed-up", (m) => el("span", { class: m.speedup !== null && m.speedup < 0.98
    ? "worse" : null }, m.speedup === null ? "no eager here" : times(m.speedup)),
  (m) => m.speedup),
  number("compile time", (m) => quantity(m.compile_time, "s"), (m) => m.compile_time),
  number("CPU compression", (m) => times(m.cpu_compression), (m) => m.cpu_compression),
  number("GPU compression", (m) => times(m.gpu_compression), (m) => m.gpu_compression)];

/** The worst first, except by name; what is not known comes last. */
function sorted(members, by) {
  if (by === "name") return members.toSorted((a, b) => a.workload.localeCompare(b.workload));
  if (by === "accuracy") {
    return members.toSorted((a, b) => a.passed - b.passed
      || (a.accuracy ?? "").localeCompare(b.accuracy ?? ""));
  }
  const sign = by === "compile_time" || by === "latency" ? -1 : 1;
  return members.toSorted((a, b) => (a[by] === null) - (b[by] === null)
    || sign * (a[by] - b[by]));
}

export const page = {
  title: () => "Compilers",
  async load() {
    const [suites, classes] = await Promise.all([suitesOf(), machines()]);
    return { suites, classes };
  },
  view({ suites, classes }, _, query) {
    if (suites.length === 0) {
      return [section("Compilers", note("No night with a backend but eager has ended yet."))];
    }
    const by = orders[query.get("sort")] ? query.get("sort") : "speedup";
    const shown = suites.filter((s) => parts.every((p) => !query.get(p)
      || s.newest[p] === query.get(p)));
    const compiled = shown.flatMap((s) => s.members.map((m) =>
      ({ ...m, machine: s.newest.machine })));
    const members = compiled.filter((m) => !query.get("domain")
      || m.domain === query.get("domain"));
    const slower = members.filter((m) => m.speedup !== null && m.speedup < 0.98).length;
    const chosen = chosenOf(shown, query);
    return [section("Backends against eager", lead(count(members.length, "compiled workload"),
      `, ${slower} of them slower than eager`),
    el("form", { class: "search" }, parts.map((p) => chooser("compilers", p, p,
      valuesOf(suites, (s) => s.newest[p]), query))),
    note("By machine. Means are over what passes and both sides ran; compression is eager's ",
      "memory by the backend's."),
    el("div", { class: "narrow" }, suiteTables(shown, classes, query, chosen))),
    chosen && nightByNight(chosen, classes, query),
    section("Workload by workload", el("form", { class: "search" },
      chooser("compilers", "sort", "Worst first by", Object.entries(orders), query, by),
      chooser("compilers", "domain", "domain", valuesOf(compiled, (m) => m.domain), query)),
    el("div", { class: "narrow" },
      longTable(null, saying(memberColumns(classes), members), sorted(members, by))))];
  },
};
