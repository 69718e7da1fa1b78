// What a plot of series draws: each build's location with its interval, runs as faint dots, levels
// with the A/A noise around them, nights without a value, marks, and where regressions came in.
// However many points are in view, there are a few paths of at most two places a pixel column.

import { rule, svg, written } from "./dom.js";
import { dateOf, extremes, firstFrom, noiseFactor } from "./series_history.js";
import { outcomes } from "./words.js";

export const height = 300;
export const edge = { top: 26, right: 12, bottom: 30, left: 68 };
export const colours = 5;
const mostCircles = 320;  // more points than that become one path
const bottom = height - edge.bottom;

/** The points in view, and one more on each side: [from, to). */
export function inView(at, view) {
  return [Math.max(0, firstFrom(at, view.from) - 1),
    Math.min(at.length, firstFrom(at, view.to + 1e-9) + 1)];
}

export function rangeOf(lines, view) {
  if (lines.every((l) => l.history.series.unit === "outcome" && l.factor === 1)) {
    return [outcomes.passes - .03, outcomes.fails + .03];
  }
  let low = Infinity, high = -Infinity;
  for (const { history, at, factor } of lines) {
    const from = firstFrom(at, view.from), to = firstFrom(at, view.to + 1e-9);
    if (to <= from) continue;
    low = Math.min(low, extremes(history, "low", from, to)[0] / factor);
    high = Math.max(high, extremes(history, "high", from, to)[1] / factor);
  }
  if (!Number.isFinite(low)) [low, high] = [0, 1];
  // At least 6 % from top to bottom, so that noise does not look like a mountain range.
  const spare = Math.max((Math.abs(high) * 0.06 - (high - low)) / 2, (high - low) * 0.06);
  return [low - spare, high + spare];
}

const near = (v) => Math.round(v * 10) / 10;

/** Calls back once a pixel column with its x and the points [i, j) that lie in it. */
function byColumn(at, from, to, x, call) {
  const size = 1 / (x(1) - x(0));  // of a pixel, in places
  for (let i = from; i < to;) {
    const column = Math.round(x(at[i]));
    const border = at[i] + (column + 0.5 - x(at[i])) * size;  // where the next column begins
    const j = Math.max(i + 1, firstFrom(at, border, i + 1, to));
    call(near(j - i === 1 ? x(at[i]) : column), i, j);
    i = j;
  }
}

/** The accepted level, and the band in which 95 % of nights lie that changed nothing. */
function levels({ history, at, factor }, [from, to], { x, y }) {
  let line = "", above = "";
  const below = [];
  byColumn(at, from, to, x, (place, _, j) => {
    const level = history.level[j - 1];
    if (Number.isNaN(level)) return;
    line += `${line ? "L" : "M"}${place},${near(y(level / factor))}`;
    if (history.noise === null) return;
    const by = noiseFactor(history, j - 1);
    above += `${above ? "L" : "M"}${place},${near(y(level * by / factor))}`;
    below.push(`L${place},${near(y(level / by / factor))}`);
  });
  return [above && svg("path", { class: "noise", d: `${above}${below.reverse().join("")}z` }),
    line && svg("path", { class: "path level", d: line })];
}

/** Single points: a circle each, and where there is room their intervals and runs. */
function single({ history, at, factor, values }, k, [from, to], { x, y, slot }) {
  const tone = `s${k % colours}`;
  let path = "", intervals = "", dots = "";
  const circles = [];
  for (let i = from; i < to; ++i) {
    const place = near(x(at[i])), centre = near(y(history.location[i] / factor));
    path += `${path ? "L" : "M"}${place},${centre}`;
    circles.push(svg("circle", { class: `point ${tone}`, r: slot < 5 ? 2 : 3.5, cx: place,
      cy: centre }));
    if (slot <= 5) continue;
    intervals += `M${place},${near(y(history.low[i] / factor))}V${
      near(y(history.high[i] / factor))}`;
    const runs = values.get(history.build[i]) ?? [];
    runs.forEach((v, n) => {
      dots += `M${near(place + Math.min(slot * 0.5, 12) * ((n + 0.5) / runs.length - 0.5))},${
        near(y(v / factor))}h0`;
    });
  }
  return [svg("path", { class: `path ${tone}`, d: path }),
    dots && svg("path", { class: `run ${tone}`, d: dots }),
    intervals && svg("path", { class: `interval ${tone}`, d: intervals }), circles];
}

