import type { AshaSearcher } from "@trainyard/experiment-config";
import { draw } from "@trainyard/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { configOf } from "../testing/searches.ts";
import { runSearch } from "./run.ts";

const asha = (more: Partial<AshaSearcher>): AshaSearcher => ({
  name: "asha",
  metric: "loss",
  smaller_is_better: true,
  max_trials: 20,
  max_time: 9,
  min_time: 1,
  time_metric: "epochs",
  divisor: 3,
  max_concurrent_trials: 4,
  resume: true,
  ...more,
});

function run(searcher: AshaSearcher, seed: number, workers: number, stepsMax?: number) {
  return runSearch({
    config: configOf(searcher),
    seed,
    workers,
    world: ({ number, hyperparameters = {} }) => ({
      hyperparameters,
      steps: 9,
      stepTime: 1 + draw(seed, "time", number),
      valueAt: (step) => draw(seed, "value", number) / step,
    }),
    ...(stepsMax === undefined ? {} : { stepsMax }),
  });
}

describe("a search in virtual time", () => {
  it("trains each step once, also after suspensions, with at most one trial per worker", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 6 }),
        fc.boolean(),
        (seed, workers, resume) => {
          const { steps, state, ended } = run(asha({ resume }), seed, workers);
          const done = new Map<number, number>();
          for (const { trial, step } of steps) {
            expect(step).toBe((done.get(trial) ?? 0) + 1);
            done.set(trial, step);
          }
          for (const { at } of steps) {
            const atOnce = steps.filter((step) => step.at >= at && step.at < at + 1);
            expect(new Set(atOnce.map(({ trial }) => trial)).size).toBeLessThanOrEqual(workers);
          }
          expect(state.phase).toBe("completed");
          expect(ended).toHaveLength(done.size);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("frees the worker of a suspended trial at once, and resumes the trial at its next step", () => {
    const { steps } = run(asha({ max_concurrent_trials: 1 }), 1, 1);
    const suspendedFirst = steps.filter(({ trial }) => trial === 1).map(({ step }) => step);
    expect(steps.slice(0, 3).map(({ trial, step }) => [trial, step])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    expect(suspendedFirst).toEqual(suspendedFirst.map((_, i) => i + 1));
  });

  it("repeats the same events, and with fewer steps the first ones of them", () => {
    const whole = run(asha({}), 5, 4);
    expect(run(asha({}), 5, 4).events).toEqual(whole.events);
    const part = run(asha({}), 5, 4, 20);
    expect(part.steps).toEqual(whole.steps.slice(0, 20));
    expect(part.training.length).toBeGreaterThan(0);
  });

  it("continues after values that are not finite, and records a failed training", () => {
    const { state, steps } = runSearch({
      config: configOf(asha({ max_trials: 2 })),
      seed: 1,
      workers: 2,
      world: ({ number, hyperparameters = {} }) => ({
        hyperparameters,
        steps: 9,
        stepTime: 1,
        valueAt: () => (number === 1 ? null : Number.NaN),
      }),
    });
    expect(state.outcomes).toMatchObject({ failed: 1, trained: 1 });
    expect(steps).toHaveLength(2);
  });
});
