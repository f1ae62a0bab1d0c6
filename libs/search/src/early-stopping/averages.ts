/**
 * Compares a trial with the others at a time, as Google Vizier's median rule does (Golovin et al., KDD 2017, §3.2.2):
 * the trial's best value so far, with the running averages, up to that time, of the others that have reported at or
 * beyond it.
 *
 * Each time of comparison has a ranking of the averages up to it. A report inserts its trial into the rankings of the
 * times since its last report: a single one if all trials report at the same times.
 *
 * If every trial has its own times (seconds, for instance), only the first times become times of comparison, and after
 * those some at growing distances. A report between two is compared at the earlier one. The result is exact: a ranking
 * always contains every trial that has reached its time.
 */
import {
  type Entry,
  emptyRanking,
  entriesBetween,
  insert,
  placeOf,
  type Ranking,
} from "../ranking.ts";
import type { UndoLog } from "../undo-log.ts";
import { WORST } from "./ranked.ts";

/** The number of times that become times of comparison unconditionally, more than most trainings have validations. */
const TIMES_MAX = 128;
/** Beyond `TIMES_MAX`, a new time must be later than the last by this factor of it. */
const GROWTH = 1 / 16;
/**
 * A time that trials have already passed becomes one of comparison only if at most this many trials must be checked.
 */
const PASSED_MAX = 1_000;

export type Averages = {
  /** The times of comparison in increasing order; each has its ranking at the same index of `rankings`. */
  readonly times: readonly number[];
  readonly rankings: readonly Ranking[];
  /** The latest time that any trial has reported. */
  readonly latest: number;
};

/** The reports of one trial in sums and averages; all values are ranked values. */
export type Course = {
  /** The time of the last report; the smallest integer before any report. */
  readonly time: number;
  readonly count: number;
  readonly sum: number;
  readonly best: number;
  /** The last time of comparison that the trial has reached, and its average up to it; null for none. */
  readonly compared: { readonly at: number; readonly average: number } | null;
};

export function noAverages(): Averages {
  return { times: [], rankings: [], latest: Number.MIN_SAFE_INTEGER };
}

export const noCourse: Course = {
  time: Number.MIN_SAFE_INTEGER,
  count: 0,
  sum: 0,
  best: WORST,
  compared: null,
};

function averageOf({ count, sum }: Course): number {
  return sum >= WORST ? WORST : sum / count;
}

/** Returns the course with one more report, which must be later than the last. */
export function gone(course: Course, time: number, value: number): Course {
  const sum = value >= WORST || course.sum >= WORST ? WORST : course.sum + value;
  return {
    time,
    count: course.count + 1,
    sum: Math.max(-WORST, Math.min(WORST, sum)),
    best: Math.min(course.best, value),
    compared: course.compared,
  };
}

/**
 * Ranks a trial after a report that changed its course, and returns the course with its new comparison. `lastTimeOf`
 * returns the last time of a trial.
 */
export function advance(
  averages: Averages,
  trial: number,
  from: Course,
  to: Course,
  lastTimeOf: (trial: number) => number,
  undo: UndoLog,
): Course {
  openTime(averages, to.time, lastTimeOf, undo);
  const { times, rankings, latest } = averages;
  let { compared } = to;
  for (let i = lastAtOrBefore(times, from.time) + 1; i < times.length; i += 1) {
    const at = times[i] as number;
    if (at > to.time) break;
    const upTo = at === to.time ? to : from;
    if (upTo.count === 0) continue;
    const average = averageOf(upTo);
    insert(undo, rankings[i] as Ranking, { value: average, order: trial, trial });
    compared = { at, average };
  }
  undo.set(averages, "latest", Math.max(latest, to.time));
  return { ...to, compared };
}

/** The index of the last time that is not after this one; -1 for none. */
function lastAtOrBefore(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Makes the time one of comparison, unless it is one already or the limits are reached. */
function openTime(
  { times, rankings, latest }: Averages,
  time: number,
  lastTimeOf: (trial: number) => number,
  undo: UndoLog,
): void {
  const before = lastAtOrBefore(times, time);
  if (times[before] === time) return;
  const ranking = rankings[before];
  const passed = time <= latest && ranking !== undefined;
  if (times.length >= TIMES_MAX) {
    const last = times[times.length - 1] as number;
    if (time <= latest || time - last < Math.abs(last) * GROWTH) return;
  } else if (passed && ranking.size > PASSED_MAX) {
    return;
  }
  const opened = emptyRanking();
  if (passed) {
    // Until the limits are reached, every report's time is one of comparison, so no trial reported between the previous
    // time and this one. A trial that passed the previous time has also reached this one, with the same average.
    const after = times[before] as number;
    for (const entry of entriesBetween(ranking, 0, ranking.size)) {
      if (lastTimeOf(entry.trial) > after) insert(undo, opened, entry);
    }
  }
  undo.splice(times, before + 1, 0, time);
  undo.splice(rankings, before + 1, 0, opened);
}

export type Comparison = {
  /** The time of comparison. */
  readonly at: number;
  /** The number of other trials that have reached the time of comparison. */
  readonly others: number;
  /** The percentile of the others' averages, interpolated between two of them. */
  readonly cutoff: number;
  /** Counts the others whose average is better than the trial's best value. */
  readonly better: () => number;
  /** Returns this many of the others around the cutoff. */
  readonly neighbours: (shown: number) => readonly Entry[];
};

/** Returns null before the first time of comparison, and with fewer others than required. */
export function comparison(
  averages: Averages,
  trial: number,
  course: Course,
  percentile: number,
  othersMin: number,
): Comparison | null {
  const index = lastAtOrBefore(averages.times, course.time);
  const at = averages.times[index];
  if (at === undefined) return null;
  const ranking = averages.rankings[index] as Ranking;
  const own = course.compared?.at === at ? course.compared.average : null;
  const others = ranking.size - (own === null ? 0 : 1);
  if (others < Math.max(1, othersMin)) return null;
  const position = (percentile / 100) * (others - 1);
  const low = Math.floor(position);
  const [first, second = first] = othersFrom(ranking, low, trial, own);
  return {
    at,
    others,
    cutoff: between(first?.value ?? WORST, second?.value ?? WORST, position - low),
    better: () => {
      const before = placeOf(ranking, { value: course.best, order: 0, trial: 0 });
      return before - (own !== null && own < course.best ? 1 : 0);
    },
    neighbours: (shown) => {
      const from = Math.max(0, Math.min(low - shown / 2 + 1, others - shown));
      const near = entriesBetween(ranking, from, from + shown + 1);
      return near.filter((entry) => entry.trial !== trial).slice(0, shown);
    },
  };
}

/**
 * Returns two or three of the other trials in order, from an index among them. If the trial itself ranks before that
 * index, the entries in the ranking are shifted by one, so the first entry is left out; otherwise the trial is.
 */
function othersFrom(
  ranking: Ranking,
  place: number,
  trial: number,
  own: number | null,
): readonly Entry[] {
  const near = entriesBetween(ranking, place, place + 3);
  const [first] = near;
  if (own === null || first === undefined) return near;
  const isBefore = own < first.value || (own === first.value && trial < first.order);
  const left = isBefore ? first.trial : trial;
  return near.filter((entry) => entry.trial !== left);
}

/** Interpolates between two ranked values; if the higher one is not finite, so is the result. */
function between(low: number, high: number, share: number): number {
  if (share === 0 || low === high) return low;
  return high >= WORST ? WORST : low + (high - low) * share;
}
