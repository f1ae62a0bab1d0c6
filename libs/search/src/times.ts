/**
 * The times of a trial's reports that arrived in increasing order. They are stored as runs of equal intervals: a single
 * run for most trials, however long they train.
 */
import type { UndoLog } from "./undo-log.ts";

/** A sequence of `count` times from `first`, each `step` after the one before. */
export type Run = { readonly first: number; readonly step: number; readonly count: number };

export type Times = Run & {
  /** The runs before the last run. */
  readonly earlier: readonly Run[];
};

export const noTimes: Times = { first: 0, step: 0, count: 0, earlier: [] };

function lastOf({ first, step, count }: Run): number {
  return first + step * (count - 1);
}

/** The latest time; null for none. */
export function lastTime(times: Times): number | null {
  return times.count === 0 ? null : lastOf(times);
}

/** Whether the time is later than all others. */
export function isLater(times: Times, time: number): boolean {
  return times.count === 0 || time > lastOf(times);
}

/**
 * Returns the times with a later one added. The list of earlier runs grows in place, so the old value must not be used
 * again.
 */
export function withLater(undo: UndoLog, times: Times, time: number): Times {
  const { first, step, count, earlier } = times;
  if (count === 0) return { first: time, step: 0, count: 1, earlier };
  if (count === 1 && first + (time - first) === time) {
    return { first, step: time - first, count: 2, earlier };
  }
  // A time belongs to the run only if the run's numbers reproduce it exactly.
  if (count > 1 && first + step * count === time) return { first, step, count: count + 1, earlier };
  const run = { first, step, count };
  // The first entry needs a list of its own, since all trials start with the same empty list.
  if (earlier.length > 0) undo.push(earlier, run);
  return { first: time, step: 0, count: 1, earlier: earlier.length > 0 ? earlier : [run] };
}

/** Yields all times in order. */
export function* timesOf(times: Times): Generator<number> {
  for (const { first, step, count } of [...times.earlier, times]) {
    for (let i = 0; i < count; i += 1) yield first + i * step;
  }
}

export function includesTime(times: Times, time: number): boolean {
  if (times.count === 0) return false;
  if (time >= times.first) return isIn(times, time);
  let low = 0;
  let high = times.earlier.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((times.earlier[middle] as Run).first <= time) low = middle;
    else high = middle - 1;
  }
  const run = times.earlier[low];
  return run !== undefined && isIn(run, time);
}

function isIn(run: Run, time: number): boolean {
  const { first, step, count } = run;
  if (count === 1) return time === first;
  const nearest = Math.min(count - 1, Math.max(0, Math.round((time - first) / step)));
  return first + step * nearest === time;
}
