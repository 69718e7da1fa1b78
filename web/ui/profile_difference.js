// Where the time, the GPU's time or memory went at a blamed commit: a flame graph and tables.

import { still } from "./chart.js";
import { column, el, fold, note, number, section, strong, svg, table, version, whole, written
  } from "./dom.js";
import { change, count, percent, quantity, shortMiddle } from "./words.js";

const [width, row, gap] = [880, 22, 14];

const spanOf = (seconds) => quantity(seconds, "s");

const total = (operators, side) => operators.reduce((sum, o) => sum + o[side], 0);

/** One side: the iteration, and below it its operators in an order that both sides share. */
function stack(side, name, operators, iteration, scale, top) {
  const cell = (x, y, wide, text, title, look) => svg("g", {}, svg("title", {}, title),
    svg("rect", { x, y, height: row - 2, width: Math.max(0.5, wide - 1), ...look }),
    wide > 60 && written(x + 4, y + 15, shortMiddle(text, Math.floor(wide / 7 - 1))));
  let x = 0;
  return [cell(0, top, scale * Math.max(iteration, total(operators, side)),
    `${name}: ${spanOf(iteration)}`, "an iteration under the profiler", { class: "flame" }),
  operators.map((o) => {
    const wide = scale * o[side], gained = (o.after - o.before) / iteration;
    x += wide;
    // The colour's strength: how much of the iteration the operator gained or lost.
    return wide >= 0.5 && cell(x - wide, top + row, wide, o.operator,
      `${o.operator}: ${spanOf(o.before)} before, ${spanOf(o.after)} after`,
      side === "before" ? { class: "flame" } : { class: `flame ${gained > 0 ? "more" : "less"}`,
        "fill-opacity": Math.min(1, 0.12 + Math.abs(gained) * 6).toFixed(2) });
  })];
}

function flameGraph({ operators, difference: { before, after } }) {
  const ordered = operators.toSorted((a, b) => b.before + b.after - a.before - a.after);
  const scale = width / Math.max(before.seconds, after.seconds, total(ordered, "before"),
    total(ordered, "after"));
  return [still(width, 4 * row + gap,
    "Time of an iteration by operator before and after; the table has the same",
  stack("before", "last good", ordered, before.seconds, scale, 0),
  stack("after", "first bad", ordered, after.seconds, scale, 2 * row + gap)),
  note("Width is an operator's own time; red took longer than before, green less. The profiler ",
    "keeps no stacks of calls, so there is one level of operators.")];
}

const sides = (of) => [number("before", (c) => of(c.before)), number("after", (c) => of(c.after))];

function difference({ before, after }) {
  const seconds = after.seconds - before.seconds;
  return `${seconds > 0 ? "+" : ""}${spanOf(seconds)}`;
}

const changeColumns = (name) => [
  whole(name, (c) => [el("code", { class: "subject", title: c.operator }, c.operator),
    name === "operator" && c.on === "gpu" && " (GPU)"]),
  ...sides((s) => spanOf(s.seconds)), number("difference", difference),
  number("of the change", (c) => percent(c.share)),
  number("calls", (c) => [...new Set([c.before.calls, c.after.calls])].join(" → "))];

const memoryColumns = [column("part", (m) => m.part), ...sides((b) => quantity(b, "bytes")),
  number("change", (m) => (m.before > 0 ? change(m.after / m.before) : "–"))];

/** Operators by their time on the GPU; nothing without one. */
function kernels({ device_runs: runs, device_before: before, device_after: after, kernels: all }) {
  if (runs === 0 || (after.seconds === 0 && before.seconds === 0)) return null;
  const clear = all.filter((c) => c.clear);
  return [el("p", {}, "All that ran on the GPU: ",
    strong(`${spanOf(before.seconds)} → ${spanOf(after.seconds)}`),
    `, ${count(runs, "run")} a side.`),
  clear.length > 0
    ? table("Kernels, by operator, whose time changed by more than their runs differ",
      changeColumns("kernels of"), clear)
    : note("No operator's kernels changed by more than their runs differ.")];
}

/** Nothing where no session of profiles was asked for. */
export function profileDifference(profile) {
  if (!profile?.job) return null;
  const { difference: diff, good, bad } = profile;
  if (!diff) {
    return section("Where the time went", note(
      `Job ${profile.job} profiles both sides of the culprit; it is ${profile.state}.`));
  }
  const clear = diff.changes.filter((c) => c.clear);
  return section("Where the time went", el("p", {}, "An iteration under the profiler: ",
    strong(`${spanOf(diff.before.seconds)} → ${spanOf(diff.after.seconds)}`),
    `, ${count(diff.runs, "run")} a side, between `, version(good.version), " and ",
    version(bad.version)),
  diff.runs > 0 ? flameGraph(profile)
    : note("No run saw the machine undisturbed on both sides, so times say nothing."),
  clear.length > 0 ? table("Operators whose own time changed by more than their runs differ, and "
    + "how much of the iteration's change each is: together more than 100 % where others gained, "
    + "or where CPU and GPU work at once",
    changeColumns("operator"), clear)
    : note("No operator's own time changed by more than its runs differ."),
  kernels(diff),
  diff.memory.length > 0 && fold("memory-parts", "Tensors' memory at the peak",
    table(null, memoryColumns, diff.memory)));
}
