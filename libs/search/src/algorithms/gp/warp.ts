/**
 * Warps standardised values towards a normal distribution by the power transformation of I.-K. Yeo and R. A. Johnson
 * (Biometrika 87, 2000). The exponent is the most likely one among the quarters from -1 to 1.
 *
 * A Gaussian process expects normally distributed values. Those of a search often span decades, and without the
 * transformation only the worst values would matter. The order of the values is unchanged. Quarter powers are computed
 * by square roots, which are exact to the last bit on every machine.
 */
import { exp, integerPower, log, power } from "../../numeric/math.ts";

export type Warp = {
  /** The warped values, with mean 0 and deviation 1. */
  readonly values: Float64Array;
  readonly exponent: number;
  readonly mean: number;
  readonly deviation: number;
};

const QUARTERS = [4, 3, 2, 1, 0, -1, -2, -3, -4];

/** Warps the values, which must not all be equal. */
export function warped(values: readonly number[]): Warp {
  const stretch = values.reduce((sum, x) => sum + Math.sign(x) * log(1 + Math.abs(x)), 0);
  let best: Warp | null = null;
  let most = Number.NEGATIVE_INFINITY;
  for (const quarters of QUARTERS) {
    const warp = standardised(
      values.map((x) => bent(x, quarters)),
      quarters / 4,
    );
    const likelihood = (warp.exponent - 1) * stretch - values.length * log(warp.deviation);
    if (best === null || likelihood > most) {
      best = warp;
      most = likelihood;
    }
  }
  return best ?? { values: new Float64Array(0), exponent: 1, mean: 0, deviation: 1 };
}

function bent(x: number, quarters: number): number {
  if (x >= 0) {
    return quarters === 0 ? log(1 + x) : (quarterPower(1 + x, quarters) - 1) / (quarters / 4);
  }
  return (1 - quarterPower(1 - x, 8 - quarters)) / (2 - quarters / 4);
}

/** Raises x to the power `quarters` / 4. */
function quarterPower(x: number, quarters: number): number {
  return integerPower(Math.sqrt(Math.sqrt(x)), quarters);
}

function standardised(values: readonly number[], exponent: number): Warp {
  const count = values.length;
  let mean = 0;
  for (const value of values) mean += value / count;
  let variance = 0;
  for (const value of values) variance += ((value - mean) * (value - mean)) / count;
  const deviation = Math.max(Math.sqrt(variance), 1e-150);
  const scaled = Float64Array.from(values, (value) => (value - mean) / deviation);
  return { values: scaled, exponent, mean, deviation };
}

/** Returns the standardised value that warps to this one. */
export function unwarped({ exponent, mean, deviation }: Warp, value: number): number {
  const t = value * deviation + mean;
  if (t < 0) return 1 - power(1 - (2 - exponent) * t, 1 / (2 - exponent));
  if (exponent === 0) return exp(Math.min(t, 700)) - 1;
  // With an exponent below 0 the warped values have an upper bound, so larger values are clamped.
  return power(Math.max(1e-9, 1 + exponent * t), 1 / exponent) - 1;
}