/** Many points: from the lowest to the highest of each pixel column, and so their intervals. */
function dense({ history, at, factor }, k, [from, to], { x, y }) {
  const tone = `s${k % colours}`;
  let path = "", intervals = "";
  byColumn(at, from, to, x, (place, i, j) => {
    const [low, high] = extremes(history, "location", i, j);
    const [least] = extremes(history, "low", i, j), [, most] = extremes(history, "high", i, j);
    path += `${path ? "L" : "M"}${place},${near(y(high / factor))}V${near(y(low / factor))}`;
    intervals += `M${place},${near(y(least / factor))}V${near(y(most / factor))}`;
  });
  return [svg("path", { class: `interval dense ${tone}`, d: intervals }),
    svg("path", { class: `path dense ${tone}`, d: path })];
}

export function drawLine(line, k, scale) {
  const range = inView(line.at, scale.view);
  if (range[1] <= range[0]) return [];
  return [k === 0 && levels(line, range, scale),
    (range[1] - range[0] > mostCircles ? dense : single)(line, k, range, scale)];
}

/** Crosses at the bottom: nights without a value; triangles: the machine's facts changed. */
export function events(plot, { x, view }) {
  let crosses = "", triangles = "", last = -Infinity;
  for (const { place } of plot.without) {
    if (place < view.from || place > view.to || x(place) - last < 2) continue;
    last = x(place);
    crosses += `M${near(last - 3)},${bottom - 8}l6,6m0,-6l-6,6`;
  }
  for (const { place } of plot.changed) {
    if (place < view.from || place > view.to) continue;
    triangles += `M${near(x(place))},${bottom - 8}l4,8h-8z`;
  }
  return [crosses && svg("path", { class: "without", d: crosses }),
    triangles && svg("path", { class: "changed", d: triangles })];
}

export function timeAxis(view, width, x, byTime, names) {
  const nodes = [], wanted = Math.max(2, Math.floor((width - edge.left) / 110));
  const size = view.to - view.from;
  const step = [1, 2, 7, 14, 30, 60, 90, 180, 365, 730, 1826, 3652].find((s) => size / s <= wanted)
    ?? 10 ** Math.ceil(Math.log10(size / wanted));
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    const name = byTime ? dateOf(at) : names[at];
    if (!name || x(at) < edge.left + 30 || x(at) > width - edge.right - 34) continue;
    nodes.push(rule("tick", x(at), x(at), bottom, bottom + 4),
      written(x(at), height - 10, name, "middle"));
  }
  return nodes;
}

/** Vertical lines where regressions and improvements came in and where marks lie. */
export function verticals(plot, { x, width, view }) {
  let named = -Infinity;  // names do not lie on each other
  const line = ({ place, name, words, href }) => {
    if (place === undefined || place < view.from || place > view.to) return null;
    const free = Math.abs(x(place) - named) > 90;
    if (free) named = x(place);
    return [rule(name, x(place), x(place), 18, bottom),
      free && svg("text", { class: `${name}-name ${href ? "leads" : ""}`, x: x(place), y: 14,
        "text-anchor": x(place) > width - 60 ? "end" : x(place) < edge.left + 40 ? "start"
          : "middle",
        // No link, since none may lie in what is chosen by keys: the chosen build's detail has it.
        onclick: href && (() => { location.hash = href; }) }, words)];
  };
  return plot.verticals.map(line);
}
