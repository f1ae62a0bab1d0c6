/**
 * The state of the early-stopping policies, folded from the search's own events beside the algorithm's memory, and only
 * as much as the configured policies need.
 */
import { type Averages, type Course, noAverages, noCourse } from "./averages.ts";
import { noStanding, type Standing } from "./lower-quantile.ts";
import type { Patience } from "./patience.ts";
import { emptyRanking, type Ranking } from "../ranking.ts";

/** The progress of one trial. */
export type Progress = {
  readonly course: Course;
  readonly standing: Standing;
  /** The patience by the number of the policy, see `rulesOf`: a patience, or reports in a row in the lower quantile. */
  readonly patience: readonly (Patience | null)[];
  readonly streaks: readonly number[];
  /** When its run started that has not ended; null for none. */
  readonly runningSince: number | null;
};

/** The use of a budget of time: what its runs have taken. Times are milliseconds of the epoch. */
export type Usage = {
  readonly startedAt: number;
  /** The latest time in any event. */
  readonly at: number;
  /** Slot-milliseconds of the runs that have ended. */
  readonly spent: number;
  /** The slots of those that have not, and the sum over them of slots × start. */
  readonly slots: number;
  readonly since: number;
  /** The numbers of the trials that have not ended and were not stopped. */
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
