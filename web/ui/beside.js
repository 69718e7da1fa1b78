// Two sides of a comparison that REST makes: one machine beside another, and the last release
// beside the newest nightly.

import { all, get, machines } from "./api.js";
import { column, el, fold, lead, longTable, note, number, section, version, whole,
  within } from "./dom.js";
import { chooser, className, workload } from "./parts.js";
import { count, quantity } from "./words.js";

const times = (ratio) => `${ratio.toFixed(2)}×`;

const ratioWithin = (r) => [times(r.ratio), r.low !== null
  && within(` (${r.low.toFixed(2)} to ${r.high.toFixed(2)})`)];

const timeOf = (r, side) => quantity(r[side].value, r.unit,
  Math.max(r.first.value, r.other.value));

/** The comparison at `path` as {total, items}. */
async function sidesOf(path) {
  const page = await get(`${path}&limit=500`);
  return { total: page.total, items: page.next_cursor ? await all(path, 5000) : page.items };
}

const releasePath = (...filters) => ["beside/release?metric=latency", ...filters].join("&");

/** The ratios of releases, of one machine or of all; `also`: further filters. */
export const releasesBeside = (machine, ...also) => sidesOf(releasePath("part=compared",
  ...machine ? [`machine=${machine}`] : [], ...also));

/** Ids of the two classes whose runners have the most workloads in common, or of the first two. */
function mostInCommon(classes, runners) {
  const offered = new Map(classes.map(({ id }) => [id, new Set(runners.filter((r) =>
    r.live && r.machine.id === id).flatMap((r) => r.workloads))]));
  const shared = (a, b) => [...offered.get(a)].filter((name) => offered.get(b).has(name)).length;
  return classes.flatMap(({ id: a }, i) => classes.slice(i + 1).map(({ id: b }) =>
    ({ pair: [a, b], common: shared(a, b) }))).toSorted((a, b) => b.common - a.common)[0]?.pair
    ?? [];
}

/** What besideSections() shows. */
export async function loadBeside(query, runners) {
  const classes = await machines(), pair = mostInCommon(classes, runners);
  const asked = (name) => Number(query.get(name));
  const first = asked("first") || pair.find((id) => id !== asked("other"));
  const other = asked("other") || pair.find((id) => id !== first), released = query.get("released");
  const [both, releases] = await Promise.all([
    classes.length > 1 ? sidesOf(`beside/machines?first=${first}&other=${other}`) : null,
    releasesBeside(released)]);
  // Where there is no release at all, each workload lacks it.
  const without = releases.total.compared > 0 || released ? await all(releasePath("part=left_out",
    ...released ? [`machine=${released}`] : []), 5000) : [];
  return { classes, first, other, both, releases, without };
}

/** Why the rest has no ratio, folded. `columns`: those before the reason. */
const leftOut = (name, rows, columns) => rows.length > 0 && fold(`left-out-${name}`,
  `${count(rows.length, "workload")} could not be compared`, longTable(null,
    [whole("workload", (r) => workload(r.workload)), ...columns,
      whole("reason", (r) => r.reason)], rows));

const comparedRows = (items) => items.filter((r) => r.ratio !== null);
const otherRows = (items) => items.filter((r) => r.ratio === null);

function machinesSection(page, { classes, first, other, both }, query) {
  const options = classes.map((c) => [c.id, className(classes, c.id)]);
  const rows = comparedRows(both.items);
  const apart = rows.filter((r) => r.first.build.date !== r.other.build.date).length;
  return section("One machine beside another",
    el("form", { class: "search" }, chooser(page, "first", "machine", options, query, first),
      chooser(page, "other", "beside", options, query, other)),
    rows.length === 0 ? note("They measure no workload in common.") : [
      lead(`The second is ${times(both.total.ratio)} as fast`,
        `, as geometric mean over ${count(both.total.compared, "workload")}`),
      note("Time of an iteration on the newest nightly that both measured, and the ratio with its ",
        "95 % interval. Above 1.00× the second is faster.",
        apart > 0 && ` ${count(apart, "workload")} had no nightly of one date.`),
      longTable(null, [whole("workload", (r) => workload(r.workload, `#/series/${r.first.series}`)),
        number(className(classes, first), (r) => timeOf(r, "first")),
        number(className(classes, other), (r) => timeOf(r, "other")),
        number("ratio", ratioWithin)], rows)],
    leftOut("machines", otherRows(both.items), []));
}

function releaseSection(page, { classes, releases, without }, query) {
  const rows = releases.items;
  const machine = column("machine", (r) => className(classes, (r.first ?? r.other).machine));
  if (rows.length === 0 && !query.get("released")) {
    return section("Release beside nightly", note("No release was measured yet. Measure one with ",
      "nightjar-runner measure and import it: its version has no date."));
  }
  return section("Release beside nightly",
    el("form", { class: "search" }, chooser(page, "released", "machine", [["", "all"],
      ...classes.map((c) => [c.id, className(classes, c.id)])], query)),
    rows.length === 0 ? note("No workload has both a release and a nightly.") : [
      lead(`The newest nightly is ${times(releases.total.ratio)} as fast as the last release`,
        `, as geometric mean over ${count(releases.total.compared, "workload")}`),
      note("Time of an iteration, and release / nightly with its 95 % interval: above 1.00× the ",
        "nightly is faster. The largest ratio comes first."),
      longTable(null, [whole("workload", (r) => workload(r.workload, `#/series/${r.other.series}`)),
        machine, column("release", (r) => version(r.first.build.version)),
        number("release time", (r) => timeOf(r, "first")),
        column("nightly", (r) => version(r.other.build.version)),
        number("nightly time", (r) => timeOf(r, "other")), number("ratio", ratioWithin)], rows)],
    leftOut("release", without, [machine]));
}

/** Sections of what loadBeside() found. */
export const besideSections = (page, found, query) => [
  found.both && machinesSection(page, found, query), releaseSection(page, found, query)];
