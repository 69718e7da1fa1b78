// Compilers: each backend against eager on the same workload and machine, by suite and one by one.
// Built from the accepted levels, which are the newest that hold.

import { all, machines } from "../api.js";
import { level, pairs, ratio } from "../backends.js";
import { column, el, longTable, note, number, section, table, whole, within } from "../dom.js";
import { chooser, className, valuesOf, workload } from "../parts.js";
import { geomean, mean } from "../statistics.js";
import { count, quantity } from "../words.js";

const memoryOf = { cpu: "peak_cpu_memory", cuda: "peak_gpu_memory" };
const orders = { speedup: "speed-up", compile: "compile time", memory: "compression",
  name: "workload" };

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

const known = (rows, name) => rows.map((r) => r[name]).filter((v) => v !== null);

const summaryColumns = [
  column("suite", (g) => g[0].parts.suite),
  column("device", (g) => el("span", { class: "tag" }, g[0].parts.device)),
  column("backend", (g) => g[0].backend),
  number("pass", (g) => {
    const told = known(g, "failures");
    return told.length ? `${told.filter((v) => v < 1.01).length} of ${told.length}`
      : "not measured";
  }),
  number("geomean speed-up", (g) => [times(geomean(known(g, "speedup"))),
    within(` over ${known(g, "speedup").length}`)]),
  number("mean compile time", (g) => quantity(mean(known(g, "compile")),
    "s")),
  number("compression", (g) => times(geomean(known(g, "memory"))))];

const columns = (classes) => [
  whole("workload", (r) => workload(r.name, r.series
    && `#/series/${r.series}`)),
  column("machine", (r) => className(classes, r.machine)),
  number("latency", (r) => quantity(r.latency, "s")),
  number("speed-up", (r) => el("span", { class: r.speedup !== null
    && r.speedup < 0.98 ? "worse" : null }, r.speedup === null ? "no eager here"
    : times(r.speedup))),
  number("compile time", (r) => quantity(r.compile, "s")),
  number("compression", (r) => times(r.memory))];

/** The worst first, except by name; what is not known comes last. */
function sorted(rows, by) {
  if (by === "name") return rows.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const sign = by === "compile" ? -1 : 1;
  return rows.toSorted((a, b) => (a[by] === null) - (b[by] === null) || sign * (a[by] - b[by]));
}

export const page = {
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
    section("Workload by workload", el("form", { class: "search" },
      chooser("compilers", "sort", "Worst first by", Object.entries(orders), query, by),
      chooser("compilers", "suite", "Suite", valuesOf(rows, (r) => r.parts.suite), query)),
    longTable(null, columns(classes), sorted(shown, by), 40))];
  },
};
