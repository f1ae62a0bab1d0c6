/** Ranges of a chart's axes and positions on them. A range is [minimum, maximum]. */
import type { Line } from "./line.ts";

export type Range = readonly [number, number];

/** The distances that labels on an axis of whole numbers may have. */
export const wholeIncrements: number[] = Array.from({ length: 15 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();

/** The range of x over all lines; null without points. */
export function xRangeOf(lines: readonly Line[]): Range | null {
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const { x } of lines) {
    const first = x[0];
    const last = x.at(-1);
    if (first === undefined || last === undefined) continue;
    if (first < from) from = first;
    if (last > to) to = last;
  }
  if (from > to) return null;
  return from === to ? [from - 0.5, to + 0.5] : [from, to];
}

/** The indexes of the entries of a sorted list that are drawn for a range: those within it and one beyond each end. */
export function slice(x: readonly number[], [from, to]: Range): readonly [number, number] {
  return [Math.max(0, firstAtLeast(x, from) - 1), Math.min(x.length, firstAtLeast(x, to) + 2)];
}

/** The first index whose value is at least `least`; the length if there is none. */
export function firstAtLeast(x: readonly number[], least: number): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((x[middle] ?? Number.POSITIVE_INFINITY) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The range of y for the lines within a range of x, with a margin. On a logarithmic axis only values above 0 have a
 * position. Without any value the range is [0, 1], or [1, 10].
 */
export function yRangeOf(lines: readonly Line[], x: Range, log: boolean): Range {
  const floor = log ? Number.MIN_VALUE : Number.NEGATIVE_INFINITY;
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  for (const line of lines) {
    const from = firstAtLeast(line.x, x[0]);
    const { low, high } = line;
    for (let index = from; index < line.x.length; index += 1) {
      if ((line.x[index] ?? x[1]) > x[1]) break;
      const bottom = low[index] ?? Number.NaN;
      const top = high[index] ?? Number.NaN;
      if (!(top >= floor)) continue;
      least = Math.min(least, bottom >= floor ? bottom : top);
      greatest = Math.max(greatest, top);
    }
  }
  if (least > greatest) return log ? [1, 10] : [0, 1];
  return log ? airOfLog(least, greatest) : air(least, greatest);
}

function air(least: number, greatest: number): Range {
  const span = greatest - least;
  const pad = span > 0 ? span * 0.05 : Math.abs(least) * 0.05 || 0.5;
  // The margin does not extend below zero for a loss near zero.
  const bottom = least >= 0 && least - pad < 0 ? 0 : least - pad;
  return Number.isFinite(span) ? [bottom, greatest + pad] : [least, greatest];
}

function airOfLog(least: number, greatest: number): Range {
  const factor = greatest > least ? (greatest / least) ** 0.05 : 2;
  const top = greatest * factor;
  return [Math.max(least / factor, Number.MIN_VALUE), Number.isFinite(top) ? top : greatest];
}

/** Maps a value to its share of the axis, 0 at the range's start; NaN for a value without a position. */
export function shareOf(value: number, [from, to]: Range, log: boolean): number {
  if (!log) return (value - from) / (to - from);
  return value > 0
    ? (Math.log(value) - Math.log(from)) / (Math.log(to) - Math.log(from))
    : Number.NaN;
}
