// What the two charts share: size, ticks, and choosing a place by pointer or keyboard.

import { el, svg } from "./dom.js";

/** About `count` round numbers that cover low..high. */
export function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const first = Math.ceil(low / step - 1e-9);
  const found = [];
  for (let i = first; i * step <= high + step * 1e-9; ++i) found.push(i * step);
  return found;
}

/**
 * A chart in which one of `count` places can be chosen. draw(width) returns {nodes, x(i), slot}:
 * what to draw, and where place i is; mark(i, width) what marks the chosen one; say(i) names it;
 * chosen(i) is called when it changes. Arrow keys, Home and End move it, so it is a slider to a
 * screen reader.
 */
export function chart({ label, height, count, first, draw, mark, say, chosen }) {
  let at = Math.min(Math.max(first, 0), count - 1);
  let width = 0;
  let drawing = null;
  const root = el("div", { class: "chart", role: "slider", tabindex: 0, "aria-label": label,
    "aria-valuemin": 1, "aria-valuemax": count, id: "chart" });
  const marker = svg("g", {});

  function choose(index) {
    at = Math.min(Math.max(index, 0), count - 1);
    root.setAttribute("aria-valuenow", at + 1);
    root.setAttribute("aria-valuetext", say(at));
    if (drawing) marker.replaceChildren(...mark(at, width));
    chosen(at);
  }
  function redraw() {
    const next = Math.max(280, Math.round(root.clientWidth));
    if (next === width) return;
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
  new ResizeObserver(() => requestAnimationFrame(redraw)).observe(root);
  choose(at);
  return { node: root, choose };
}
