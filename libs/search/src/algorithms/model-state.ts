/** The state of a model-based searcher: each trial's place in the space, and the best of the ended trials. */
import { TrialOutcome } from "@trainyard/contracts/events";
import { axesOfPlan, placeOf } from "../space/axes.ts";
import type { SearchEvent } from "../events.ts";
import { type RunningSearch, type SearchPlan, trialOf } from "../state.ts";
import type { UndoLog } from "../undo-log.ts";
import {
  endSeveral,
  newSeveral,
  observeSeveral,
  proposeSeveral,
  type SeveralState,
} from "./several-objectives.ts";

/** The most trials that count as good. */
export const GOOD_MAX = 40;

export type Ranked = {
  readonly trial: number;
  /** The trial's best value, negated if larger is better. */
  readonly score: number;
  /** The version of the search at which the value was recorded. */
  readonly at: number;
};

/** Trials of earlier searches have numbers too: the last has 0, the one before it -1. */
export type ModelState = {
  /** The number of trials of earlier searches. */
  readonly earlier: number;
  /** The places of the trials in order, trials of earlier searches first; `placeOfTrial` reads it. */
  readonly places: readonly (readonly number[])[];
  /**
   * The number of ended trials, including those of earlier searches but not canceled ones, whose quality is unknown.
   */
  readonly ended: number;
  /** The best of the trained trials, the best first; of equal ones the earlier is first. */
  readonly ranked: readonly Ranked[];
  /** The state of a search by several metrics; null for one metric. */
  readonly several: SeveralState | null;
};

/** The state at the start of a search, with the results of earlier searches. */
export function newModelState(plan: SearchPlan): ModelState {
  const { earlier, metric } = plan;
  let ranked: readonly Ranked[] = [];
  for (const [index, { values }] of earlier.entries()) {
    const trial = index + 1 - earlier.length;
    ranked = rankedWith(ranked, trial, values[metric] ?? Number.NaN, 0, plan);
  }
  const axes = axesOfPlan(plan);
  return {
    earlier: earlier.length,
    places: earlier.map(({ hyperparameters = {} }) => placeOf(axes, hyperparameters)),
    ended: earlier.length,
    ranked,
    several: newSeveral(plan),
  };
}

export function placeOfTrial({ places, earlier }: ModelState, trial: number): readonly number[] {
  return places[trial - 1 + earlier] ?? [];
}

export function applyToModel(
  search: RunningSearch<ModelState>,
  event: SearchEvent,
  undo: UndoLog,
): void {
  const { memory, plan } = search;
  const { several } = memory;
  const rank = (trial: number, value: number, at: number): void =>
    undo.set(memory, "ranked", rankedWith(memory.ranked, trial, value, at, plan));
  switch (event.type) {
    case "TrialProposed":
      undo.push(memory.places, placeOf(axesOfPlan(plan), event.data.hyperparameters ?? {}));
      if (several !== null) proposeSeveral(several, undo);
      break;
    case "TrialOutcomeRecorded": {
      const { trial: number, outcome } = event.data;
      if (outcome === TrialOutcome.CANCELED) break;
      undo.set(memory, "ended", memory.ended + 1);
      if (!wasTrained(outcome)) break;
      if (several !== null) endSeveral(several, number, undo);
      const { best = null, bestAt = 0 } = trialOf(search, number) ?? {};
      if (best !== null) rank(number, best, bestAt);
      break;
    }
    case "SearchContinued": {
      const failed = event.data.trials.filter(
        (number) => trialOf(search, number)?.outcome === TrialOutcome.FAILED,
      );
      undo.set(memory, "ended", memory.ended - failed.length);
      break;
    }
    case "ObservationRecorded": {
      // A report may arrive after the end of its trial and change the trial's rank.
      const { trial: number, values, repeat } = event.data;
      const trial = trialOf(search, number);
      const value = values[plan.metric];
      if (repeat || trial === undefined || value === undefined) break;
      const isTrained = wasTrained(trial.outcome);
      if (several !== null) observeSeveral(several, plan, number, values, isTrained, undo);
      if (isTrained) rank(number, value, search.version + 1);
      break;
    }
    default:
  }
}

function wasTrained(outcome: TrialOutcome): boolean {
  return outcome === TrialOutcome.COMPLETED || outcome === TrialOutcome.STOPPED_EARLY;
}

/** Inserts the trial by its value, unless it is ranked higher already. */
function rankedWith(
  ranked: readonly Ranked[],
  trial: number,
  value: number,
  at: number,
  { smallerIsBetter }: SearchPlan,
): readonly Ranked[] {
  if (!Number.isFinite(value)) return ranked;
  const entry = { trial, score: smallerIsBetter ? value : -value, at };
  const before = ranked.find((other) => other.trial === trial);
  if (before !== undefined && before.score <= entry.score) return ranked;
  const others = ranked.filter((other) => other.trial !== trial);
  const place = others.findIndex((other) => isBefore(entry, other));
  return others.toSpliced(place === -1 ? others.length : place, 0, entry).slice(0, GOOD_MAX);
}

function isBefore(a: Ranked, b: Ranked): boolean {
  return a.score < b.score || (a.score === b.score && a.at < b.at);
}
