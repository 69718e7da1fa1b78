// What a plot of series draws: each build's location with its interval, every run as a faint dot,
// the usual noise, marks, and where regressions came in.

import { rule, svg, written } from "./dom.js";
import { median, spread } from "./statistics.js";

export const height = 300;
export const edge = { top: 26, right: 12, bottom: 30, left: 68 };
const dayMilliseconds = 86400000;
export const colours = 5;

/** Days since 1970 of a build; its place among all where it has no date. */
const dayOf = (point, i) => (point.date ? Date.parse(point.date) / dayMilliseconds : i);

/** All builds of all series in order, so that one build has one place. */
export function places(lines, byTime) {
  const known = new Map();
  for (const { points } of lines) points.forEach((p, i) => known.set(p.build, dayOf(p, i)));
  const order = [...known].toSorted((a, b) => a[1] - b[1]);
  return new Map(order.map(([build, day], i) => [build, byTime ? day : i]));
}

/**
 * Rolling level and noise of up to 15 builds before each: [{level, noise}]. It begins anew where
 * three builds in a row lie beyond the noise on one side.
 */
export function usual(points) {
  let start = 0, last = null;
  return points.map((_, i) => {
    const newest = points.slice(Math.max(0, i - 2), i + 1).map((p) => p.location);
    const off = last ? newest.map((v) => (v - last.level) / Math.max(last.noise,
      0.01 * last.level)) : [];
    if (off.length === 3 && (off.every((d) => d > 1) || off.every((d) => d < -1))) start = i - 2;
    const around = points.slice(Math.max(start, i - 14), i + 1).map((p) => p.location);
    const now = { level: median(around), noise: 2 * spread(around) };
    // A step's first two builds are judged by what was usual before it.
    if (start === i - 2 || !off.some((d) => Math.abs(d) > 1)) last = now;
    return last ?? now;
  });
}

export function rangeOf(lines, view, factor) {
  let low = Infinity, high = -Infinity;
  for (const [k, { points }] of lines.entries()) {
    for (const p of points) {
      if (p.at < view.from || p.at > view.to) continue;
      low = Math.min(low, p.low / factor[k], ...p.values.map((v) => v / factor[k]));
      high = Math.max(high, p.high / factor[k], ...p.values.map((v) => v / factor[k]));
    }
  }
  if (!Number.isFinite(low)) [low, high] = [0, 1];
  // At least 6 % from top to bottom, so that noise does not look like a mountain range.
  const spare = Math.max((Math.abs(high) * 0.06 - (high - low)) / 2, (high - low) * 0.06);
  return [low - spare, high + spare];
}

/** Where the newest point of at most two pixels is drawn, so that a year stays quick. */
function thinned(points, x) {
  const kept = [];
  let last = -Infinity;
  for (const p of points) {
    if (x(p.at) - last < 1.5) continue;
    kept.push(p);
    last = x(p.at);
  }
  return kept;
}

export function drawLine({ points, usual: noise }, k, { x, y, factor, slot }) {
  const tone = `s${k % colours}`;
  const few = thinned(points, x);
  const band = points.map((p, i) => [p.at, noise[i]]);
  const path = (sign) => band.map(([at, u]) =>
    `${x(at).toFixed(1)},${y((u.level + sign * u.noise) / factor[k]).toFixed(1)}`);
  return [
    k === 0 && band.length > 2 && svg("polygon", { class: "noise",
      points: [...path(1), ...path(-1).reverse()].join(" ") }),
    svg("polyline", { class: `path ${tone}`, points: few.map((p) =>
      `${x(p.at).toFixed(1)},${y(p.location / factor[k]).toFixed(1)}`).join(" ") }),
    slot > 5 && points.map((p) => [p.values.map((v, i) => svg("circle", { class: `run ${tone}`,
      r: 2.2, cx: x(p.at) + Math.min(slot * 0.5, 12) * ((i + 0.5) / p.values.length - 0.5),
      cy: y(v / factor[k]) })),
    rule(`interval ${tone}`, x(p.at), x(p.at), y(p.low / factor[k]), y(p.high / factor[k]))]),
    few.map((p) => svg("circle", { class: `point ${tone}`, r: slot < 5 ? 1.6 : 3.5, cx: x(p.at),
      cy: y(p.location / factor[k]) }))];
}

export function timeAxis(view, width, x, byTime, names) {
  const nodes = [], wanted = Math.max(2, Math.floor((width - edge.left) / 110));
  const days = view.to - view.from;
  const step = [1, 2, 7, 14, 30, 60, 90, 180, 365, 730].find((s) => days / s <= wanted) ?? 1460;
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    const name = byTime ? new Date(at * dayMilliseconds).toISOString().slice(0, 10) : names[at];
    if (!name || x(at) < edge.left + 30 || x(at) > width - edge.right - 34) continue;
    nodes.push(rule("tick", x(at), x(at), height - edge.bottom, height - edge.bottom + 4),
    written(x(at), height - 10, name, "middle"));
  }
  return nodes;
}

/** Vertical lines where regressions came in and where marks lie. */
export function events(view, plot, { x, width, at }) {
  const line = (place, name, words, href) => {
    if (place === undefined || place < view.from || place > view.to) return null;
    const text = svg("text", { class: `${name}-name ${href ? "leads" : ""}`, x: x(place), y: 14,
      "text-anchor": x(place) > width - 60 ? "end" : x(place) < edge.left + 40 ? "start" : "middle",
      // No link, since none may lie in what is chosen by keys: the chosen build's detail has it.
      onclick: href && (() => { location.hash = href; }) }, words);
    return [rule(name, x(place), x(place), 18, height - edge.bottom),
    text];
  };
  return [plot.regressions.map((r) => line(at.get(r.bad.id), "mark", `regression ${r.id}`,
    `#/regressions/${r.id}`)),
  plot.marks.map((m) => line(plot.byTime ? Date.parse(m.at) / dayMilliseconds : undefined,
    "explained", "mark"))];
}
