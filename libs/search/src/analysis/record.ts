/** A search's trials with their hyperparameters and best values, for analyses. */
import { TrialOutcome } from "@trainyard/contracts/events";
import {
  type HyperparameterSpace,
  type JsonObject,
  readSearcher,
} from "@trainyard/experiment-config";
import { isBetter } from "../best.ts";
import type { SearchEvent } from "../events.ts";
import { type Objective, objectivesOf, scoresOf, valuesOfAll } from "../objectives.ts";
import { paretoFront } from "./pareto.ts";

export type TrialRecord = {
  readonly trial: number;
  readonly hyperparameters: JsonObject;
  /** The best finite value of the metric; null for none. */
  best: number | null;
  /** The values of all objectives in the last report that had them all finite; null before such a report. */
  values: readonly number[] | null;
  /** The latest time of the trial's observations. */
  time: number;
  /** False if the hyperparameters proved invalid. */
  counts: boolean;
  /**
   * Whether the trial failed: it is then never the best, but its values count for the importance of hyperparameters.
   */
  failed: boolean;
};

/** A value of a trial that is better than the trial's earlier values. */
export type BestOfTrial = {
  readonly trial: number;
  readonly value: number;
  /** The trial's time at the observation. */
  readonly time: number;
  /** The time of the recording event in milliseconds since 1970. */
  readonly atMs: number;
  /** The number of observations of all trials so far, and the sum of the times that all trials had reached. */
  readonly observations: number;
  readonly units: number;
};

/** Collects trials and best values from the events of a search, taken in order. */
export class SearchRecord {
  space: HyperparameterSpace = {};
  metric = "";
  smallerIsBetter = true;
  /** The objectives of the search; the first is the metric. */
  objectives: readonly Objective[] = [];
  /** The number of events taken, which is the stream's version. */
  version = 0;
  /** The trials by number: trial n is at index n - 1. */
  readonly trials: TrialRecord[] = [];
  readonly bests: BestOfTrial[] = [];
  #observations = 0;
  #units = 0;

  /** The search's time: the training of all trials so far, in the search's unit. */
  get units(): number {
    return this.#units;
  }

  /** The number of observations of all trials so far. */
  get observations(): number {
    return this.#observations;
  }

  add(event: SearchEvent, atMs: number): void {
    this.version += 1;
    switch (event.type) {
      case "SearchStarted":
        this.space = (event.data.space ?? {}) as HyperparameterSpace;
        this.metric = event.data.metric;
        this.smallerIsBetter = event.data.smallerIsBetter;
        this.objectives = objectivesOf(readSearcher(event.data.searcher));
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

/** Returns each value that was the best of all trials when it was recorded, in order; equal values do not count. */
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
  /** The trials with values of all objectives that neither failed nor had invalid hyperparameters, in order. */
  readonly rated: readonly Rated[];
  /** The rated trials that no other rated trial dominates. */
  readonly front: readonly Rated[];
};

/** Returns the trials that are best when all objectives are equally important. */
export function paretoTrials({ trials, objectives }: SearchRecord): ParetoTrials {
  const rated = trials.filter((trial): trial is Rated => canBeBest(trial) && trial.values !== null);
  const front = paretoFront(rated.map(({ values }) => scoresOf(objectives, values)));
  return { objectives, rated, front: front.map((index) => rated[index] as Rated) };
}
