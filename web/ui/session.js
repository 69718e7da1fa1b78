// One session: what its machine was, what had changed, and what it did meanwhile.

import { column, el, link, note, number, section, state, table, when, whole } from "./dom.js";
import { factsMoved, factsOf } from "./parts.js";
import { change } from "./words.js";

const of = (value, unit) => (value === null || value === undefined ? "–"
  : `${Number(value.toPrecision(4))}\u00a0${unit}`);

/** [name, before, after] of what the machine said of itself around the session. */
function readings({ before, after }) {
  const pair = (name, text) => [name, text(before), text(after)];
  const devices = after.gpus.flatMap((gpu, i) => [
    ["SM clock", "sm_mhz", "MHz"], ["memory clock", "memory_mhz", "MHz"],
    ["power", "power_watts", "W"], ["temperature", "temperature_celsius", "°C"]].map(
    ([name, key, unit]) => pair(`GPU ${i}: ${name}`, (s) => of(s.gpus[i]?.[key], unit))));
  const others = [...new Set([...Object.keys(before.extra), ...Object.keys(after.extra)])];
  return [pair("load of a minute", (s) => of(s.load1, "")),
    pair("CPU clock", (s) => (s.frequency_mhz ? of(s.frequency_mhz, "MHz") : "–")),
    pair("CPU time stolen", (s) => of(100 * s.steal_share, "%")),
    ...others.map((name) => pair(name.replaceAll("_", " "), (s) => s.extra[name] ?? "–")),
    ...devices];
}

const readingColumns = [whole("reading", (r) => r[0]), number("before", (r) => r[1]),
  number("after", (r) => r[2])];

const gauges = { cpu: "the processor", gpu_compute: "the GPU's arithmetic",
  gpu_bandwidth: "the GPU's memory" };

/** How far its machine moved. A change of a series that this may explain is unclear. */
const controlColumns = [
  whole("control of", (c) => gauges[c.gauge]),
  number("against the nights before", (c) => (c.moved === null ? "–" : change(Math.exp(c.moved)))),
  number("its runs scatter by", (c) => of(100 * c.within, "%")),
  number("scatter beyond the usual", (c) => (c.unrest === null ? "–" : of(100 * c.unrest, "%")))];

/** A job of a night with what its machine was then. */
export function sessionSection(job, runner) {
  return section(`Session ${job.id}`, el("p", {}, `${job.kind} on `, runner ?? "no runner yet", " ",
    state(job.void ? "void" : job.state), job.variant && `, variant ${job.variant}`,
    job.void && `: ${job.void}`),
  job.facts ? [
    el("p", {}, "These are its machine's facts since ", when(job.facts.first_seen), ". ",
      job.facts_changed ? `What was new with them: ${job.facts_changed}.`
        : "Nothing that was known before had changed."),
    factsOf({ id: `session-${job.id}`, facts: job.facts.facts })]
    : note("No runner has claimed it, so no machine's facts belong to it."),
  job.controls.length > 0
    && table("How far the machine moved, by work that no build changes", controlColumns,
      job.controls),
  job.session && table("What the machine did meanwhile", readingColumns, readings(job.session)));
}

const changeColumns = [
  number("session", (c) => link(`#/nights?night=${c.job.night}&session=${c.job.id}`, c.job.id)),
  whole("machine class", (c) => c.name),
  column("claimed by", (c) => c.runner),
  whole("changed", (c) => c.moved)];

/** Where a machine's facts are others than in the session before. `machines`: with history. */
export function changedFacts(jobs, machines, runnerName, className) {
  const changes = [];
  for (const [id, some] of Map.groupBy(jobs.filter((j) => j.machine_facts), (j) => j.machine)) {
    const factsAt = new Map((machines.find((m) => m.id === id)?.history ?? []).map((h) =>
      [h.id, h.facts]));
    some.toSorted((a, b) => a.id - b.id).forEach((job, i, sorted) => {
      const before = factsAt.get(sorted[i - 1]?.machine_facts);
      const now = factsAt.get(job.machine_facts);
      const moved = before && now && factsMoved(before, now);
      if (moved) changes.push({ job, moved, name: className(id), runner: runnerName(job.runner) });
    });
  }
  return changes.length > 0
    && table("Sessions before which their machine had changed", changeColumns, changes);
}
