// Small statistics for pictures. What is decided is computed by the service.

export const median = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** A spread that single outliers do not move: 1.48 times the median distance from the median. */
export function spread(values) {
  const centre = median(values);
  return 1.4826 * median(values.map((v) => Math.abs(v - centre)));
}

/**
 * Levels of a search's commits against commit 0, from its runs {commit, value} so far: by commit
 * {runs, ratio, low, high}. Intervals of 95 % by the spread that all commits share, for the eye.
 */
export function levelsOf(runs) {
  const by = new Map();
  for (const run of runs) by.set(run.commit, [...(by.get(run.commit) ?? []), run.value]);
  const good = by.get(0);
  if (!good) return new Map();
  const level = median(good);
  const around = [...by.values()].filter((v) => v.length > 1)
    .flatMap((v) => { const m = median(v); return v.map((one) => Math.log(one / m)); });
  const sd = around.length ? Math.max(1e-4, Math.sqrt(
    around.reduce((sum, d) => sum + d * d, 0) / Math.max(1, around.length - by.size))) : 0;
  return new Map([...by].map(([commit, values]) => {
    const ratio = median(values) / level;
    const half = 2 * sd * Math.sqrt(1 / values.length + 1 / good.length);
    return [commit, { runs: values.length, ratio, low: ratio * Math.exp(-half),
      high: ratio * Math.exp(half) }];
  }));
}
