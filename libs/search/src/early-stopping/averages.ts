/**
 * How a trial compares with the others at a time, as Google Vizier's median rule does (Golovin et al., KDD 2017,
 * §3.2.2): its best value so far with the running averages, up to that time, of the others that have reported at or
 * beyond it.
 *
 * For each time at which trials report there is a ranking of the averages up to it. A report brings its trial into the
 * rankings of the times since its last report: one, where all report at the same times. Times that many reports share
 * are few; where every trial has its own (seconds, for instance), only the first ones become times of comparison, after
 * them some at growing distances, and a report in between is compared at the last one before it. All of this is exact:
 * a ranking always holds every trial that has come as far.
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

/** Times of comparison that are taken as they come: more than most trainings have validations. */
const TIMES_MAX = 128;
/** Beyond these a new one must be so much later than the last, relative to it. */
const GROWTH = 1 / 16;
/** A time that trials have passed already is opened only where so many must be looked through. */
const PASSED_MAX = 1_000;

export type Averages = {
  /** Times in increasing order; `rankings` has the ranking of each at the same index. */
  readonly times: readonly number[];
  readonly rankings: readonly Ranking[];
  /** The last time that any trial has reported. */
  readonly latest: number;
};

/** The course of one trial. Sums and averages are of ranked values. */
export type Course = {
  /** The last report's time; the smallest integer for none. */
  readonly time: number;
  readonly count: number;
  readonly sum: number;
  readonly best: number;
  /** The average up to the last time of comparison that it has reached; null for none. */
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

/** The course with one more report, which is later than the last. */
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
 * Ranks a trial after a report that led from one course to the next, and returns the course as it is compared from then
 * on. `lastTimeOf` says how far a trial has come.
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

/** Makes the time one of comparison, unless it is one or there are too many. */
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
    // Every time so far is one of comparison, so nobody reported between the last one and this: a trial that went
    // beyond the last has reached this one too, with the same average.
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
  /** How many others have reached it. */
  readonly others: number;
  /** The value up to which the best so many percent of the others come, interpolated between two of them. */
  readonly cutoff: number;
  /** How many of the others have a better average than the trial's best value. */
  readonly better: () => number;
  /** So many of the others around the cutoff. */
  readonly neighbours: (shown: number) => readonly Entry[];
};

/** Null where there is no time of comparison yet, or fewer others than asked for. */
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
 * Two or three of the others in order, from a place among them on. A place among the others is the same in the ranking,
 * or the next one where the trial itself comes before: so the first one is left out then, or the trial, where it is
 * there.
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

/** A value that is not finite is beyond any distance. */
function between(low: number, high: number, share: number): number {
  if (share === 0 || low === high) return low;
  return high >= WORST ? WORST : low + (high - low) * share;
}
