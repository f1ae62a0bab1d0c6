/**
 * The state of the early-stopping policies, folded from the search's events beside the algorithm's memory. It holds
 * only the parts that the configured policies need.
 */
import { type Averages, type Course, noAverages, noCourse } from "./averages.ts";
import { noStanding, type Standing } from "./lower-quantile.ts";
import type { Patience } from "./patience.ts";
import { emptyRanking, type Ranking } from "../ranking.ts";

/** The progress of one trial. */
export type Progress = {
  readonly course: Course;
  readonly standing: Standing;
  /**
   * The patience of each no_improvement policy, and the consecutive reports in the lower quantile of each pbt policy,
   * by `rulesOf` number.
   */
  readonly patience: readonly (Patience | null)[];
  readonly streaks: readonly number[];
  /** The start of the trial's running run; null for none. */
  readonly runningSince: number | null;
};

/** The usage of a budget of time. Times are in milliseconds since 1970. */
export type Usage = {
  readonly startedAt: number;
  /** The latest time of any event. */
  readonly at: number;
  /** The slot-milliseconds of ended runs. */
  readonly spent: number;
  /** The slots of running runs, and the sum of slots × start over these. */
  readonly slots: number;
  readonly since: number;
  /** The numbers of the trials that have neither ended nor been stopped. */
  readonly open: Ranking;
};

export type EarlyStoppingState = {
  readonly trials: readonly Progress[];
  readonly averages: Averages;
  readonly population: Ranking;
  readonly usage: Usage;
};

export const noProgress: Progress = {
  course: noCourse,
  standing: noStanding,
  patience: [],
  streaks: [],
  runningSince: null,
};

export function startedPolicies(startedAt: number): EarlyStoppingState {
  return {
    trials: [],
    averages: noAverages(),
    population: emptyRanking(),
    usage: { startedAt, at: startedAt, spent: 0, slots: 0, since: 0, open: emptyRanking() },
  };
}

export function progressOf(memory: EarlyStoppingState, trial: number): Progress {
  return memory.trials[trial - 1] ?? noProgress;
}
