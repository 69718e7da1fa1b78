// A series' history for plots: its columns as typed arrays, oldest first.

import { get } from "./api.js";
import { factsMoved } from "./parts.js";
import { shortVersion } from "./words.js";

const numbers = (column) => Float64Array.from(column, (v) => v ?? NaN);

/** {series, build, version, day, location, low, high, level, noise, job, ...}; see openapi.json. */
export async function seriesHistory(id) {
  const [series, answer] = await Promise.all([get(`series/${id}`), get(`series/${id}/history`)]);
  const { points, ...more } = answer;
  const size = points.build.length;
  const held = { ...more, series, size, build: points.build, version: points.version,
    day: points.day, runs: points.runs, job: points.job, runner: points.runner,
    factsId: points.facts, lock: points.lock, location: numbers(points.location),
    low: numbers(points.low), high: numbers(points.high), level: numbers(points.level) };
  held.indexOf = new Map(points.build.map((build, i) => [build, i]));
  held.noise = series.has_ratio ? answer.noise : null;
  return held;
}

/** Half of the A/A noise of point `i`, by its number of runs: a factor above or below the level. */
export const noiseFactor = (history, i) =>
  Math.exp(1.96 * history.noise / Math.sqrt(history.runs[i]));

export const dateOf = (day) => new Date(day * 86400000).toISOString().slice(0, 10);

/** A point's date, or its version where that is not known. */
export const nameOf = (history, i) => (history.day[i] === null ? shortVersion(history.version[i])
  : dateOf(history.day[i]));

/**
 * All builds of all histories in order, so that one build has one place: {builds, place, names},
 * and `at`, the places of each history's points.
 */
export function places(histories, byTime) {
  const known = new Map();
  for (const h of histories) {
    h.build.forEach((build, i) => known.set(build, { day: h.day[i] ?? i, name: nameOf(h, i) }));
  }
  const order = histories.length === 1 ? [...known]
    : [...known].toSorted((a, b) => a[1].day - b[1].day);
  const place = new Map(order.map(([build, { day }], i) => [build, byTime ? day : i]));
  return { builds: order.map(([build]) => build), names: order.map(([, { name }]) => name), place,
    at: histories.map((h) => Float64Array.from(h.build, (build) => place.get(build))) };
}

const block = 64;  // points of which the extremes are known, so that years are drawn quickly

function blocksOf(values) {
  const count = Math.ceil(values.length / block);
  const low = new Float64Array(count).fill(Infinity);
  const high = new Float64Array(count).fill(-Infinity);
  values.forEach((v, i) => {
    const k = Math.floor(i / block);
    if (v < low[k]) low[k] = v;
    if (v > high[k]) high[k] = v;
  });
  return { low, high };
}

/** [least, most] of a column over the points [from, to). */
export function extremes(history, column, from, to) {
  const values = history[column];
  history.blocks ??= {};
  const { low, high } = history.blocks[column] ??= blocksOf(values);
  let least = Infinity, most = -Infinity;
  for (let i = from; i < to;) {
    const k = i / block;
    if (Number.isInteger(k) && i + block <= to) {
      if (low[k] < least) least = low[k];
      if (high[k] > most) most = high[k];
      i += block;
    } else {
      if (values[i] < least) least = values[i];
      if (values[i] > most) most = values[i];
      ++i;
    }
  }
  return [least, most];
}

/** The first index whose value is at least `value`, in an ascending array or a part of it. */
export function firstFrom(sorted, value, first = 0, end = sorted.length) {
  let low = first, high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Facts that changed from one point to another, in words; "" where none did. */
export function factsChanged(history, before, after) {
  const of = (i) => history.facts.find((f) => f.id === history.factsId[i])?.facts ?? {};
  return factsMoved(of(before), of(after));
}
