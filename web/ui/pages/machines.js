// Machines: classes and runners, what they are doing, how noisy they are, and how far their
// verdicts can be trusted.

import { get, list } from "../api.js";
import { besideSections, loadBeside } from "../beside.js";
import { column, copyable, el, fold, longTable, note, number, section, strong, table, tight, when,
  whole, within } from "../dom.js";
import { connectRunner } from "../first_run.js";
import { factsMoved, factsOf, workload } from "../parts.js";
import { median } from "../statistics.js";
import { searchTrust, verdictTrust } from "../trust.js";
import { count, machineName, metricName, quantity } from "../words.js";

function runnerState(r) {
  if (!r.live) return el("span", { class: "state bad" }, "silent");
  if (r.quarantined_until) {
    return el("span", { class: "state bad" },
      `no jobs until ${r.quarantined_until.slice(11, 16)} UTC`);
  }
  return el("span", { class: "state good" }, r.job ? `busy with job ${r.job}` : "idle");
}

const runnerColumns = [
  column("runner", (r) => strong(r.name)),
  column("machine", (r) => machineName(r.machine)),
  column("state", (r) => [runnerState(r), r.trouble && el("span", { class: "soft" },
    ` ${r.trouble}`)]),
  number("workloads", (r) => r.workloads.length),
  column("labels", (r) => Object.entries(r.labels).map(([name, value]) =>
    el("span", { class: "tag" }, `${name}=${value}`))),
  column("version", (r) => r.version),
  tight("seen", (r) => (r.live ? "now" : when(r.seen_at)))];

const percent = (share) => (share === null || share === undefined ? "–"
  : `${(share * 100).toFixed(1)}\u00a0%`);

/** "2 of 40 (0.6 to 17 %)": how often, and how sure that is. */
const share = (s) => (!s || s.cases === 0 ? "–" : [`${s.worse} of ${s.cases}`,
  within(` (${percent(s.low)} to ${percent(s.high)})`)]);

const calibrationColumns = [
  whole("series", (c) => workload(c.workload, `#/series/${c.series}`)),
  column("metric", (c) => metricName(c.metric)),
  number("noise of a run", (c) => percent(c.noise)),
  number("smallest seen", (c) => percent(c.smallest_seen)),
  number("same build called worse", (c) => share(c.same_build)),
  column("planted and seen", (c) => c.planted.map((p) =>
    el("div", {}, `${percent(p.change)}: `, share(p))))];

/** One line for each time at which facts changed: "2026-11-20: kernel 6.1 → 6.8". */
function changes(machine) {
  const lines = machine.history.slice(1).map((now, i) =>
    el("li", {}, when(now.first_seen), ": ",
      factsMoved(machine.history[i].facts, now.facts) || "nothing changed, other facts were read"));
  return lines.length > 0 && el("ul", {}, lines.reverse());
}

function classSection(machine, runners, calibration, trust) {
  const own = calibration.filter((c) => c.machine === machine.id);
  const noise = own.map((c) => c.noise).filter((n) => n !== null);
  const cases = own.reduce((sum, c) => sum + (c.same_build?.cases ?? 0), 0);
  const alarms = own.reduce((sum, c) => sum + (c.same_build?.worse ?? 0), 0);
  return section(machineName(machine), el("p", {}, `Class ${machine.id}: `,
    runners.map((r, i) => [i > 0 && ", ", strong(r.name), " ", runnerState(r)]), ". ",
    noise.length > 0 && `A run's noise is ${percent(median(noise))} (median of ${count(
      noise.length, "series", "series")}). `,
    cases > 0 && `A build against itself was called worse in ${alarms} of ${count(
      cases, "comparison")}.`),
  fold(`facts-${machine.id}`, "Facts", factsOf(machine), changes(machine)),
  verdictTrust(machine, trust.verdicts.filter((v) => v.machine === machine.id)),
  own.length > 0 && fold(`calibration-${machine.id}`, `Calibration of ${count(own.length,
    "series", "series")}`, longTable(null, calibrationColumns, own)));
}

const spentOn = (unit, { minutes, named, minutes_per_finding: each }) => minutes > 0
  && ` ${quantity(minutes, unit)}${named === 0 ? ", and no commit was named."
    : named === 1 ? ", and one finding's commit is named."
      : `, ${quantity(each, unit)} for each of ${named} findings whose commit is named.`}`;

/** "In 30 days sessions took 412 GPU-minutes, 137 for each of 3 findings whose commit is named." */
const costLine = ({ nights, with_gpu: gpu, without_gpu: other }) => nights > 0
  && (gpu.minutes > 0 || other.minutes > 0) && note("In 30 days sessions took",
  spentOn("GPU-minutes", gpu), spentOn("minutes on machines without a GPU", other));

export const page = {
  title: () => "Machines",
  async load(_, query) {
    const runners = await list("runners?limit=500");
    const [calibration, trust, beside, cost] = await Promise.all([
      get("calibration").then((page) => page.items), get("trust"), loadBeside(query, runners),
      get("cost")]);
    return { runners: runners.map((r) => (r.live ? { ...r, seen_at: null } : r)), calibration,
      trust, beside, cost };
  },
  view({ runners, calibration, trust, beside, cost }, _, query) {
    const sections = beside.classes.length > 0 && besideSections("machines", beside, query);
    if (runners.length === 0) {
      return [section("Machines", note("No runner has registered. These commands connect one:"),
        connectRunner().map(copyable)), sections];
    }
    const classes = Map.groupBy(runners, (r) => r.machine.id);
    return [section("Runners", table(null, runnerColumns, runners), costLine(cost)),
      sections,
      [...classes.values()].map((some) => classSection(some[0].machine, some, calibration, trust)),
      searchTrust(trust.searches)];
  },
};
