// One machine beside another: what both measure, by accepted levels of latency.

import { column, lead, longTable, note, number, section, whole } from "./dom.js";
import { chooser, workload } from "./parts.js";
import { geomean } from "./statistics.js";
import { count, machineName, quantity } from "./words.js";

/** [{name, unit, first, other, ratio}] of what has a level on both, the largest ratio first. */
export function inBoth(series, first, other) {
  const levels = (machine) => new Map(series.filter((s) => s.machine === machine
    && s.level?.value > 0).map((s) => [`${s.workload_name}@${s.variant}`, s]));
  const there = levels(other);
  return [...levels(first)].flatMap(([key, s]) => {
    const twin = there.get(key);
    return twin ? [{ name: s.workload_name, unit: s.unit, first: s.level.value,
      other: twin.level.value, ratio: s.level.value / twin.level.value }] : [];
  }).toSorted((a, b) => b.ratio - a.ratio);
}

const times = (ratio) => `${ratio.toFixed(2)}×`;

/** A section with a choice of two classes; nothing where there is one class only. */
export function besideSection(page, classes, series, query) {
  if (classes.length < 2) return null;
  const id = (name, i) => Number(query.get(name)) || classes[i].id;
  const first = id("first", 0), other = id("other", 1), rows = inBoth(series, first, other);
  const options = classes.map((c) => [c.id, machineName(c)]);
  const timeOf = (r, side) => quantity(r[side], r.unit, Math.max(r.first, r.other));
  return section("One beside another",
    chooser(page, "first", "machine", options, query, first),
    chooser(page, "other", "beside", options, query, other),
    rows.length === 0 ? note("They measure no workload in common.") : [
      lead(`The second is ${times(geomean(rows.map((r) => r.ratio)))} as fast`,
        `, as geometric mean over ${count(rows.length, "workload")}`),
      note("Time of an iteration at its accepted level. Above 1.00× the second is faster."),
      longTable(null, [whole("workload", (r) => workload(r.name)),
        number("machine", (r) => timeOf(r, "first")), number("beside", (r) => timeOf(r, "other")),
        column("ratio", (r) => times(r.ratio))], rows)]);
}
