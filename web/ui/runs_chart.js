// Both sides of a comparison run by run, in the order in which they were measured.

import { chartKey, sample, still, valueAxis } from "./chart.js";
import { rule, svg, written } from "./dom.js";
import { median } from "./statistics.js";
import { count, quantity } from "./words.js";

const [width, height] = [880, 220];
const edge = { top: 20, right: 8, bottom: 24, left: 56 };

const triangle = (x, y, r) => `M${x},${y - r}l${r},${1.8 * r}h${-2 * r}z`;

/** `sides`: {good: [{order, value}], bad: [...]}. Shapes tell them apart, not only colours. */
export function runsChart({ good, bad }, unit) {
  if (!good.length || !bad.length) return null;
  const values = [...good, ...bad].map((r) => r.value);
  const low = Math.min(...values), high = Math.max(...values), spare = (high - low) * 0.1 || high;
  const first = Math.min(...[...good, ...bad].map((r) => r.order));
  const last = Math.max(...[...good, ...bad].map((r) => r.order));
  const x = (order) => edge.left + 10 + (width - edge.left - edge.right - 20)
    * (order - first) / Math.max(1, last - first);
  const y = (v) => edge.top + (height - edge.top - edge.bottom)
    * (1 - (v - low + spare) / (high - low + 2 * spare));
  const level = (runs) => median(runs.map((r) => r.value));
  const line = (runs, name) => rule(`median ${name}`, edge.left, width - edge.right,
    y(level(runs)), y(level(runs)));
  return [still(width, height, `${count(good.length, "run")} of the last good and ${
    count(bad.length, "run")} of the first bad build, in the order of measuring`,
  valueAxis({ low: low - spare, high: high + spare, unit, width, edge, y, size: high }),
  line(good, "good"), line(bad, "bad"),
  good.map((r) => svg("circle", { class: "side good", cx: x(r.order), cy: y(r.value), r: 4 },
    svg("title", {}, quantity(r.value, unit)))),
  bad.map((r) => svg("path", { class: "side bad", d: triangle(x(r.order), y(r.value), 4.5) },
    svg("title", {}, quantity(r.value, unit)))),
  written(edge.left, height - 6, "first run"),
  written(width - edge.right, height - 6, "last run", "end")),
  chartKey([[sample(svg("circle", { class: "side good", cx: 12, cy: 6, r: 4 })),
    `last good: median ${quantity(level(good), unit)}`],
  [sample(svg("path", { class: "side bad", d: triangle(12, 6, 4.5) })),
    `first bad: median ${quantity(level(bad), unit)}`]])];
}
