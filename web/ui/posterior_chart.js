// The posterior of a bisection over its commits: one bar a cell, as wide as the commits that it
// cannot tell apart, and below which commits were measured and which have no run.

import { chart } from "./chart.js";
import { change, el, interval, namedCommit, probability, svg } from "./dom.js";

const height = 190;
const edge = { top: 10, right: 12, bottom: 46, left: 44 };

/** Cells as ranges of indices: [{first, last, probability}]. */
function cells(bisection) {
  const index = new Map(bisection.commits.map((c) => [c.sha, c.index]));
  return bisection.posterior.map((belief) => {
    const at = belief.commits.map((sha) => index.get(sha)).filter((i) => i !== undefined);
    return at.length ? { first: Math.min(...at), last: Math.max(...at),
      probability: belief.probability } : null;
  }).filter(Boolean);
}

function draw(width, bisection, found) {
  const count = bisection.commits.length;
  const slot = (width - edge.left - edge.right) / count;
  const x = (i) => edge.left + slot * (i + 0.5);
  const floor = height - edge.bottom;
  const y = (p) => edge.top + (floor - edge.top) * (1 - p);
  const best = Math.max(0, ...found.map((c) => c.probability));
  const nodes = [0, 0.5, 1].flatMap((p) => [
    svg("line", { class: "axis", x1: edge.left, x2: width - edge.right, y1: y(p), y2: y(p) }),
    svg("text", { x: edge.left - 6, y: y(p) + 4, "text-anchor": "end" }, `${p * 100} %`)]);
  const gap = Math.min(1, slot * 0.15);
  for (const cell of found) {
    const top = Math.min(y(cell.probability), floor - 1);
    nodes.push(svg("rect",
      { class: cell.probability === best ? "bar top" : "bar", x: x(cell.first) - slot / 2 + gap,
      width: slot * (cell.last - cell.first + 1) - 2 * gap, y: top, height: floor - top }));
  }
  const r = Math.max(1.5, Math.min(4, slot * 0.4));
  for (const c of bisection.commits) {
    const at = floor + 12;
    if (c.untestable) {
      nodes.push(svg("path", { class: "untestable",
        d: `M${x(c.index) - r},${at - r}l${2 * r},${2 * r}m0,${-2 * r}l${-2 * r},${2 * r}` }));
    } else if (c.runs > 0) {
      nodes.push(svg("circle", { class: "tested", cx: x(c.index), cy: at, r }));
    }
  }
  nodes.push(svg("text", { x: edge.left, y: height - 10 }, "last good"),
    svg("text", { x: width - edge.right, y: height - 10, "text-anchor": "end" }, "first bad"));
  return { nodes, x, slot };
}

function describe(bisection, found, i) {
  const one = bisection.commits[i];
  const cell = found.find((c) => c.first <= i && i <= c.last);
  const end = i === 0 ? " (good end)" : i === bisection.commits.length - 1 ? " (bad end)" : "";
  const wide = cell && cell.last > cell.first ? ` with ${cell.last - cell.first} neighbours` : "";
  return [
    ...namedCommit(one).flat(), `, commit ${i} of ${bisection.commits.length - 1}${end}: `,
    el("strong", {}, cell ? probability(cell.probability) : "below 0.1 %"), `${wide}, `,
    one.untestable ? `cannot be measured: ${one.untestable}` : `${one.runs} runs`,
    one.change ? `, level ${change(one.change.ratio)} ` : "",
    one.change ? `(${interval(one.change.low, one.change.high)}) against the good end` : "",
  ];
}

const key = () => el("ul", { class: "key" },
  el("li", {}, svg("svg", { viewBox: "0 0 24 12", "aria-hidden": "true" },
    svg("rect", { x: 8, width: 8, height: 12, fill: "var(--bad)" })),
  "probability that the step is here, likeliest"),
  el("li", {}, svg("svg", { viewBox: "0 0 24 12", "aria-hidden": "true" },
    svg("circle", { cx: 12, cy: 6, r: 4, fill: "var(--text)" })), "measured"),
  el("li", {}, svg("svg", { viewBox: "0 0 24 12", "aria-hidden": "true" },
    svg("path", { d: "M8,2l8,8m0,-8l-8,8", stroke: "var(--bad)", "stroke-width": 2 })),
  "cannot be measured"));

const chosenCommit = new Map();

/** Chart, key and what is known of the chosen commit. */
export function posteriorChart(bisection) {
  const found = cells(bisection);
  const detail = el("div", { class: "detail" });
  const best = found.reduce((a, c) => (c.probability > (a?.probability ?? 0) ? c : a), null);
  let drawing = null;
  const { node } = chart({
    label: `Posterior of bisection ${bisection.id} over its commits; arrow keys choose a commit`,
    height, count: bisection.commits.length,
    first: chosenCommit.get(bisection.id) ?? best?.last ?? bisection.commits.length - 1,
    draw: (width) => (drawing = draw(width, bisection, found)),
    mark: (i) =>
      [svg("rect", { class: "slot chosen-slot", x: drawing.x(i) - Math.max(drawing.slot, 6) / 2,
        y: edge.top,
      width: Math.max(drawing.slot, 6), height: height - edge.top - 24 })],
    say: (i) => {
      const cell = found.find((c) => c.first <= i && i <= c.last);
      return `${bisection.commits[i].sha.slice(0, 12)}: ${probability(cell?.probability ?? 0)}`;
    },
    chosen: (i) => {
      chosenCommit.set(bisection.id, i);
      detail.replaceChildren(...describe(bisection, found, i));
    },
  });
  node.id = `bisection-${bisection.id}`;
  return [node, key(), detail];
}
