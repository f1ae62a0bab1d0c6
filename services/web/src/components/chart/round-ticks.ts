/** Round numbers for the ticks of an axis. */

/** With more than this many, only powers of ten have a tick. */
const ticksMax = 8;

/**
 * Returns the ticks of a logarithmic axis from `least` > 0 to `greatest`: 1, 2 and 5 times the powers of ten, or the
 * powers of ten alone, evenly thinned, where those are many. An axis too short for two of them has those of a linear
 * one.
 */
export function logTicks(least: number, greatest: number, most = ticksMax): readonly number[] {
  const first = Math.floor(Math.log10(least));
  const last = Math.ceil(Math.log10(greatest));
  const powers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const isIn = (tick: number): boolean => tick >= least && tick <= greatest;
  const fine = powers
    .flatMap((power) => [1, 2, 5].map((digit) => times(digit, power)))
    .filter(isIn);
  if (fine.length < 2) return linearTicks(least, greatest, most);
  const coarse = powers.map((power) => times(1, power)).filter(isIn);
  // Two powers of ten alone would not say that the axis is logarithmic.
  if (fine.length <= most || coarse.length < 3) return fine;
  const step = Math.ceil(coarse.length / most);
  return coarse.filter((_, index) => index % step === 0);
}

/** Returns the ticks of a linear axis: multiples of 1, 2 or 5 times a power of ten. */
export function linearTicks(least: number, greatest: number, most = ticksMax): readonly number[] {
  // Halving keeps the difference of the largest numbers finite.
  const raw = (2 * (greatest / 2 - least / 2)) / Math.max(1, most - 1);
  if (!(raw > 0) || !Number.isFinite(raw)) return [];
  const power = Math.floor(Math.log10(raw));
  const digit = [1, 2, 5, 10].find((one) => times(one, power) >= raw * (1 - 1e-9)) ?? 10;
  const step = times(digit, power);
  const from = Math.ceil(least / step - 1e-9);
  const to = Math.floor(greatest / step + 1e-9);
  // The product of a step such as 0.1 is rounded to the digits of the step.
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) =>
    rounded((from + index) * step),
  );
}

/** The product with a power of ten, written so that 5 times 10 to the -1 is 0.5 exactly. */
const times = (digit: number, power: number): number => Number(`${digit}e${power}`);

const rounded = (value: number): number => Number(value.toPrecision(12));
