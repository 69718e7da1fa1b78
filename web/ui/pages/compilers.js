// Compilers: each backend against eager on the same workload and machine, by suite and one by one.
// Built from the accepted levels, which are the newest that hold.

import { all, machines } from "../api.js";
import { el, link, longTable, note, saveText, section, table } from "../dom.js";
import { workload } from "../parts.js";
import { count, csv, machineName, quantity, workloadParts } from "../words.js";

const memoryOf = { cpu: "peak_cpu_memory", cuda: "peak_gpu_memory" };
const orders = { speedup: "speed-up", compile: "compile time", memory: "compression",
  name: "workload" };

const geomean = (values) => (values.length === 0 ? null
  : Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length));

/** Levels by workload and machine: key → {name, parts, machine, backends: {eager: {metric: s}}}. */
function pairs(series) {
  const by = new Map();
  for (const s of series) {
    const parts = workloadParts(s.workload_name);
    if (!parts || !s.level) continue;
    const { backend, ...rest } = parts;
    const key = `${Object.values(rest).join("/")}@${s.machine}`;
    if (!by.has(key)) by.set(key, { parts: rest, machine: s.machine, backends: {} });
    const entry = by.get(key).backends;
    entry[backend] ??= { name: s.workload_name, metrics: {} };
    entry[backend].metrics[s.metric] = s;
  }
  return [...by.values()];
}

const level = (side, metric) => side?.metrics[metric]?.level.value ?? null;

const ratio = (a, b) => (a > 0 && b > 0 ? a / b : null);

/** Rows of one backend against eager. */
function against(series) {
  return pairs(series).flatMap(({ parts, machine, backends }) => Object.keys(backends)
    .filter((backend) => backend !== "eager").map((backend) => {
      const side = backends[backend], eager = backends.eager, memory = memoryOf[parts.device];
      const latency = side.metrics.latency;
      return { parts, machine, backend, name: side.name, series: latency?.id ?? null,
        latency: level(side, "latency"), compile: level(side, "compile_time"),
        speedup: ratio(level(eager, "latency"), level(side, "latency")),
        memory: ratio(level(eager, memory), level(side, memory)),
        failures: level(side, "failures") };
    }));
}

const times = (value) => (value === null ? "–" : `${value.toFixed(2)}×`);

const mean = (values) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : null);

const known = (rows, name) => rows.map((r) => r[name]).filter((v) => v !== null);

const summaryColumns = [
  { name: "suite", cell: (g) => g[0].parts.suite },
  { name: "device", cell: (g) => el("span", { class: "tag" }, g[0].parts.device) },
  { name: "backend", cell: (g) => g[0].backend },
  { name: "pass", number: true, cell: (g) => {
    const told = known(g, "failures");
    return told.length ? `${told.filter((v) => v < 1.01).length} of ${told.length}`
      : "not measured";
  } },
  { name: "geomean speed-up", number: true, cell: (g) => [times(geomean(known(g, "speedup"))),
    el("span", { class: "within" }, ` over ${known(g, "speedup").length}`)] },
  { name: "mean compile time", number: true, cell: (g) => quantity(mean(known(g, "compile")),
    "s") },
  { name: "compression", number: true, cell: (g) => times(geomean(known(g, "memory"))) }];

const columns = (classes) => [
  { name: "workload", whole: true, cell: (r) => workload(r.name, r.series
    && `#/series/${r.series}`) },
  { name: "machine", cell: (r) => machineName(classes.find((m) => m.id === r.machine)
    ?? { facts: {}, id: r.machine }) },
  { name: "latency", number: true, cell: (r) => quantity(r.latency, "s") },
  { name: "speed-up", number: true, cell: (r) => el("span", { class: r.speedup !== null
    && r.speedup < 0.98 ? "worse" : null }, r.speedup === null ? "no eager here"
    : times(r.speedup)) },
  { name: "compile time", number: true, cell: (r) => quantity(r.compile, "s") },
  { name: "compression", number: true, cell: (r) => times(r.memory) }];

/** The worst first, except by name; what is not known comes last. */
function sorted(rows, by) {
  if (by === "name") return rows.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const sign = by === "compile" ? -1 : 1;
  return rows.toSorted((a, b) => (a[by] === null) - (b[by] === null) || sign * (a[by] - b[by]));
}

const csvOf = (rows) => csv([["workload", "machine", "latency", "speedup", "compile_time",
  "compression"], ...rows.map((r) => [r.name, r.machine, r.latency, r.speedup, r.compile,
  r.memory])]);

export const compilersPage = {
  title: () => "Compilers",
  async load() {
    const [series, classes] = await Promise.all([all("series", 5000), machines()]);
    return { rows: against(series), classes };
  },
  view({ rows, classes }, _, query) {
    if (rows.length === 0) {
      return [section("Compilers", note("No workload is measured with a backend but eager."))];
    }
    const by = orders[query.get("sort")] ? query.get("sort") : "speedup";
    const suite = query.get("suite");
    const shown = rows.filter((r) => !suite || r.parts.suite === suite);
    const groups = Map.groupBy(rows, (r) => `${r.parts.suite}/${r.parts.device}/${r.backend}`);
    const slower = shown.filter((r) => r.speedup !== null && r.speedup < 0.98).length;
    return [section("Backends against eager", el("p", { class: "lead" },
      `${count(shown.length, "compiled workload")}, ${slower} of them slower than eager`),
    table("Geometric means are over what both sides ran; compression is eager's memory by the " +
      "backend's", summaryColumns, [...groups.values()])),
    section("Workload by workload", el("p", { class: "tools" }, "worst first by ",
      Object.entries(orders).map(([name, words]) => el("a", {
        href: `#/compilers?sort=${name}${suite ? `&suite=${suite}` : ""}`,
        "aria-current": name === by && "true" }, words)),
      "suite", [...new Set(rows.map((r) => r.parts.suite))].map((name) => el("a", {
        href: `#/compilers?sort=${by}&suite=${name}`,
        "aria-current": name === suite && "true" }, name)),
      suite && link(`#/compilers?sort=${by}`, "all"),
      el("button", { type: "button", onclick: () => saveText(csvOf(shown), "compilers.csv",
        "text/csv") }, "CSV")),
    longTable(null, columns(classes), sorted(shown, by), 40))];
  },
};
