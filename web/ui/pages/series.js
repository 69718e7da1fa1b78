// Series: how has this number moved?

import { get, list, machines } from "../api.js";
import { code, column, el, fold, link, longTable, note, number, section, table,
  whole } from "../dom.js";
import { addressWith, className, regressionColumns, workload } from "../parts.js";
import { seriesPlot } from "../series_plot.js";
import { globMatch, machineName, metricName, quantity } from "../words.js";

const most = 2000;

const points = (id) => list(`series/${id}/points?limit=${most}`);

/** Marks that hold for this series. */
const marksOf = (marks, s) => marks.filter((m) => (m.machine === null || m.machine === s.machine)
  && globMatch(m.workload, s.workload_name) && (m.metric === "*" || m.metric === s.metric));

const withOf = (query) => (query.get("with") ?? "").split(",").filter((id) => /^\d+$/.test(id));

function head({ series: s, machine, related }, query) {
  const by = query.get("by") === "build" ? "build" : "time";
  const address = (changes) => addressWith(`series/${s.id}`, query, changes);
  const added = withOf(query);
  const choose = el("select", { id: "add", onchange: () => {
    if (choose.value) location.hash = address({ with: [...added, choose.value].join(",") });
  } }, el("option", { value: "" }, "choose"), related.filter((r) => r.id !== s.id
    && !added.includes(String(r.id))).map((r) => el("option", { value: r.id },
    `${r.workload_name} ${metricName(r.metric)}, class ${r.machine}`)));
  return [el("h2", {}, workload(s.workload_name), ` ${metricName(s.metric)}`),
    el("p", { class: "soft" }, code(s.workload_name), ` version ${s.workload_version}, `,
      `${machine ? machineName(machine) : `class ${s.machine}`}, ${s.variant}; `,
      s.direction === "lower_is_better" ? "lower is better" : "higher is better",
      s.level ? `; accepted level ${quantity(s.level.value, s.unit)}` : ""),
    el("p", { class: "tools" }, link(address({ by: by === "time" ? "build" : null }),
      by === "time" ? "Show by build" : "Show by time"),
    related.length > 1 && el("label", { for: "add" }, " Add a series ", choose),
    added.length > 0 && link(address({ with: null }), "Only this series"))];
}

const pointColumns = (unit) => [
  column("build", (p) => code(p.version)),
  number("location", (p) => quantity(p.location, unit), (p) => p.location),
  number("95 % interval", (p) =>
    [p.low, p.high].map((end) => quantity(end, unit, p.location)).join(" to "),
  (p) => `${p.low} to ${p.high}`),
  number("runs", (p) => p.values.length, (p) => p.values.join(" "))];

const relatedColumns = (classes) => [
  whole("series", (s) => workload(s.workload_name, `#/series/${s.id}`)),
  column("metric", (s) => metricName(s.metric)),
  column("machine", (s) => className(classes, s.machine)),
  number("level", (s) => (s.level ? quantity(s.level.value, s.unit) : "–"))];

export const page = {
  title: (id) => `Series ${id}`,
  async load(id, query) {
    const series = await get(`series/${id}`);
    const model = encodeURIComponent(`*/${series.workload_name.split("/")[1]}/**`);
    const name = encodeURIComponent(series.workload_name);
    const [own, others, regressions, marks, related, classes] = await Promise.all([
      points(id), Promise.all(withOf(query).map(async (other) =>
        ({ series: await get(`series/${other}`), points: await points(other) }))),
      list(`regressions?workload=${name}&metric=${series.metric}&limit=100`),
      list("marks?limit=100"), list(`series?workload=${model}&limit=100`), machines()]);
    const shown = regressions.filter((r) => r.state !== "dismissed" && r.state !== "merged"
      && r.series.some((s) => s.series === series.id));
    return { series, lines: [{ series, points: own }, ...others], regressions: shown, related,
      marks: marksOf(marks, series), classes,
      machine: classes.find((m) => m.id === series.machine) };
  },
  view: (data, id, query) => [
    el("section", {}, head(data, query), seriesPlot(data.lines, { regressions: data.regressions,
      marks: data.marks, byTime: query.get("by") !== "build" }),
    fold("points", "The same as a table", longTable(null, pointColumns(data.series.unit),
      data.lines[0].points.toReversed()))),
    data.regressions.length > 0 && section("Regressions of this series",
      table(null, regressionColumns, data.regressions)),
    data.marks.length > 0 && section("Shifts that somebody explained", el("ul", {},
      data.marks.map((m) => el("li", {}, m.at.slice(0, 10), `: ${m.reason} (${m.actor})`)))),
    data.related.length > 1 ? section("Series of the same model", longTable(null,
      relatedColumns(data.classes), data.related.filter((s) => s.id !== data.series.id)))
      : note("There is no other series of this model.")],
  news: () => "The series has a new build",
};
