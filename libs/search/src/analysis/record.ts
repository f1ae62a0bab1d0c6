/** A search's trials with their hyperparameters and best values, for analyses. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace, JsonObject } from "@trainyard/experiment-config";
import { isBetter } from "../best.ts";
import type { SearchEvent } from "../events.ts";
import { type Objective, objectivesOf, scoresOf, valuesOfAll } from "../objectives.ts";
import { paretoFront } from "./pareto.ts";

export type TrialRecord = {
  readonly trial: number;
  readonly hyperparameters: JsonObject;
  /** The best finite value of the metric; null for none. */
  best: number | null;
  /** The values of all objectives in the last report that had them finite; null before there was one. */
  values: readonly number[] | null;
  /** The last time at which it was observed. */
  time: number;
  /** False where the hyperparameters turned out to be invalid. */
  counts: boolean;
  /** A trial that failed is never the best, but its values count for the importance of hyperparameters. */
  failed: boolean;
};

/** A value better than those that its trial had before. */
export type BestOfTrial = {
  readonly trial: number;
  readonly value: number;
  /** The trial's own time. */
  readonly time: number;
  /** When it was recorded, in milliseconds since 1970. */
  readonly atMs: number;
  /** Observations of all trials up to this one, and the sum of the times that all trials had reached. */
  readonly observations: number;
  readonly units: number;
};

/** Takes a search's events in their order. */
export class SearchRecord {
  space: HyperparameterSpace = {};
  metric = "";
  smallerIsBetter = true;
  /** The first is the metric. */
  objectives: readonly Objective[] = [];
  /** Events taken, which is the version of the stream. */
  version = 0;
  /** Trial number n at n - 1. */
  readonly trials: TrialRecord[] = [];
  readonly bests: BestOfTrial[] = [];
  #observations = 0;
  #units = 0;

  /** The search's time: the training of all trials so far, in the search's unit. */
  get units(): number {
    return this.#units;
  }

  add(event: SearchEvent, atMs: number): void {
    this.version += 1;
    switch (event.type) {
      case "SearchStarted":
        this.space = (event.data.space ?? {}) as HyperparameterSpace;
        this.metric = event.data.metric;
        this.smallerIsBetter = event.data.smallerIsBetter;
        this.objectives = objectivesOf({ ...event.data, searcher: event.data.searcher ?? {} });
        break;
      case "TrialProposed": {
        const { number: trial, hyperparameters = {} } = event.data;
        this.trials.push({
          trial,
          hyperparameters,
          best: null,
          values: null,
          time: 0,
          counts: true,
          failed: false,
        });
        break;
      }
      case "ObservationRecorded":
        if (!event.data.repeat) this.#observe(event.data, atMs);
        break;
      case "TrialOutcomeRecorded": {
        const trial = this.trials[event.data.trial - 1];
        const { outcome } = event.data;
        if (trial === undefined) break;
        trial.counts = outcome !== TrialOutcome.INVALID_HYPERPARAMETERS;
        trial.failed = outcome === TrialOutcome.FAILED;
        break;
      }
      default:
        break;
    }
  }

  #observe(
    data: Extract<SearchEvent, { type: "ObservationRecorded" }>["data"],
    atMs: number,
  ): void {
    const { trial: number, time, values } = data;
    const trial = this.trials[number - 1];
    if (trial === undefined) return;
    this.#observations += 1;
    this.#units += Math.max(0, time - trial.time);
    trial.time = Math.max(trial.time, time);
    trial.values = valuesOfAll(this.objectives, values) ?? trial.values;
    const value = values[this.metric];
    if (value === undefined || !isBetter(value, trial.best, this.smallerIsBetter)) return;
    trial.best = value;
    const [observations, units] = [this.#observations, this.#units];
    this.bests.push({ trial: number, value, time, atMs, observations, units });
  }
}

function canBeBest({ counts, failed }: TrialRecord): boolean {
  return counts && !failed;
}

/** Each value that was the best of all trials when it came, the first of equals, in their order. */
export function bestSoFar({
  bests,
  trials,
  smallerIsBetter,
}: SearchRecord): readonly BestOfTrial[] {
  const improvements: BestOfTrial[] = [];
  for (const best of bests) {
    const before = improvements.at(-1)?.value ?? null;
    const trial = trials[best.trial - 1];
    if (trial !== undefined && canBeBest(trial) && isBetter(best.value, before, smallerIsBetter))
      improvements.push(best);
  }
  return improvements;
}

/** A trial with its values of all objectives. */
export type Rated = TrialRecord & { readonly values: readonly number[] };

export type ParetoTrials = {
  readonly objectives: readonly Objective[];
  /**
   * Those with values of all objectives that did not fail and whose hyperparameters were not invalid, in their order.
   */
  readonly rated: readonly Rated[];
  /** Those of them that no other dominates. */
  readonly front: readonly Rated[];
};

/** The trials that are best where none of the objectives counts more than another. */
export function paretoTrials({ trials, objectives }: SearchRecord): ParetoTrials {
  const rated = trials.filter((trial): trial is Rated => canBeBest(trial) && trial.values !== null);
  const front = paretoFront(rated.map(({ values }) => scoresOf(objectives, values)));
  return { objectives, rated, front: front.map((index) => rated[index] as Rated) };
}
