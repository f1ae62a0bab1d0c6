/**
 * The trials of earlier searches that a search learns from: their points and results. They are read once, at the start,
 * and recorded in the search's first event; later changes of the earlier experiments have no effect.
 */
import type { EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import {
  type HyperparameterSpace,
  type JsonObject,
  whyNoValue,
} from "@trainyard/experiment-config";
import { isBetter } from "./best.ts";
import type { SearchEvent } from "./events.ts";
import { type ComparedBy, type Objective, objectivesOf, valuesOfAll } from "./objectives.ts";
import { fullPoint } from "./space/space.ts";
import { putAtKeys, valueAtKeys, withoutAbsent } from "./space/rules/conditions.ts";

export type EarlierTrials = NonNullable<EventData<"SearchStarted">["earlier"]>;
export type EarlierTrial = EarlierTrials["trials"][number];

/** Reads the events of a search, in order, and extracts the results of its trials. */
export class EarlierReader {
  readonly #experiment: string;
  readonly #wanted: ComparedBy;
  readonly #objectives: readonly Objective[];
  readonly #points = new Map<number, JsonObject>();
  readonly #best = new Map<number, number>();
  /** The values of each trial's last report with all metrics, for a search by several. */
  readonly #latest = new Map<number, Readonly<Record<string, number>>>();
  readonly #trained = new Set<number>();
  #metric = "";
  #smallerIsBetter = true;

  constructor(experiment: string, wanted: ComparedBy) {
    this.#experiment = experiment;
    this.#wanted = wanted;
    this.#objectives = objectivesOf(wanted);
  }

  read(event: SearchEvent): void {
    switch (event.type) {
      case "SearchStarted":
        this.#metric = event.data.metric;
        this.#smallerIsBetter = event.data.smallerIsBetter;
        return;
      case "TrialProposed":
        this.#points.set(event.data.number, event.data.hyperparameters ?? {});
        return;
      case "ObservationRecorded": {
        const { trial, values, repeat } = event.data;
        const value = values[this.#metric];
        if (repeat || value === undefined) return;
        if (valuesOfAll(this.#objectives, values) !== null) this.#latest.set(trial, values);
        const before = this.#best.get(trial) ?? null;
        if (isBetter(value, before, this.#smallerIsBetter)) this.#best.set(trial, value);
        return;
      }
      case "TrialOutcomeRecorded": {
        const { trial, outcome } = event.data;
        const trained =
          outcome === TrialOutcome.COMPLETED || outcome === TrialOutcome.STOPPED_EARLY;
        if (trained) this.#trained.add(trial);
        return;
      }
      default:
        return;
    }
  }

  /** Returns the trained trials with a result, if that search had the same metric and direction. */
  trials(): readonly EarlierTrial[] {
    const { metric, smaller_is_better: smallerIsBetter } = this.#wanted;
    if (metric !== this.#metric || smallerIsBetter !== this.#smallerIsBetter) return [];
    const numbers = [...this.#trained].sort((a, b) => a - b);
    return numbers.flatMap((trial) => {
      const hyperparameters = this.#points.get(trial);
      const values = this.#valuesOf(trial);
      if (hyperparameters === undefined || values === null) return [];
      return [{ experiment: this.#experiment, trial, hyperparameters, values }];
    });
  }

  #valuesOf(trial: number): Record<string, number> | null {
    if (this.#objectives.length === 1) {
      const best = this.#best.get(trial);
      return best === undefined ? null : { [this.#wanted.metric]: best };
    }
    const latest = this.#latest.get(trial);
    if (latest === undefined) return null;
    return Object.fromEntries(this.#objectives.map(({ metric }) => [metric, latest[metric] ?? 0]));
  }
}

/** Returns the point's values for the hyperparameters with a choice; null if one is missing or outside the space. */
export function fitted(space: HyperparameterSpace, point: JsonObject): JsonObject | null {
  const whole = fullPoint(space, (hyperparameter, _path, keys) =>
    hyperparameter.type === "const" ? hyperparameter.val : (valueAtKeys(point, keys) ?? null),
  );
  const there = withoutAbsent(space, whole);
  const chosen: JsonObject = {};
  let fits = true;
  fullPoint(space, (hyperparameter, _path, keys) => {
    if (hyperparameter.type === "const" || valueAtKeys(there, keys) === undefined) return null;
    const value = valueAtKeys(point, keys);
    if (value === undefined || whyNoValue(hyperparameter, value) !== null) fits = false;
    else putAtKeys(chosen, keys, value);
    return null;
  });
  return fits ? chosen : null;
}

/** The most earlier trials if the configuration sets no limit. */
const EARLIER_TRIALS = 500;

/**
 * Returns the trials that fit the space, in order, and at most as many as the configuration and the event allow. If
 * there are more, the better half of the result are the best trials, and the others are spread evenly over the rest, so
 * that the model also learns bad points. `fitsEvent` says whether an event with these trials is small enough.
 */
export function chosenEarlier(
  space: HyperparameterSpace,
  config: {
    readonly metric: string;
    readonly smaller_is_better: boolean;
    readonly warm_start?: { readonly max_trials?: number };
  },
  { trials, leftOut }: EarlierTrials,
  fitsEvent: (earlier: EarlierTrials) => boolean,
): EarlierTrials {
  const { metric, smaller_is_better: smallerIsBetter, warm_start: warmStart } = config;
  const fitting = trials.flatMap((trial) => {
    const value = trial.values[metric];
    const hyperparameters = fitted(space, trial.hyperparameters ?? {});
    if (hyperparameters === null || value === undefined || !Number.isFinite(value)) return [];
    return [{ trial: { ...trial, hyperparameters }, score: smallerIsBetter ? value : -value }];
  });
  const order = fitting.map((_, index) => index);
  order.sort((a, b) => (fitting[a]?.score ?? 0) - (fitting[b]?.score ?? 0) || a - b);
  const chosen = (most: number): EarlierTrials => {
    const kept = new Set(spread(order, most));
    const taken = fitting.flatMap(({ trial }, index) => (kept.has(index) ? [trial] : []));
    return { trials: taken, leftOut: leftOut + trials.length - taken.length };
  };
  const most = Math.min(warmStart?.max_trials ?? EARLIER_TRIALS, fitting.length);
  const all = chosen(most);
  return fitsEvent(all) ? all : chosen(mostThatFit(most, (count) => fitsEvent(chosen(count))));
}

/**
 * Returns, by bisection, the largest number up to `most` that fits; with points of very different sizes, nearly the
 * largest.
 */
function mostThatFit(most: number, fits: (count: number) => boolean): number {
  let [low, high] = [0, most];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

function spread(ranked: readonly number[], most: number): readonly number[] {
  if (ranked.length <= most) return ranked;
  const best = ranked.slice(0, Math.ceil(most / 2));
  const others = ranked.slice(best.length);
  const wanted = most - best.length;
  const more = Array.from(
    { length: wanted },
    (_, i) => others[Math.floor(((i + 0.5) * others.length) / wanted)] ?? 0,
  );
  return [...best, ...more];
}
