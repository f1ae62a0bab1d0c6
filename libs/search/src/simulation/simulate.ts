/**
 * Runs a search against a function in virtual time: a trial takes a given duration and reports one value at its end.
 */
import type { JsonObject, NormalisedConfig } from "@trainyard/experiment-config";
import { runSearch, type SimulatedRun } from "./run.ts";

/** The result of a trial: `duration` > 0 is in the world's units, and a value of null means that the trial failed. */
export type TrialResult = { readonly value: number | null; readonly duration: number };

export type World = (hyperparameters: JsonObject, trial: number) => TrialResult;

export type Simulated = Pick<SimulatedRun, "events" | "state"> & {
  /** The trials in the order in which they ended. */
  readonly ended: readonly SimulatedTrial[];
};

export type SimulatedTrial = {
  readonly trial: number;
  readonly hyperparameters: JsonObject;
  readonly value: number | null;
  readonly endedAt: number;
};

/** Runs a search to its end. Both the configured concurrency and the number of workers limit the running trials. */
export function simulate(
  config: NormalisedConfig,
  seed: number,
  workers: number,
  world: World,
): Simulated {
  const started: { readonly hyperparameters: JsonObject; readonly value: number | null }[] = [];
  const { events, state, ended } = runSearch({
    config,
    seed,
    workers,
    world: ({ number, hyperparameters = {} }) => {
      const { value, duration } = world(hyperparameters, number);
      started.push({ hyperparameters, value });
      return { hyperparameters, steps: 1, stepTime: duration, valueAt: () => value };
    },
  });
  return {
    events,
    state,
    ended: ended.map(({ trial, at }) => {
      const { hyperparameters = {}, value = null } = started[trial - 1] ?? {};
      return { trial, hyperparameters, value, endedAt: at };
    }),
  };
}

/** Returns the best value after each ended trial, in the order of the ends; null before the first value. */
export function incumbents(
  ended: readonly SimulatedTrial[],
  smallerIsBetter: boolean,
): readonly (number | null)[] {
  let best: number | null = null;
  return ended.map(({ value }) => {
    const better =
      value !== null &&
      Number.isFinite(value) &&
      (best === null || (smallerIsBetter ? value < best : value > best));
    if (better) best = value;
    return best;
  });
}
