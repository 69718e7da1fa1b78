// A series over builds: each build's location with its interval, every run as a faint dot, the
// accepted
// level, and a mark where a regression came in.

import { build } from "./api.js";
import { chart, ticks } from "./chart.js";
import { change, commit, el, link, quantity, svg, unitFor } from "./dom.js";

const height = 280;
const edge = { top: 24, right: 12, bottom: 28, left: 72 };

function yAxis(points, level, unit) {
  const values = points.flatMap((p) => [...p.values, p.low, p.high, p.location])
    .concat(level ?? []);
  let low = Math.min(...values);
  let high = Math.max(...values);
  // At least 4 % of the level from top to bottom, so that noise does not look like a mountain
  // range.
  const least = Math.max(Math.abs(high) * 0.04, 1e-12);
  const spare = Math.max((least - (high - low)) / 2, (high - low) * 0.08);
  low -= spare;
  high += spare;
  const scale = unitFor(unit, high);
  const y = (v) => edge.top + (height - edge.top - edge.bottom) * (1 - (v - low) / (high - low));
  return { y, marks: ticks(low, high, 5), scale };
}

/** So many that neighbouring ticks differ as written. */
function decimals(values) {
  const step = values.length > 1 ? values[1] - values[0] : 1;
  return [0, 1, 2, 3, 4].find((d) => Math.abs(step * 10 ** d - Math.round(step * 10 ** d)) < 1e-6)
    ?? 4;
}

function axes(width, points, axis, x, slot) {
  const nodes = [];
  const digits = decimals(axis.marks.map((value) => value / axis.scale.size));
  for (const value of axis.marks) {
    nodes.push(svg("line",
      { class: "axis", x1: edge.left, x2: width - edge.right, y1: axis.y(value),
        y2: axis.y(value) }),
      svg("text", { x: edge.left - 8, y: axis.y(value) + 4, "text-anchor": "end" },
        (value / axis.scale.size).toFixed(digits)));
  }
  nodes.push(svg("text", { x: edge.left - 8, y: 12, "text-anchor": "end" }, axis.scale.name));
  const every = Math.max(1, Math.ceil(112 / slot));
  for (let i = (points.length - 1) % every; i < points.length; i += every) {
    const end = x(i) + 40 > width;
    nodes.push(svg("text",
      { x: end ? width - edge.right : x(i), y: height - 8, "text-anchor": end ? "end" : "middle" },
      points[i].date ?? points[i].version));
  }
  return nodes;
}

/** Place of each regression: between the builds it lies between. */
function marks(points, regressions) {
  return regressions.map((regression) => {
    const at = points.findIndex((p) => p.build === regression.bad.id);
    return at < 0 ? null : { at, regression };
  }).filter(Boolean);
}

function draw(width, series, points, regressions) {
  const axis = yAxis(points, series.level?.value, series.unit);
  const slot = (width - edge.left - edge.right) / points.length;
  const x = (i) => edge.left + slot * (i + 0.5);
  const nodes = axes(width, points, axis, x, slot);
  if (series.level) {
    const y = axis.y(series.level.value);
    nodes.push(svg("line",
      { class: "level", x1: edge.left, x2: width - edge.right, y1: y, y2: y }));
  }
  for (const { at, regression } of marks(points, regressions)) {
    const place = x(at) - slot / 2;
    nodes.push(svg("line",
      { class: "mark", x1: place, x2: place, y1: 16, y2: height - edge.bottom }),
      svg("text", { class: "mark-name", x: place, y: 12,
        "text-anchor": place > width - 60 ? "end" : "middle" },
        `regression ${regression.id}`));
  }
  nodes.push(svg("polyline",
    { class: "path", points: points.map((p, i) => `${x(i)},${axis.y(p.location)}`).join(" ") }));
  points.forEach((p, i) => {
    const spread = Math.min(slot * 0.6, 14);
    p.values.forEach(
      (value, k) => nodes.push(svg("circle", { class: "run", r: 2.5, cy: axis.y(value),
      cx: x(i) + spread * ((k + 0.5) / p.values.length - 0.5) })));
    nodes.push(svg("line",
      { class: "interval", x1: x(i), x2: x(i), y1: axis.y(p.low), y2: axis.y(p.high) }),
      svg("circle", { class: "point", r: slot < 8 ? 2.5 : 4, cx: x(i), cy: axis.y(p.location) }));
  });
  return { nodes, x, slot, axis };
}

