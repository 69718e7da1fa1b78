// What the charts share: size, ticks, and choosing a place by pointer or keyboard. They are small
// SVG pictures of our own, so that the page loads no library and works without a build step.

import { el, rule, svg, written } from "./dom.js";
import { outcomes, quantity, unitFor } from "./words.js";

/** About `count` round numbers that cover low..high. */
export function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const first = Math.ceil(low / step - 1e-9);
  const found = [];
  for (let i = first; i * step <= high + step * 1e-9; ++i) found.push(i * step);
  return found;
}

/** The number of decimals with which neighbouring ticks differ as written. */
export function decimals(values) {
  const step = values.length > 1 ? values[1] - values[0] : 1;
  return [0, 1, 2, 3, 4].find((d) => Math.abs(step * 10 ** d - Math.round(step * 10 ** d)) < 1e-6)
    ?? 4;
}

/**
 * Lines and names of a value axis from low to high, whose ticks are round in the unit that is
 * shown; edge: {left, right} of the plot, y(v) the height of a value. Outcomes have names only.
 */
export function valueAxis({ low, high, unit, width, edge, y, size = high }) {
  const line = (v, name) => [rule("axis", edge.left, width - edge.right, y(v), y(v)),
    written(edge.left - 8, y(v) + 4, name, "end")];
  if (unit === "outcome") {
    return Object.values(outcomes).filter((v) => low <= v && v <= high)
      .map((v) => line(v, quantity(v, unit)));
  }
  const scale = unitFor(unit, size);
  const marks = ticks(low / scale.size, high / scale.size, 5);
  const places = decimals(marks);
  return [marks.map((mark) => line(mark * scale.size, mark.toFixed(places).replace("-", "−"))),
    written(edge.left - 8, 12, scale.name, "end")];
}

/** A small drawing for the key of a chart. */
export const sample = (...nodes) =>
  svg("svg", { viewBox: "0 0 24 12", "aria-hidden": "true" }, nodes);

/** A picture without controls; `label` says what it shows. A note says if it is cut. */
export function still(width, height, label, ...nodes) {
  const box = el("div", { class: "chart still", tabindex: 0 }, svg("svg", { role: "img",
    "aria-label": label, width, viewBox: `0 0 ${width} ${height}` }, nodes));
  const hint = el("p", { class: "note cut", hidden: true },
    "⇆ The picture is wider than the screen: scroll it sideways.");
  const first = box.querySelector("circle.point, rect.session");
  const placed = first && Number(first.getAttribute("cx") ?? first.getAttribute("x"));
  new ResizeObserver(() => {
    const isCut = box.scrollWidth > box.clientWidth;
    if (isCut && hint.hidden && placed > box.clientWidth) {
      box.scrollLeft = placed - box.clientWidth / 2;  // what is shown first is no empty corner
    }
    hint.hidden = !isCut;
  }).observe(box);
  return el("figure", {}, hint, box);
}

/** [[drawing, words]]: what a chart's signs mean. */
export const chartKey = (entries) => el("ul", { class: "key" },
  entries.filter(Boolean).map(([drawing, words]) => el("li", {}, drawing, words)));

/**
 * A chart in which one of `count` places can be chosen. draw(width) returns {nodes, x(i), slot}:
 * what to draw, and where place i is; mark(i, width) what marks the chosen one; say(i) names it;
 * chosen(i) is called when it changes. Arrow keys, Home and End move it, so it is a slider to a
 * screen reader.
 */
export function chart({ id, label, height, count, first, draw, mark, say, chosen }) {
  let at = Math.min(Math.max(first, 0), count - 1);
  let width = 0;
  let drawing = null;
  const root = el("div", { class: "chart", role: "slider", tabindex: 0, "aria-label": label,
    "aria-valuemin": 1, "aria-valuemax": count, id });
  const marker = svg("g", {});

  function choose(index) {
    at = Math.min(Math.max(index, 0), count - 1);
    root.setAttribute("aria-valuenow", at + 1);
    root.setAttribute("aria-valuetext", say(at));
    if (drawing) marker.replaceChildren(...mark(at, width));
    chosen(at);
  }
  function redraw(again) {
    const next = Math.max(280, Math.round(root.clientWidth));
    if (next === width && !again) return;
    width = next;
    drawing = draw(width);
    const slots = Array.from({ length: count }, (_, i) => svg("rect", {
      class: "slot", x: drawing.x(i) - drawing.slot / 2, y: 0, width: drawing.slot, height,
      onclick: () => { choose(i); root.focus({ preventScroll: true }); },
    }, svg("title", {}, say(i))));
    root.replaceChildren(svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
      marker, drawing.nodes, slots));
    marker.replaceChildren(...mark(at, width));
  }
  root.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1,
      Home: 0,
      End: count - 1, PageDown: at - 10, PageUp: at + 10 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose(step);
  });
  new ResizeObserver(() => requestAnimationFrame(() => redraw())).observe(root);
  choose(at);
  return { node: root, choose, redraw: () => { if (width) redraw(true); choose(at); } };
}
