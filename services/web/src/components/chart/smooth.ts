/** Smoothing of a curve: an exponential moving average, corrected for the bias of its start towards zero. */

/** The strengths of smoothing: none, light, strong, very strong. */
export const smoothings = [0, 0.6, 0.9, 0.98] as const;
/** The strongest smoothing. */
export const smoothingMax = 0.99;

/**
 * Smooths values; `weight` in [0, 1) is the share of the previous average. Values that are not finite are skipped and
 * kept, so that a gap remains a gap.
 */
export function smoothed(values: readonly number[], weight: number): readonly number[] {
  if (weight <= 0) return values;
  let average = 0;
  let mass = 0;
  return values.map((value) => {
    if (!Number.isFinite(value)) return value;
    average = weight * average + (1 - weight) * value;
    mass = weight * mass + (1 - weight);
    return average / mass;
  });
}
