// Bars: changes by group, and what a whole divides into.

import { still } from "./chart.js";
import { rule, svg, written } from "./dom.js";
import { change } from "./words.js";

const valueWidth = 64;

/** On a phone the name stands above its bar. */
const sizes = () => (matchMedia("(max-width: 44rem)").matches
  ? { width: 300, row: 44, left: 0, top: 20 } : { width: 640, row: 24, left: 250, top: 0 });

/** [{name, ratio}]: each as a bar from no change; below 1 is better. */
export function changeBars(label, rows) {
  const { width, row, left, top } = sizes();
  const most = Math.max(0.1, ...rows.map((r) => Math.abs(r.ratio - 1)));
  const half = (width - left) / 2, middle = left + half, scale = (half - valueWidth) / most;
  return still(width, rows.length * row + 4,
    `${label}: ${rows.map((r) => `${r.name} ${change(r.ratio)}`).join("; ")}`,
  rule("axis", middle, middle, 0, rows.length * row),
  rows.map((r, i) => {
    const size = Math.abs(r.ratio - 1) * scale, better = r.ratio < 1;
    return [written(0, i * row + 16, r.name),
      svg("rect", { class: `side ${better ? "good" : "bad"}`, x: better ? middle - size : middle,
        width: Math.max(1, size), y: i * row + top + 4, height: 16 }),
      written(middle + (better ? -size - 6 : size + 6), i * row + top + 16, change(r.ratio),
        better ? "end" : "start")];
  }));
}

/** A whole as parts side by side: [share, ...]. A table beside it has the numbers. */
export function splitBar(shares) {
  let x = 0;
  return svg("svg", { class: "split", viewBox: "0 0 120 14", "aria-hidden": "true" },
    shares.map((share, i) => {
      const from = x;
      x += 120 * share;
      return svg("rect", { class: `part p${i % 7}`, x: from, width: 120 * share, height: 14 });
    }));
}
