/**
 * Powers and logarithms from additions, multiplications and divisions only, which IEEE 754 defines to the last bit.
 * `Math.pow`, `Math.exp` and `Math.log` differ between engines, so the same seed could give other trials on another
 * machine. Results are accurate to a few units in the last place; integer powers of ten are exact up to 10^22.
 */

/** ln 2 in two parts; the first ends in zero bits, so that its product with an exponent is exact. */
const LN2_HIGH = 6.9314718036912381649e-1;
const LN2_LOW = 1.90821492927058770002e-10;

/**
 * Returns e to the power of x: x = k ln 2 + r with |r| ≤ ln 2 / 2, with the Taylor series of r up to terms below 2^-60.
 */
export function exp(x: number): number {
  const k = Math.round(x / (LN2_HIGH + LN2_LOW));
  const r = x - k * LN2_HIGH - k * LN2_LOW;
  let sum = 1;
  for (let term = 16; term >= 1; term -= 1) sum = 1 + (r / term) * sum;
  return sum * integerPower(2, k);
}

/** Returns the natural logarithm of x > 0: x = m 2^k with m near 1, and the series of 2 artanh((m - 1) / (m + 1)). */
export function log(x: number): number {
  let m = x;
  let k = 0;
  for (; m > Math.SQRT2; k += 1) m /= 2;
  for (; m < Math.SQRT1_2; k -= 1) m *= 2;
  const s = (m - 1) / (m + 1);
  let sum = 0;
  for (let term = 25; term >= 1; term -= 2) sum = sum * s * s + 1 / term;
  return k * LN2_HIGH + (k * LN2_LOW + 2 * s * sum);
}

/** Returns the base to the power of an integer, by squaring. */
export function integerPower(base: number, exponent: number): number {
  let result = 1;
  let square = base;
  for (let rest = Math.abs(exponent); rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result *= square;
    square *= square;
  }
  return exponent < 0 ? 1 / result : result;
}

/**
 * Returns base > 0 to the power of any exponent: the integer part by squaring, the rest, at most a half, by exp and
 * log.
 */
export function power(base: number, exponent: number): number {
  const whole = Math.round(exponent);
  const rest = exponent - whole;
  const factor = rest === 0 ? 1 : exp(rest * log(base));
  return integerPower(base, whole) * factor;
}

/** Rounds to the nearest integer, halves away from zero (Math.round rounds halves up). */
export function roundHalfAway(x: number): number {
  return x < 0 ? -Math.floor(0.5 - x) : Math.floor(x + 0.5);
}