const sample = (...nodes) => svg("svg", { viewBox: "0 0 24 12", "aria-hidden": "true" }, nodes);
const key = () => el("ul", { class: "key" },
  el("li", {}, sample(svg("circle", { cx: 12, cy: 6, r: 4, fill: "var(--point)" })),
    "a build, with its 95 % interval"),
  el("li", {}, sample(svg("circle", { cx: 12, cy: 6, r: 2.5, fill: "var(--run)", opacity: .35 })),
    "a run"),
  el("li", {},
    sample(svg("line", { x1: 0, x2: 24, y1: 6, y2: 6, stroke: "var(--good)", "stroke-width": 2,
      "stroke-dasharray": "6 4" })), "accepted level"),
  el("li", {},
    sample(svg("line", { x1: 12, x2: 12, y1: 0, y2: 12, stroke: "var(--bad)", "stroke-width": 2,
      "stroke-dasharray": "3 3" })), "a regression came in"));

function describe(series, points, regressions, i) {
  const p = points[i];
  const size = Math.max(...points.map((one) => one.location));
  const place = el("span", {}, "commit …");
  build(p.build).then(
    (b) => place.replaceChildren("commit ", b.commit ? commit(b.commit) : "not known"),
    (error) => place.replaceChildren(error.message));
  const here = marks(points, regressions).filter((m) => m.at === i);
  return [
    el("strong", {}, quantity(p.location, series.unit, size)),
    ` (${quantity(p.low, series.unit, size)} to ${quantity(p.high, series.unit, size)}, `,
    `${p.values.length} runs)`,
    series.level ? `, ${change(p.location / series.level.value)} against the level` : "",
    i > 0 ? `, ${change(p.location / points[i - 1].location)} against the build before` : "",
    el("br"), el("code", {}, p.version), ", ", place,
    here.map((m) =>
      [", ", link(`#/regressions/${m.regression.id}`, `regression ${m.regression.id}`)]),
  ];
}

const chosenBuild = new Map();  // by series: a refresh keeps what the reader has chosen

/** Chart, key and what is known of the chosen build. `points`: oldest first, at least one. */
export function seriesChart(series, points, regressions) {
  const detail = el("div", { class: "detail" });
  const before = points.findIndex((p) => p.build === chosenBuild.get(series.id));
  let drawing = null;
  const { node } = chart({
    label: `${series.metric} of ${series.workload_name}, build by build; arrow keys choose a build`,
    height, count: points.length, first: before < 0 ? points.length - 1 : before,
    draw: (width) => (drawing = draw(width, series, points, regressions)),
    mark: (i) =>
      [svg("rect", { class: "slot chosen-slot", x: drawing.x(i) - Math.min(drawing.slot, 40) / 2,
      y: edge.top, width: Math.min(drawing.slot, 40), height: height - edge.top - edge.bottom }),
    svg("circle", { class: "chosen", r: 8, cx: drawing.x(i),
      cy: drawing.axis.y(points[i].location) })],
    say: (i) =>
      `${points[i].date ?? points[i].version}: ${quantity(points[i].location, series.unit)}`,
    chosen: (i) => {
      chosenBuild.set(series.id, i === points.length - 1 ? 0 : points[i].build);
      detail.replaceChildren(...describe(series, points, regressions, i).flat(Infinity));
    },
  });
  return [node, key(), detail];
}
