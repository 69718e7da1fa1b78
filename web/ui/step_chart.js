// The picture that convinces: a search's commits in order, each measured one's level against the
// good end, the step, and below it where the step probably is. Steps through the search's sessions.

import { chart, chartKey, sample, valueAxis } from "./chart.js";
import { el, namedCommit, rule, strong, svg, written } from "./dom.js";
import { change, count, interval, probability } from "./words.js";

const height = 300;
const edge = { top: 22, right: 14, bottom: 62, left: 58 };
const floor = height - edge.bottom;
const band = { y: floor + 22, height: 14 };

/** The search's belief as ranges of indices: [{first, last, probability}]. */
export function cellsOf(bisection) {
  const index = new Map(bisection.commits.map((c) => [c.sha, c.index]));
  return bisection.posterior.map((belief) => {
    const at = belief.commits.map((sha) => index.get(sha)).filter((i) => i !== undefined);
    return at.length ? { first: Math.min(...at), last: Math.max(...at),
      probability: belief.probability } : null;
  }).filter(Boolean);
}

/** What is known of [{index, runs, change}], by commit: as the service says it. */
function levelsOf(commits) {
  const levels = new Map();
  for (const c of commits) {
    if (c.index === 0 && c.runs) levels.set(0, { runs: c.runs, ratio: 1, low: 1, high: 1 });
    else if (c.change) levels.set(c.index, { runs: c.runs, ...c.change });
  }
  return levels;
}

function scaleOf(levels, width, commits) {
  const ends = [...levels.values()].flatMap((l) => [l.low, l.high]).concat(1);
  let low = Math.min(...ends), high = Math.max(...ends);
  const spare = Math.max((high - low) * 0.12, 0.01);
  [low, high] = [low - spare, high + spare];
  const slot = (width - edge.left - edge.right) / commits;
  return { low, high, slot, x: (i) => edge.left + slot * (i + 0.5),
    y: (v) => edge.top + (floor - edge.top) * (1 - (v - low) / (high - low)) };
}

/** The mean of levels, weighted by their runs; NaN of none. */
const meanOf = (levels) => levels.reduce((sum, l) => sum + l.runs * l.ratio, 0)
  / levels.reduce((sum, l) => sum + l.runs, 0);

/** The step as a line: the level up to the culprit, and after it. `size`: their ratio, if known.
 * Dashed where it may be at any of several commits. */
function stepLine(scale, levels, cell, width, size) {
  const of = (isHere) => meanOf([...levels].filter(([i]) => isHere(i)).map(([, l]) => l));
  const low = of((i) => i < cell.first);
  const high = size ? low * size : of((i) => i >= cell.last);
  if (!(low > 0 && high > 0)) return null;
  const left = scale.x(cell.first) - scale.slot / 2, right = scale.x(cell.last) - scale.slot / 2;
  return svg("path", { class: cell.last > cell.first ? "step unsure" : "step",
    d: `M${edge.left},${scale.y(low)}H${left}${
    cell.last > cell.first ? `L${right},${scale.y(high)}` : `V${scale.y(high)}`}H${
    width - edge.right}` });
}

function dots(scale, levels) {
  return [...levels].map(([i, l]) => {
    const x = scale.x(i), r = Math.min(7, 2 + Math.sqrt(l.runs), Math.max(2.5, scale.slot * 0.6));
    return [rule("interval", x, x, scale.y(l.low), scale.y(l.high)),
    svg("circle", { class: l.low > 1 ? "point high" : "point", cx: x, cy: scale.y(l.ratio), r })];
  });
}

function crosses(scale, commits) {
  const r = Math.max(2, Math.min(4, scale.slot * 0.4)), y = floor + 10;
  return commits.filter((c) => c.untestable).map((c) => svg("path", { class: "untestable",
    d: `M${scale.x(c.index) - r},${y - r}l${2 * r},${2 * r}m0,${-2 * r}l${-2 * r},${2 * r}` }));
}

/** A band in which the darker part is the likelier. */
function belief(scale, cells, width, shade) {
  const frame = svg("rect", { class: "belief-frame", x: edge.left, y: band.y,
    width: width - edge.left - edge.right, height: band.height });
  return [frame, cells.map((c) => svg("rect", { class: shade,
    x: scale.x(c.first) - scale.slot / 2, y: band.y, height: band.height,
    width: Math.max(2, scale.slot * (c.last - c.first + 1)),
    "fill-opacity": Math.max(0.08, c.probability) }))];
}

/**
 * What its ends are called, and the class of the belief's rectangles: of a search for what got
 * better, neither end is good or bad.
 */
export const endsOf = (bisection) => (bisection.regression === null
  ? { first: "before", last: "first better", reference: "the build before",
    shade: "belief better" }
  : { first: "last good", last: "first bad", reference: "the good end", shade: "belief" });

