/**
 * The normal distribution and a fast exponential, from IEEE additions, multiplications and divisions as in `math.ts`,
 * and from tables. Models evaluate them a hundred thousand times per suggestion.
 */
import { exp, integerPower } from "./math.ts";

const LN2 = 0.6931471805599453;
const LN2_64_HIGH = 6.9314718036912381649e-1 / 64;
const LN2_64_LOW = 1.90821492927058770002e-10 / 64;

/** Tables of 2^(i/64), and of 2^k for k from -1074 to 1023. */
const fractionPowers = Float64Array.from({ length: 64 }, (_, i) => exp((i * LN2) / 64));
const wholePowers = Float64Array.from({ length: 1074 + 1024 }, (_, i) => wholePower(i - 1074));

function wholePower(k: number): number {
  return k < -1022 ? integerPower(2, k + 60) * integerPower(2, -60) : integerPower(2, k);
}

/** Returns e to the power of x, -700 ≤ x ≤ 700, to about two units in the last place: x = (64 k + i) ln 2 / 64 + r. */
export function fastExp(x: number): number {
  const n = Math.floor(x * (64 / LN2) + 0.5);
  const r = x - n * LN2_64_HIGH - n * LN2_64_LOW;
  const series = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120)))));
  // Shifts and masks of integers are far faster than floors of doubles, and have the same results.
  return (fractionPowers[n & 63] as number) * (wholePowers[(n >> 6) + 1074] as number) * series;
}

export const SQRT_2_PI = 2.5066282746310002;

/** The density of the standard normal distribution. */
export function normalDensity(x: number): number {
  return x * x > 1400 ? 0 : fastExp(-0.5 * x * x) / SQRT_2_PI;
}

const STEPS = 64;
const FAR = 8;
/** The probability below each multiple of 1/64 from -8 to 8. */
const below = Float64Array.from({ length: 2 * FAR * STEPS + 1 }, (_, i) => {
  const x = (i - FAR * STEPS) / STEPS;
  return x < 0 ? 1 - bySeries(-x) : bySeries(x);
});
const density = Float64Array.from({ length: below.length }, (_, i) =>
  normalDensity((i - FAR * STEPS) / STEPS),
);

/** Returns 1/2 + density(x) (x + x³/3 + x⁵/15 + …): G. Marsaglia, "Evaluating the normal distribution", 2004. */
function bySeries(x: number): number {
  let term = x;
  let sum = x;
  for (let i = 3; term > sum * 1e-17; i += 2) {
    term *= (x * x) / i;
    sum += term;
  }
  return 0.5 + (sum * exp(-0.5 * x * x)) / SQRT_2_PI;
}

/** The probability that a standard normal is below x, to about 1e-14 absolutely; 0 below -8, 1 above 8. */
export function normalProbability(x: number): number {
  if (x <= -FAR) return 0;
  if (x >= FAR) return 1;
  const i = Math.floor((x + FAR) * STEPS + 0.5);
  const at = (i - FAR * STEPS) / STEPS;
  const d = x - at;
  const s = at * at;
  // A Taylor series about the nearest point of the table; the derivatives of the density are Hermite polynomials.
  const series =
    1 -
    d * (at / 2 - d * ((s - 1) / 6 - d * ((at * (s - 3)) / 24 - (d * (s * s - 6 * s + 3)) / 120)));
  return (below[i] as number) + (density[i] as number) * d * series;
}

/** Returns the point below which the probability is p, 0 < p < 1, between -8 and 8. */
export function normalQuantile(p: number): number {
  let low = 0;
  let high = below.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((below[middle] as number) <= p) low = middle;
    else high = middle;
  }
  const from = (low - FAR * STEPS) / STEPS;
  const to = (high - FAR * STEPS) / STEPS;
  let x = from;
  for (let step = 0; step < 3; step += 1) {
    const slope = normalDensity(x);
    if (slope === 0) break;
    x = Math.min(to, Math.max(from, x + (p - normalProbability(x)) / slope));
  }
  return x;
}
