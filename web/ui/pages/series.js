// Series: how has this number moved?

import { all, get, list, machines } from "../api.js";
import { code, column, el, fold, link, longTable, note, number, section, table, version, whole
  } from "../dom.js";
import { addressWith, className, regressionColumns, workload } from "../parts.js";
import { dateOf, seriesHistory } from "../series_history.js";
import { seriesPlot } from "../series_plot.js";
import { count, globMatch, machineName, metricName, quantity } from "../words.js";

/** Marks that hold for this series. */
const marksOf = (marks, s) => marks.filter((m) => (m.machine === null || m.machine === s.machine)
  && globMatch(m.workload, s.workload_name) && (m.metric === "*" || m.metric === s.metric));

const withOf = (query) => (query.get("with") ?? "").split(",").filter((id) => /^\d+$/.test(id));

const directionWords = { lower_is_better: "lower is better", higher_is_better: "higher is better",
  unknown: "which way is better is not known, so it is not judged" };

function head({ histories: [{ series: s, noise }], machine, related, classes }, query) {
  const by = query.get("by") === "build" ? "build" : "time";
  const address = (changes) => addressWith(`series/${s.id}`, query, changes);
  const added = withOf(query);
  const choose = el("select", { id: "add", onchange: () => {
    if (choose.value) location.hash = address({ with: [...added, choose.value].join(",") });
  } }, el("option", { value: "" }, "choose"), related.filter((r) => r.id !== s.id
    && !added.includes(String(r.id))).map((r) => el("option", { value: r.id },
    `${r.workload_name} ${metricName(r.metric)}, ${className(classes, r.machine)}`)));
  return [el("h2", {}, workload(s.workload_name), ` ${metricName(s.metric)}`),
    el("p", { class: "soft" }, code(s.workload_name), ` version ${s.workload_version}, `,
      `${machine ? machineName(machine) : `class ${s.machine}`}, ${s.variant}; `,
      directionWords[s.direction],
      s.level ? `; newest accepted night ${quantity(s.level.value, s.unit)}` : "",
      noise === null ? "" : `; runs of one build vary by ${(100 * noise).toFixed(1)}\u00a0%`),
    el("p", { class: "tools" }, link(address({ by: by === "time" ? "build" : null }),
      by === "time" ? "Show by build" : "Show by time"),
    related.length > 1 && el("label", { for: "add" }, " Add a series ", choose),
    added.length > 0 && link(address({ with: null }), "Only this series"))];
}

/** The columns of a table of a history, whose rows are places in it. */
function pointColumns(h) {
  const of = (v, i) => quantity(v, h.series.unit, h.location[i]);
  return [
    column("build", (i) => version(h.version[i])),
    number("location", (i) => quantity(h.location[i], h.series.unit), (i) => h.location[i]),
    number("95 % interval", (i) => [h.low[i], h.high[i]].map((end) => of(end, i)).join(" to "),
      (i) => `${h.low[i]} to ${h.high[i]}`),
    number("level", (i) => (Number.isNaN(h.level[i]) ? "–" : of(h.level[i], i)),
      (i) => (Number.isNaN(h.level[i]) ? "" : h.level[i])),
    number("runs", (i) => h.runs[i]),
    column("runner", (i) => h.runners.find((r) => r.id === h.runner[i])?.name ?? "–")];
}

const withoutColumns = [
  column("night", (n) => link(`#/nights?night=${n.night}`, n.day === null ? `night ${n.night}`
    : dateOf(n.day))),
  whole("why", (n) => n.reason)];

const relatedColumns = (classes) => [
  whole("series", (s) => workload(s.workload_name, `#/series/${s.id}`)),
  column("metric", (s) => metricName(s.metric)),
  column("machine", (s) => className(classes, s.machine)),
  number("level", (s) => (s.level ? quantity(s.level.value, s.unit) : "–"))];

export const page = {
  title: (id) => `Series ${id}`,
  async load(id, query) {
    const own = await seriesHistory(id), { series } = own;
    const model = encodeURIComponent(`*/${series.workload_name.split("/")[1]}/**`);
    const name = encodeURIComponent(series.workload_name);
    const alike = `workload=${name}&metric=${series.metric}&machine=${series.machine}&limit=100`;
    const [others, regressions, better, marks, related, classes] = await Promise.all([
      Promise.all(withOf(query).map(seriesHistory)),
      list(`regressions?series=${series.id}&limit=100`), list(`improvements?${alike}`),
      all("marks"), list(`series?workload=${model}&limit=100`), machines()]);
    const shown = regressions.filter((r) => r.state !== "dismissed" && r.state !== "merged");
    return { histories: [own, ...others], regressions: shown, related,
      improvements: better.filter((i) => i.series === series.id),
      marks: marksOf(marks, series), classes,
      machine: classes.find((m) => m.id === series.machine) };
  },
  view: (data, id, query) => {
    const [own] = data.histories;
    return [
      el("section", {}, head(data, query), seriesPlot(data.histories, {
        regressions: data.regressions, improvements: data.improvements, marks: data.marks,
        byTime: query.get("by") !== "build" }),
      fold("points", "The same as a table", longTable(null, pointColumns(own),
        Array.from(own.build, (_, i) => own.size - 1 - i))),
      own.without.length > 0 && fold("without", count(own.without.length,
        "night without a value", "nights without a value"),
      longTable(null, withoutColumns, own.without.toReversed()))),
      data.regressions.length > 0 && section("Regressions of this series",
        table(null, regressionColumns, data.regressions)),
      data.marks.length > 0 && section("Shifts that somebody explained", el("ul", {},
        data.marks.map((m) => el("li", {}, m.at.slice(0, 10), `: ${m.reason} (${m.actor})`)))),
      data.related.length > 1 ? section("Series of the same model", longTable(null,
        relatedColumns(data.classes), data.related.filter((s) => s.id !== own.series.id)))
        : note("There is no other series of this model.")];
  },
  news: () => "The series has a new build",
};
