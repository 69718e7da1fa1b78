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

export const mean = (values) => (values.length === 0 ? null
  : values.reduce((sum, v) => sum + v, 0) / values.length);

export const geomean = (values) => (values.length === 0 ? null
  : Math.exp(values.reduce((sum, v) => sum + Math.log(v), 0) / values.length));