function draw(width, bisection, levels, cells, size) {
  const ends = endsOf(bisection);
  const scale = scaleOf(levels, width, bisection.commits.length);
  const best = cells.reduce((a, c) => (c.probability > (a?.probability ?? 0) ? c : a), null);
  const nodes = [
    valueAxis({ low: (scale.low - 1) * 100, high: (scale.high - 1) * 100, unit: "%", width, edge,
      y: (percent) => scale.y(1 + percent / 100) }),
    rule("level", edge.left, width - edge.right, scale.y(1), scale.y(1)),
    best && best.probability > 0.5 && stepLine(scale, levels, best, width, size),
    dots(scale, levels), crosses(scale, bisection.commits), belief(scale, cells, width, ends.shade),
    written(edge.left, height - 8, ends.first),
    written((edge.left + width) / 2, height - 8, "commits in order", "middle"),
    written(width - edge.right, height - 8, ends.last, "end")];
  return { nodes: nodes.flat(Infinity).filter(Boolean), x: scale.x, slot: scale.slot, scale };
}

function describe(bisection, levels, cells, i) {
  const one = bisection.commits[i], level = levels.get(i);
  const cell = cells.find((c) => c.first <= i && i <= c.last);
  const ends = endsOf(bisection);
  const end = i === 0 ? ` (${ends.first})`
    : i === bisection.commits.length - 1 ? ` (${ends.last})` : "";
  return [namedCommit(one), el("br"), `commit ${i} of ${bisection.commits.length - 1}${end}: `,
    one.untestable ? `cannot be measured: ${one.untestable}`
      : level ? [i === 0 ? `the level of ${ends.reference}` : [strong(change(level.ratio)),
        ` (${interval(level.low, level.high)}) against ${ends.reference}`],
      `, ${count(level.runs, "run")}`] : "not measured",
    cell && [cell.last === cell.first ? "; the step is here with probability "
      : `; the step is at one of ${count(cell.last - cell.first + 1, "commit")
      }, of which this is one, with probability `,
    el("strong", {}, probability(cell.probability))]];
}

const keyOfChart = ({ shade }) => chartKey([
  [sample(svg("circle", { class: "point", cx: 12, cy: 6, r: 4 })),
    "a measured commit, with its 95 % interval; larger with more runs"],
  [sample(svg("path", { class: "untestable", d: "M8,2l8,8m0,-8l-8,8" })), "cannot be measured"],
  [sample(svg("path", { class: "step", d: "M0,10H12V2H24" })),
    "the step; dashed if it may be at any of several commits"],
  [sample(svg("rect", { class: shade, x: 4, width: 16, height: 12, "fill-opacity": .7 })),
    "where the step is: the darker, the likelier"]]);

/** A slider over the sessions; the last place is the search as it ended or stands. */
function stepper(sessions, isConfirmed, show) {
  const last = sessions.length;
  const said = el("output", { for: "step" });
  const measured = (k) => {
    if (!isConfirmed) return count(k, "session");
    return k === 1 ? "the confirmation" : `the confirmation and ${count(k - 1, "session")}`;
  };
  const say = (k) => {
    said.textContent = `${k === last ? "all of it:" : "after"} ${measured(k)}`;
  };
  const slider = el("input", { type: "range", id: "step", min: 1, max: last, value: last,
    oninput: () => { say(Number(slider.value)); show(Number(slider.value)); } });
  say(last);
  return el("p", { class: "stepper" }, el("label", { for: "step" }, "How it narrowed "), slider,
    said);
}

/** The chart, what is known of the chosen commit, and the stepper. `size`: the step's, if known. */
export function stepChart(bisection, size = null) {
  const sessions = bisection.sessions.filter((s) => s.levels.length > 0);
  const detail = el("div", { class: "detail" });
  const cells = cellsOf(bisection);
  const best = cells.reduce((a, c) => (c.probability > (a?.probability ?? 0) ? c : a), null);
  let levels = levelsOf(bisection.commits), drawn = cells, drawing = null;
  const { node, redraw } = chart({
    id: `bisection-${bisection.id}`,
    label: `Level of each commit of search ${bisection.id} against ${
      endsOf(bisection).reference}; arrow keys choose a commit`,
    height, count: bisection.commits.length, first: best?.last ?? bisection.commits.length - 1,
    draw: (width) => (drawing = draw(width, bisection, levels, drawn, size)),
    mark: (i) => [svg("rect", { class: "slot chosen-slot",
      x: drawing.x(i) - Math.max(drawing.slot, 6) / 2, y: edge.top,
      width: Math.max(drawing.slot, 6), height: band.y + band.height - edge.top })],
    say: (i) => {
      const level = levels.get(i);
      return `${bisection.commits[i].subject ?? bisection.commits[i].sha.slice(0, 10)}: ${
        level ? change(level.ratio) : "not measured"}`;
    },
    chosen: (i) => detail.replaceChildren(
      ...describe(bisection, levels, cells, i).flat(Infinity).filter(Boolean)),
  });
  const show = (k) => {
    const whole = k === sessions.length;
    levels = levelsOf(whole ? bisection.commits : sessions[k - 1].levels);
    drawn = whole ? cells : [];
    redraw();
  };
  const isConfirmed = bisection.regression !== null;  // by its first session
  return [node, keyOfChart(endsOf(bisection)),
    sessions.length > 1 && stepper(sessions, isConfirmed, show), detail];
}
