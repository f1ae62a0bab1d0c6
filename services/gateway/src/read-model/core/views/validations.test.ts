import type { EventData } from "@trainyard/contracts";
import { expect, test } from "vitest";
import { bestAfter, recordValidation } from "./validations.ts";

const nothing: Parameters<typeof recordValidation>[0] = {
  records: [],
  recent: [],
  stepsCompleted: 0,
};

function report(step: number, loss: number): EventData<"ValidationReported"> {
  return {
    trial: "1.1",
    run: 1,
    step,
    scalars: { loss, accuracy: step },
    reportKey: `v${step}`,
    nonNumeric: [],
  };
}

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  "a trial's best value is never %s",
  (value) => {
    for (const smallerIsBetter of [true, false]) {
      const first = recordValidation(nothing, report(1, value), "loss", smallerIsBetter);
      expect(first).not.toHaveProperty("bestValue");
      expect(first.latestValidation).toEqual({ loss: value, accuracy: 1 });
      const second = recordValidation(first, report(2, 0.5), "loss", smallerIsBetter);
      const third = recordValidation(second, report(3, value), "loss", smallerIsBetter);
      expect(third).toMatchObject({ bestValue: 0.5, bestValidation: { loss: 0.5 } });
    }
  },
);

test("a trial whose every validation is better than the one before keeps a bounded document", () => {
  let trial: Parameters<typeof recordValidation>[0] = nothing;
  for (let step = 1; step <= 3_000; step += 1) {
    trial = recordValidation(trial, report(step, 1 / step), "loss", true);
  }
  expect(trial.records.length).toBeLessThan(1_000);
  const whole = trial.records.filter(({ scalars }) => Object.keys(scalars).length > 1);
  expect(whole.length).toBeLessThan(100);
});

test("after a rollback of a trial with many records the best is one of at most a few steps before", () => {
  let trial: Parameters<typeof recordValidation>[0] = nothing;
  for (let step = 1; step <= 3_000; step += 1) {
    trial = recordValidation(trial, report(step, 1 / step), "loss", true);
  }
  const recent = bestAfter(trial, 2_990);
  expect(recent).toMatchObject({ bestValue: 1 / 2_990, stepsCompleted: 2_990 });
  expect(recent.bestValidation).toEqual({ loss: 1 / 2_990, accuracy: 2_990 });
  for (const step of [1, 40, 700, 2_000, 2_900]) {
    const { bestValue = 0, bestValidation } = bestAfter(trial, step);
    expect(bestValidation).toEqual({ loss: bestValue });
    expect(1 / bestValue).toBeLessThanOrEqual(step);
    expect(step - 1 / bestValue).toBeLessThan(64);
  }
});

test("nothing is left of a trial that starts again from scratch, not even a validation of step 0", () => {
  const trial = recordValidation(nothing, report(0, 0.5), "loss", true);
  const left = bestAfter(trial, -1);
  expect(left).toMatchObject({ stepsCompleted: 0, records: [], recent: [], bestValidation: {} });
  expect(left).not.toHaveProperty("bestValue");
});
