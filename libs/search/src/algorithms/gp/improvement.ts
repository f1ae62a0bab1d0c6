/** The logarithm of the expected improvement over the smallest value (D. R. Jones, M. Schonlau, W. J. Welch, 1998). */
import { log } from "../../numeric/math.ts";
import { normalDensity, normalProbability, SQRT_2_PI } from "../../numeric/normal.ts";
import type { Moments } from "./model.ts";

/** Below this z, rounding ruins the direct formula, and the asymptotic series is accurate to a thousandth. */
const FAR = -5;

/** The logarithm of the expected improvement on `best` by a normally distributed value. */
export function logImprovement({ mean, deviation }: Moments, best: number): number {
  const z = (best - mean) / deviation;
  return log(deviation) + logUnitImprovement(z);
}

/** Equals log(φ(z) + z Φ(z)). */
function logUnitImprovement(z: number): number {
  return z > FAR
    ? log(normalDensity(z) + z * normalProbability(z))
    : -0.5 * z * z - log(SQRT_2_PI) - 2 * log(-z) + log(tail(z));
}

/** Equals z² (1 + z Φ(z) / φ(z)) for z far below 0. */
function tail(z: number): number {
  const s = 1 / (z * z);
  return 1 - s * (3 - s * (15 - s * (105 - 945 * s * 0.5)));
}

/** The derivatives of the log expected improvement by the mean and by the deviation. */
export function improvementSlopes(
  { mean, deviation }: Moments,
  best: number,
): { readonly byMean: number; readonly byDeviation: number } {
  const z = (best - mean) / deviation;
  if (z <= FAR) {
    // φ / (φ + z Φ) is z² over the series; z Φ is that less 1.
    const byDeviation = (z * z) / tail(z);
    return { byMean: (byDeviation - 1) / z / deviation, byDeviation: byDeviation / deviation };
  }
  const density = normalDensity(z);
  const probability = normalProbability(z);
  const unit = (density + z * probability) * deviation;
  return { byMean: -probability / unit, byDeviation: density / unit };
}
