// Domains: how an iteration's time and the memory of its tensors divide, by TorchBench's domains.

import { splitBar } from "../bars.js";
import { chartKey, sample } from "../chart.js";
import { column, el, note, number, section, strong, svg, table } from "../dom.js";
import { newestProfiles, notProfiled } from "../profiles.js";
import { mean } from "../statistics.js";
import { percent, quantity, workloadParts } from "../words.js";

const kept = "kept from earlier iterations";  // few workloads have it
const memoryParts = ["parameters", "gradients", "optimizer state", "inputs", kept,
  "activations", "workspace"];

/** [name, share] of one profile's time: of the GPU where there is one. */
function timeParts(p) {
  if (p.seconds === null) return null;
  const of = p.active_seconds === null
    ? { "in operators": p.seconds - p.outside_seconds, outside: p.outside_seconds }
    : { active: p.active_seconds, "moving data": p.moving_seconds, idle: p.idle_seconds };
  const whole = Object.values(of).reduce((a, b) => a + b, 0);
  return Object.fromEntries(Object.entries(of).map(([name, s]) => [name, s / whole]));
}

function memorySplit(p) {
  const bytes = Object.fromEntries(p.memory.map((m) => [m.part, m.bytes]));
  return bytes.peak > 0 ? Object.fromEntries(memoryParts.map((name) =>
    [name, (bytes[name] ?? 0) / bytes.peak])) : null;
}

/** Columns of mean shares with the same as a bar before them. */
const shares = (names, of) => [
  column("", (g) => splitBar(names.map((n) => g[of][n] ?? 0))),
  ...names.map((n) => number(n.split(",")[0], (g) => percent(g[of][n])))];

/** Which part of a bar has which colour. */
const keyOf = (names) => chartKey(names.map((name, i) =>
  [sample(svg("rect", { class: `part p${i % 7}`, width: 24, height: 12 })), name]));

function grouped(profiles) {
  return [...Map.groupBy(profiles, (p) => `${p.domain}/${p.parts.task}/${
    p.parts.device}`)].toSorted(([a], [b]) => a.localeCompare(b)).map(([name, some]) => {
    const [domain, task, device] = name.split("/");
    const means = (split) => {
      const known = some.map(split).filter(Boolean);
      return Object.fromEntries(Object.keys(known[0] ?? {}).map((part) =>
        [part, mean(known.map((k) => k[part]))]));
    };
    return { domain, task, device, models: new Set(some.map((p) => p.parts.model)).size,
      seconds: mean(some.map((p) => p.seconds).filter((s) => s !== null)),
      peak: mean(some.map((p) => p.memory[0]?.bytes).filter((b) => b > 0)),
      time: means(timeParts), memory: means(memorySplit) };
  });
}

const first = [
  column("domain", (g) => strong(g.domain)),
  column("task", (g) => g.task),
  column("device", (g) => el("span", { class: "tag" }, g.device)),
  number("models", (g) => g.models)];

export const page = {
  title: () => "Domains",
  async load() {
    const { profiles, workloads } = await newestProfiles();
    return { workloads, profiles: profiles.map((p) => ({ ...p,
      parts: workloadParts(p.workload) })).filter((p) => p.parts) };
  },
  view({ profiles, workloads }) {
    const all = grouped(profiles), note_ = notProfiled(profiles, workloads);
    if (all.length === 0) return [section("Domains", note_)];
    const parts = memoryParts.filter((n) => n !== kept || all.some((g) => g.memory[n] > 0));
    const on = (device) => all.filter((g) => (g.device === "cuda") === device);
    const time = (caption, groups, names) => groups.length > 0 && [table(caption, [...first,
      number("iteration", (g) => quantity(g.seconds, "s")),
      ...shares(names, "time")], groups), keyOf(names)];
    return [section("Time by domain", note_,
      time("CPU: an iteration's time in operators and outside of them", on(false),
        ["in operators", "outside"]),
      time("GPU: computing, moving data and idle", on(true), ["active", "moving data", "idle"])),
    section("Memory by domain", table("Tensors at the peak of an iteration", [...first,
      number("peak", (g) => quantity(g.peak, "bytes")),
      ...shares(parts, "memory")], all), keyOf(parts),
    note("Means of the profiled models."))];
  },
};
