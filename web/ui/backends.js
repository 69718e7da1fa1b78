// Workloads with their backends side by side, by accepted levels.

import { workloadParts } from "./words.js";

/** One entry a workload and machine: {parts, machine, backends: {eager: {name, metrics}}}. */
export function pairs(series) {
  const by = new Map();
  for (const s of series) {
    const parts = workloadParts(s.workload_name);
    if (!parts || !s.level) continue;
    const { backend, ...rest } = parts;
    const key = `${Object.values(rest).join("/")}@${s.machine}`;
    if (!by.has(key)) by.set(key, { parts: rest, machine: s.machine, backends: {} });
    const entry = by.get(key).backends;
    entry[backend] ??= { name: s.workload_name, metrics: {} };
    entry[backend].metrics[s.metric] = s;
  }
  return [...by.values()];
}

export const level = (side, metric) => side?.metrics[metric]?.level.value ?? null;

/** null where a side is not positive. */
export const ratio = (a, b) => (a > 0 && b > 0 ? a / b : null);
