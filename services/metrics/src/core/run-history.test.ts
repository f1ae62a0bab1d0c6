import { fold } from "@trainyard/kernel";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { requested } from "../testing/events.ts";
import { evolveRunHistory, isKnownRun, lastStepThatCounts, noRuns } from "./run-history.ts";

const history = (...fromSteps: readonly number[]) =>
  fold(
    evolveRunHistory,
    noRuns,
    fromSteps.map((fromStep, index) => requested(index + 1, fromStep)),
  );

describe("a run's reports count", () => {
  test("at every step while no later run was requested", () => {
    expect(lastStepThatCounts(history(0), 1)).toBe(Number.POSITIVE_INFINITY);
    expect(lastStepThatCounts(history(0, 40), 2)).toBe(Number.POSITIVE_INFINITY);
  });

  test("up to the step that the next run starts from", () => {
    expect(lastStepThatCounts(history(0, 40), 1)).toBe(40);
  });

  test("at no step, not even step 0, when the next run starts from scratch", () => {
    expect(lastStepThatCounts(history(0, 0), 1)).toBe(-1);
  });

  test("up to the smallest step that any later run starts from", () => {
    expect(lastStepThatCounts(history(0, 40, 20), 1)).toBe(20);
    expect(lastStepThatCounts(history(0, 40, 20), 2)).toBe(20);
    expect(lastStepThatCounts(history(0, 20, 40), 1)).toBe(20);
    expect(lastStepThatCounts(history(0, 20, 40), 2)).toBe(40);
  });
});

test("a later run never raises the limit of an earlier run, and has no limit itself", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100), { minLength: 1, maxLength: 8 }), (fromSteps) => {
      const before = history(0, ...fromSteps.slice(0, -1));
      const after = history(0, ...fromSteps);
      for (let run = 1; run <= fromSteps.length; run += 1) {
        const last = lastStepThatCounts(after, run);
        expect(last).toBeLessThanOrEqual(lastStepThatCounts(before, run));
        expect(last).toBeLessThanOrEqual(fromSteps.at(-1) ?? 0);
      }
      const unlimited = Number.POSITIVE_INFINITY;
      expect(lastStepThatCounts(after, fromSteps.length + 1)).toBe(unlimited);
    }),
  );
});

test("a run that was never requested is unknown", () => {
  expect(isKnownRun(history(0), 1)).toBe(true);
  expect(isKnownRun(history(0), 2)).toBe(false);
});
