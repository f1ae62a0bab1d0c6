/**
 * Minimises a smooth function in a box by its gradient. The method is that of D. C. Liu and J. Nocedal (limited-memory
 * BFGS, 1989) with a memory of five steps. Steps are projected into the box, and halved until they gain enough (L.
 * Armijo, 1966). The result is a local minimum. Nothing is random: the same start has the same result, bit for bit.
 */

/** Writes the gradient at a place and returns the value, which is not finite out of bounds. */
export type Slope = (at: Float64Array, gradient: Float64Array) => number;

export type Box = { readonly low: number; readonly high: number };

const MEMORY = 5;
const HALVINGS = 12;
const ENOUGH = 1e-4;

type Pair = { readonly s: Float64Array; readonly y: Float64Array; readonly rho: number };

/**
 * Overwrites `at` with the minimum and returns its value. The descent ends at a step that gains less than `tolerance`.
 */
export function descend(
  slope: Slope,
  at: Float64Array,
  box: Box,
  stepsMax: number,
  tolerance: number,
): number {
  const size = at.length;
  const gradient = new Float64Array(size);
  const next = new Float64Array(size);
  const nextGradient = new Float64Array(size);
  let value = slope(at, gradient);
  const pairs: Pair[] = [];
  for (let step = 0; step < stepsMax; step += 1) {
    const direction = directionOf(gradient, pairs, at, box);
    const falls = dot(direction, gradient);
    if (!(falls < 0)) break;
    const first = pairs.length === 0 ? Math.min(1, 1 / largest(direction)) : 1;
    const found = searchLine(
      slope,
      at,
      direction,
      box,
      { value, falls, first },
      next,
      nextGradient,
    );
    if (found === null) break;
    const s = next.map((x, i) => x - (at[i] as number));
    const y = nextGradient.map((g, i) => g - (gradient[i] as number));
    const curvature = dot(s, y);
    if (curvature > 1e-12) pairs.push({ s, y, rho: 1 / curvature });
    if (pairs.length > MEMORY) pairs.shift();
    at.set(next);
    gradient.set(nextGradient);
    const gained = value - found;
    value = found;
    if (gained < tolerance) break;
  }
  return value;
}

/** Returns the descent direction; components that would leave the box are 0. */
function directionOf(
  gradient: Float64Array,
  pairs: readonly Pair[],
  at: Float64Array,
  { low, high }: Box,
): Float64Array {
  const held = (i: number): boolean => {
    const x = at[i] as number;
    const g = gradient[i] as number;
    return (x <= low && g > 0) || (x >= high && g < 0);
  };
  const q = gradient.map((g, i) => (held(i) ? 0 : g));
  const shares: number[] = [];
  for (let p = pairs.length - 1; p >= 0; p -= 1) {
    const { s, y, rho } = pairs[p] as Pair;
    const share = rho * dot(s, q);
    shares[p] = share;
    for (let i = 0; i < q.length; i += 1) q[i] = (q[i] as number) - share * (y[i] as number);
  }
  const last = pairs.at(-1);
  if (last !== undefined) {
    const scale = 1 / (last.rho * dot(last.y, last.y));
    for (let i = 0; i < q.length; i += 1) q[i] = (q[i] as number) * scale;
  }
  for (const [p, { s, y, rho }] of pairs.entries()) {
    const share = (shares[p] as number) - rho * dot(y, q);
    for (let i = 0; i < q.length; i += 1) q[i] = (q[i] as number) + share * (s[i] as number);
  }
  return q.map((x, i) => (held(i) ? 0 : -x));
}

/** Writes the first place that gains enough to `next` and returns its value; null if no place does. */
function searchLine(
  slope: Slope,
  at: Float64Array,
  direction: Float64Array,
  { low, high }: Box,
  {
    value,
    falls,
    first,
  }: { readonly value: number; readonly falls: number; readonly first: number },
  next: Float64Array,
  nextGradient: Float64Array,
): number | null {
  let length = first;
  for (let tries = 0; tries < HALVINGS; tries += 1) {
    for (let i = 0; i < at.length; i += 1) {
      const x = (at[i] as number) + length * (direction[i] as number);
      next[i] = x < low ? low : x > high ? high : x;
    }
    const reached = slope(next, nextGradient);
    if (reached <= value + ENOUGH * length * falls) return reached;
    length /= tries === 0 ? 2 : 3;
  }
  return null;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function largest(a: Float64Array): number {
  let most = 0;
  for (const x of a) most = Math.max(most, Math.abs(x));
  return most;
}
