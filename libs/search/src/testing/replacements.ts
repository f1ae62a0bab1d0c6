/**
 * Counts the members that a population replaces in each interval, with the real decider. In an interval every member
 * trains once and reports once, one after the other in a given order; a copy trains first in the next interval. A value
 * is the donor's or the earlier one, changed at random.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { HyperparameterSpace, PbtSearcher } from "@trainyard/experiment-config";
import { draw, drawInteger } from "@trainyard/kernel";
import { pbtOf } from "./population.ts";
import { configOf, DrivenSearch } from "./searches.ts";

export const arrivals = ["random", "worst_first", "best_first"] as const;

export type Replacements = {
  readonly members: number;
  readonly quantile: number;
  readonly intervals: number;
  /** The order of the reports in each interval, by the values that they bring. */
  readonly arrival: (typeof arrivals)[number];
  readonly seed: number;
};

const space: HyperparameterSpace = {
  lr: { type: "log", minval: -4, maxval: -1, base: 10, count: null },
};
const INTERVAL = 10;

/** Returns the number of replaced members of each interval. */
export function replacementsOf(
  { members, quantile, intervals, arrival, seed }: Replacements,
  more: Partial<PbtSearcher> = {},
): readonly number[] {
  const search = new DrivenSearch();
  const config = pbtOf({
    population_size: members,
    interval: INTERVAL,
    quantile,
    max_time: INTERVAL * (2 * intervals + 2),
    max_trials: members * (intervals + 1),
    ...more,
  });
  search.start(configOf(config, space), seed);
  const training = new Map<number, { step: number; value: number }>();
  for (let trial = 1; trial <= members; trial += 1) {
    training.set(trial, { step: 0, value: draw(seed, "value", trial) });
  }
  return Array.from({ length: intervals }, (_, interval) => {
    const trials = [...training.keys()];
    for (const [trial, { step, value }] of training) {
      const change = draw(seed, `change/${trial}`, interval) - 0.5;
      training.set(trial, { step: step + INTERVAL, value: value + change });
    }
    let replaced = 0;
    for (const trial of inOrder(trials, arrival, seed + interval, training)) {
      const { step, value } = training.get(trial) ?? { step: 0, value: 0 };
      const [stop, copy] = search.validate(trial, step, value).slice(1);
      if (stop?.type !== "TrialStopDecided" || copy?.type !== "TrialProposed") {
        const checkpoint = `${trial}@${step}`;
        search.send({ type: "RecordCheckpoint", trial, checkpoint, run: 1, step });
        continue;
      }
      replaced += 1;
      const { number, startFromTrial = 0, startFromStep = 0 } = copy.data;
      const donor = training.get(startFromTrial) ?? { value };
      training.set(number, { step: startFromStep, value: donor.value });
      training.delete(trial);
      search.end(trial, TrialOutcome.STOPPED_EARLY);
    }
    return replaced;
  });
}

function inOrder(
  trials: readonly number[],
  arrival: Replacements["arrival"],
  seed: number,
  training: ReadonlyMap<number, { readonly value: number }>,
): readonly number[] {
  const valueOf = (trial: number): number => training.get(trial)?.value ?? 0;
  if (arrival === "worst_first") return trials.toSorted((a, b) => valueOf(b) - valueOf(a));
  if (arrival === "best_first") return trials.toSorted((a, b) => valueOf(a) - valueOf(b));
  const left = [...trials];
  return trials.flatMap((_, n) =>
    left.splice(drawInteger(seed, "arrival", n, Math.max(1, left.length)), 1),
  );
}
