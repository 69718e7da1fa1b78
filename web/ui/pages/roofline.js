// Roofline: workloads and operators against the machine's measured ceilings, and what limits them.

import { machines } from "../api.js";
import { still } from "../chart.js";
import { code, column, el, fold, longTable, note, number, rule, section, svg, whole,
  written } from "../dom.js";
import { chooser, className, valuesOf, workload } from "../parts.js";
import { newestProfiles, notProfiled } from "../profiles.js";
import { count, percent, quantity } from "../words.js";

const [width, height, left, floor] = [880, 330, 70, 280];
const lineHeight = 16;
const decades = 6;  // of each axis, which are logarithmic

/** 1e12 → "1 T". */
const powerName = (exponent) => {
  const step = Math.max(0, Math.min(Math.floor(exponent / 3), 5));
  return `${10 ** (exponent - 3 * step)} ${["", "k", "M", "G", "T", "P"][step]}`.trim();
};

const digits = (value) => Number(value.toPrecision(3));

const rate = (flops, seconds = 1) => {
  if (!(seconds > 0) || !(flops > 0)) return "–";
  const rated = flops / seconds / 1e9;
  return rated >= 1000 ? `${digits(rated / 1000)} TFLOP/s` : `${digits(rated)} GFLOP/s`;
};

function plot(rows, ceilings) {
  const top = Math.ceil(Math.log10(Math.max(...Object.values(ceilings.flops))));
  const place = (v, first) => Math.min(Math.max((Math.log10(v) - first) / decades, 0), 1);
  const x = (v) => left + (width - left - 14) * place(v, -2);
  const y = (v) => floor - (floor - 20) * place(v, top - decades);
  const roofs = [...Map.groupBy(Object.entries(ceilings.flops), ([, flops]) => flops)]
    .map(([flops, some]) => [flops, some.map(([name]) => name)]).sort(([a], [b]) => b - a);
  const nameOf = ([flops, names]) => `${names.join(", ")} ${rate(flops)}`;
  const labels = [];  // [height, names]: roofs that lie close together have one
  for (const roof of roofs) {
    const last = labels.at(-1), at = y(roof[0]) - 4;
    if (last && at - last[0] < lineHeight) last[1].push(nameOf(roof));
    else labels.push([at, [nameOf(roof)]]);
  }
  const steps = Array.from({ length: decades + 1 }, (_, i) => i);
  return still(width, height,
    "FLOP a second over FLOP a byte, against the ceilings; the table has the same",
  steps.map((i) => [rule("axis", x(10 ** (i - 2)), x(10 ** (i - 2)), 20, floor),
  written(x(10 ** (i - 2)), floor + 18, 10 ** (i - 2), "middle"),
  written(left - 8, y(10 ** (top - i)) + 4, powerName(top - i), "end")]),
  written(left - 8, 10, "FLOP/s", "end"), written(width / 2, height - 6, "FLOP a byte", "middle"),
  roofs.map(([flops]) => svg("polyline", { class: "roof",
    points: `${x(.01)},${y(ceilings.bytes * .01)} ${x(flops / ceilings.bytes)},${y(flops)} ${
      width - 14},${y(flops)}` })),
  labels.map(([at, names]) => written(width - 14, at, names.join("; "), "end")),
  rows.filter((p) => p.flops > 0 && p.bytes > 0 && p.seconds > 0).map((p) => svg("circle", {
    class: "point s0", r: 5, cx: x(p.flops / p.bytes), cy: y(p.flops / p.seconds) },
  svg("title", {}, `${p.workload}: ${rate(p.flops, p.seconds)}`))));
}

const limit = (p, name) => percent(p.limits && p.limits[name]
  / Object.values(p.limits).reduce((a, b) => a + b, 0));

const columns = [
  whole("workload", (p) => workload(p.workload)),
  number("iteration", (p) => quantity(p.seconds, "s")),
  number("GFLOP", (p) => digits(p.flops / 1e9)),
  number("FLOP a byte", (p) => (p.bytes > 0 ? digits(p.flops / p.bytes) : "–")),
  number("achieved", (p) => rate(p.flops, p.seconds)),
  ...["math", "memory", "launch", "inefficient"].map((name) => number(name, (p) => limit(p, name))),
  column("longest operator", (p) => code(p.operators[0]?.name ?? "–"))];

const time = (o) => o.device_seconds || o.seconds;

const operatorColumns = [
  whole("operator", (o) => code(o.name)), column("workload", (o) => workload(o.of)),
  number("time", (o) => quantity(time(o), "s")), number("achieved", (o) => rate(o.flops, time(o))),
  number("of the ceiling", (o) => percent(o.ceiling)),
  column("limiter", (o) => o.limiter ?? "–")];

export const page = {
  title: () => "Roofline",
  load: async () => ({ ...await newestProfiles(), classes: await machines() }),
  view({ profiles, workloads, classes }, _, query) {
    const said = notProfiled(profiles, workloads), able = profiles.filter((p) => p.ceilings);
    if (able.length === 0) return [section("Roofline", said)];
    const ids = [...new Set(able.map((p) => p.machine))].toSorted((a, b) => a - b);
    const chosen = ids.find((id) => String(id) === query.get("machine")) ?? ids[0];
    const here = able.filter((p) => p.machine === chosen), { ceilings } = here[0];
    const rows = here.filter((p) => !query.get("domain") || p.domain === query.get("domain"));
    const operators = rows.flatMap((p) => p.operators.map((o) => ({ ...o, of: p.workload })));
    const hints = rows.flatMap((p) => p.hints.map((text) => `${p.workload}: ${text}`));
    return [section(`Roofline of ${className(classes, chosen)}`, el("form", { class: "search" },
      chooser("roofline", "machine", "machine", ids.map((id) => [id, className(classes, id)]),
        query, chosen), chooser("roofline", "domain", "domain", valuesOf(able, (p) => p.domain),
        query)), said, plot(rows, ceilings),
    note("A dot is a workload; lines are the most that the machine did with ",
      `${count(ceilings.threads, "thread")}. Copies move ${digits(ceilings.bytes / 1e9)} GB/s.`)),
    section("Workloads", el("div", { class: "narrow" }, longTable("What holds operators back, by "
      + "their share of the time: math, memory traffic, launches of many short calls, or "
      + "inefficient kernels, which are far below each ceiling", columns, rows)),
    hints.length > 0 && fold("hints",
      `${count(hints.length, "shape keeps", "shapes keep")} matrix products from tensor cores`,
      el("ul", {}, hints.map((text) => el("li", {}, text))))),
    section("Operators", longTable(null, operatorColumns,
      operators.toSorted((a, b) => time(b) - time(a))))];
  },
};
