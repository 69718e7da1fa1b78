// One mean of a suite over nights: its value, its usual level, and the nights in which its members
// changed or it moved.

import { chartKey, sample, still, valueAxis } from "./chart.js";
import { rule, svg, written } from "./dom.js";
import { change, count, quantity } from "./words.js";

const [width, height] = [880, 200];
const edge = { top: 18, right: 12, bottom: 26, left: 56 };

export const verdictWords = { first_night: "first night", same: "same",
  suspect_worse: "worse tonight", suspect_better: "better tonight", worse: "worse",
  better: "better", members_changed: "members changed" };

const hasOthers = (mean) => mean.came + mean.went > 0;
const isMoved = (mean) => mean.verdict === "worse" || mean.verdict === "better";

/** Colour and sign of a verdict; null of one that is neither. */
export const toneOf = (mean) => (mean.verdict.endsWith("worse") ? "worse"
  : mean.verdict.endsWith("better") ? "better" : null);

/** "made of other members in 3 of 30 nights, worse in 1" */
function said(means) {
  const others = means.filter(hasOthers).length, moved = means.filter(isMoved);
  return [`over ${count(means.length, "night")}`,
    others > 0 && `other members in ${others} of them`,
    ...moved.map((m) => `${m.verdict} by ${change(m.ratio)}`)].filter(Boolean).join(", ");
}

/** Horizontal and vertical places of means, oldest first, in a box; 6 % high at least. */
function scaleOf(means, box) {
  const values = means.flatMap((m) => [m.value, m.level]);
  let low = Math.min(...values), high = Math.max(...values);
  const spare = Math.max((high * 0.06 - (high - low)) / 2, (high - low) * 0.08);
  [low, high] = [low - spare, high + spare];
  return { low, high,
    x: (i) => box.left + (box.right - box.left) * (i + 0.5) / means.length,
    y: (v) => box.top + (box.bottom - box.top) * (1 - (v - low) / (high - low)) };
}

const path = (means, { x, y }, of) =>
  means.map((m, i) => `${x(i).toFixed(1)},${y(of(m)).toFixed(1)}`).join(" ");

const othersMarks = (means, { x }, top, bottom) => means.map((m, i) => hasOthers(m)
  && svg("line", { class: "explained", x1: x(i), x2: x(i), y1: top, y2: bottom }));

/** 120 × 28 pixels: the value over nights, a dotted line where the members changed. */
export function smallChart(name, means) {
  const scale = scaleOf(means, { left: 1, right: 119, top: 2, bottom: 26 });
  const last = means.length - 1;
  return svg("svg", { class: "spark suite", viewBox: "0 0 120 28", role: "img",
    "aria-label": `${name} ${said(means)}` },
  othersMarks(means, scale, 0, 28),
  svg("polyline", { points: path(means, scale, (m) => m.value) }),
  svg("circle", { cx: scale.x(last), cy: scale.y(means[last].value), r: 2 }));
}

const triangle = (x, y, up) => (up ? `M${x},${y - 5}l5,9h-10z` : `M${x},${y + 5}l5,-9h-10z`);

/** The same large, with its level and the nights in which it moved. nights: [{date, mean}]. */
export function suiteChart(name, unit, nights) {
  const means = nights.map((n) => n.mean);
  const scale = scaleOf(means, { left: edge.left, right: width - edge.right, top: edge.top,
    bottom: height - edge.bottom });
  const floor = height - edge.bottom;
  return [still(width, height, `${name} ${said(means)}; the table has the same`,
    valueAxis({ low: scale.low, high: scale.high, unit, width, edge, y: scale.y }),
    othersMarks(means, scale, edge.top, floor),
    svg("polyline", { class: "path level", points: path(means, scale, (m) => m.level) }),
    svg("polyline", { class: "path s0", points: path(means, scale, (m) => m.value) }),
    means.map((m, i) => svg("circle", { class: "point", cx: scale.x(i), cy: scale.y(m.value),
      r: 3 }, svg("title", {}, `${nights[i].date}: ${quantity(m.value, unit)}, ${m.reason}`))),
    means.map((m, i) => isMoved(m) && svg("path", { class: `side ${m.verdict === "worse" ? "bad"
      : "good"}`, d: triangle(scale.x(i), scale.y(m.value) - 12, m.verdict === "worse") })),
    written(edge.left, height - 6, nights[0].date),
    nights.length > 1 && written(width - edge.right, height - 6, nights.at(-1).date, "end")),
  chartKey([[sample(svg("circle", { class: "point", cx: 12, cy: 6, r: 3 })), "a night"],
    [sample(rule("level", 0, 24, 6, 6)), "what these members usually are"],
    [sample(rule("explained", 12, 12, 0, 12)), "its members changed"],
    means.some(isMoved) && [sample(svg("path", { class: "side bad", d: triangle(12, 6, true) })),
      "worse or better, as two nights showed"]])];
}
