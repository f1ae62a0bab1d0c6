/** What a searcher that follows a model remembers: where each trial lies, and the best of those that have ended. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { Json } from "@trainyard/experiment-config";
import { type Axis, axesOf, placeOf } from "../space/axes.ts";
import type { SearchEvent } from "../events.ts";
import { type RunningSearch, type SearchPlan, trialOf } from "../state.ts";
import {
  endedSeveral,
  initialSeveral,
  observedSeveral,
  proposedSeveral,
  type SeveralMemory,
} from "./several-objectives.ts";
import { emptyVector, itemAt, pushed, type Vector } from "../persistent/vector.ts";

/** Trials that count as good, at most. */
export const GOOD_MAX = 40;

export type Ranked = {
  readonly trial: number;
  /** The trial's best value, negated where larger is better. */
  readonly score: number;
  /** The version of the search at which it was recorded. */
  readonly at: number;
};

/** Trials of earlier searches are numbered too: the last of them 0, the one before it -1. */
export type ModelMemory = {
  /** How many trials of earlier searches there are. */
  readonly earlier: number;
  /** The places of the trials in their order, those of earlier searches first: `placeOfTrial`. */
  readonly places: Vector<readonly number[]>;
  /** Trials that have ended, those of earlier searches included, save those that somebody canceled: of these nothing is known. */
  readonly ended: number;
  /** The best of those that were trained, the best first, of equals the earlier. */
  readonly ranked: readonly Ranked[];
  /** Of a search by several metrics. */
  readonly several: SeveralMemory | null;
};

/** Knows what earlier searches found. */
export function initialModelMemory(plan: SearchPlan): Json {
  const { earlier, metric } = plan;
  let memory: ModelMemory = {
    earlier: earlier.length,
    places: emptyVector(),
    ended: earlier.length,
    ranked: [],
    several: initialSeveral(plan),
  };
  for (const [index, { hyperparameters = {}, values }] of earlier.entries()) {
    const place = placeOf(axesOfPlan(plan), hyperparameters);
    const trial = index + 1 - earlier.length;
    memory = { ...memory, places: pushed(memory.places, place) };
    memory = ranked(memory, trial, values[metric] ?? Number.NaN, 0, plan);
  }
  return memory as unknown as Json;
}

export function placeOfTrial({ places, earlier }: ModelMemory, trial: number): readonly number[] {
  return itemAt(places, trial - 1 + earlier) ?? [];
}

export function modelMemory(memory: Json): ModelMemory {
  return memory as unknown as ModelMemory;
}

const knownAxes = new WeakMap<SearchPlan, readonly Axis[]>();

/** The axes of a plan, kept for as long as the plan is: they follow from it. */
export function axesOfPlan(plan: SearchPlan): readonly Axis[] {
  const axes = knownAxes.get(plan) ?? axesOf(plan.space);
  knownAxes.set(plan, axes);
  return axes;
}

export function evolveModelMemory(json: Json, event: SearchEvent, search: RunningSearch): Json {
  return evolved(modelMemory(json), event, search) as unknown as Json;
}

function evolved(memory: ModelMemory, event: SearchEvent, search: RunningSearch): ModelMemory {
  switch (event.type) {
    case "TrialProposed": {
      const place = placeOf(axesOfPlan(search.plan), event.data.hyperparameters ?? {});
      const { several } = memory;
      return {
        ...memory,
        places: pushed(memory.places, place),
        several: several === null ? null : proposedSeveral(several),
      };
    }
    case "TrialOutcomeRecorded": {
      const { trial: number, outcome } = event.data;
      if (outcome === TrialOutcome.CANCELED) return memory;
      const trial = trialOf(search, number);
      const { several } = memory;
      const isContender = several !== null && wasTrained(outcome);
      const after = {
        ...memory,
        ended: memory.ended + 1,
        several: isContender ? endedSeveral(several, number) : several,
      };
      if (!wasTrained(outcome) || trial === undefined || trial.best === null) return after;
      return ranked(after, number, trial.best, trial.bestAt, search.plan);
    }
    case "ObservationRecorded": {
      // A report may come after the end of its trial, which then has another rank.
      const { trial: number, values, repeat } = event.data;
      const trial = trialOf(search, number);
      const value = values[search.plan.metric];
      if (repeat || trial === undefined || value === undefined) return memory;
      const isTrained = wasTrained(trial.outcome);
      const after = withReport(memory, search.plan, number, values, isTrained);
      if (!isTrained) return after;
      return ranked(after, number, value, search.version + 1, search.plan);
    }
    default:
      return memory;
  }
}

function withReport(
  memory: ModelMemory,
  plan: SearchPlan,
  trial: number,
  values: Readonly<Record<string, number>>,
  isTrained: boolean,
): ModelMemory {
  const { several } = memory;
  if (several === null) return memory;
  return { ...memory, several: observedSeveral(several, plan, trial, values, isTrained) };
}

function wasTrained(outcome: TrialOutcome): boolean {
  return outcome === TrialOutcome.COMPLETED || outcome === TrialOutcome.STOPPED_EARLY;
}

/** With the trial where its value puts it, unless it stands better already. */
function ranked(
  memory: ModelMemory,
  trial: number,
  value: number,
  at: number,
  { smallerIsBetter }: SearchPlan,
): ModelMemory {
  if (!Number.isFinite(value)) return memory;
  const entry = { trial, score: smallerIsBetter ? value : -value, at };
  const before = memory.ranked.find((other) => other.trial === trial);
  if (before !== undefined && before.score <= entry.score) return memory;
  const others = memory.ranked.filter((other) => other.trial !== trial);
  const place = others.findIndex((other) => isBefore(entry, other));
  const all = others.toSpliced(place === -1 ? others.length : place, 0, entry);
  return { ...memory, ranked: all.slice(0, GOOD_MAX) };
}

function isBefore(a: Ranked, b: Ranked): boolean {
  return a.score < b.score || (a.score === b.score && a.at < b.at);
}
