import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCases, runCases } from "./case-file.ts";

describe("the searchers of Determined", () => {
  const { outcomes, unknown } = runCases(
    readCases(join(import.meta.dirname, "searcher-cases.json")),
  );

  it("are all known here", () => {
    expect(unknown).toEqual([]);
    expect(outcomes).toHaveLength(50);
  });

  it.each(outcomes.map(({ id, difference }) => [id, difference] as const))("%s", (_, found) => {
    expect(found).toBe(null);
  });
});

it("a case of a search that goes otherwise is told apart", () => {
  const config = { name: "async_halving", num_rungs: 2, max_length: 9, max_trials: 3, divisor: 3 };
  const expect_trials = [9, 3, 3].map((last, i) => ({ ops: last === 9 ? [3, 9] : [3], metric: i }));
  const turned = expect_trials.map((trial, i) => ({ ...trial, metric: 3 - i }));
  const { outcomes } = runCases({
    searcher: {
      get_metric: [
        {
          id: "absent",
          metrics: { batches: 2 },
          metric: "loss",
          time_metric: "batches",
          expect_error: true,
        },
      ],
      stop_trials: [
        {
          id: "two rungs at once",
          divisor: 3,
          rungs: [
            { units: 1, metrics: [["a", 0.5]] },
            { units: 3, metrics: [["a", 0.5]] },
          ],
          trial_rungs: { a: 1, b: 0 },
          report: { trial: "b", time: 3, metric: 0.1 },
          expect_actions: [{ stop: "b" }],
          expect_trial_rungs: { a: 1, b: 1 },
          expect_rungs: [
            {
              units: 1,
              metrics: [
                ["b", 0.1],
                ["a", 0.5],
              ],
            },
            {
              units: 3,
              metrics: [
                ["b", 0.1],
                ["a", 0.5],
              ],
            },
          ],
        },
      ],
    },
    searcher_legacy: {
      value_simulation: [
        { id: "right", config, expect_trials },
        { id: "wrong", config, expect_trials: turned },
      ],
    },
  });
  expect(outcomes.map(({ id, difference }) => [id, difference])).toEqual([
    ["absent", null],
    ["two rungs at once", null],
    ["right", null],
    ["wrong", "[0] is [3], expected [3,9]"],
  ]);
});
