import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCases, runCases } from "./case-file.ts";

describe("the searchers of Determined", () => {
  const { outcomes, notRun, unknown } = runCases(
    readCases(join(import.meta.dirname, "searcher-cases.json")),
  );

  it("are completely known here", () => {
    expect({ notRun, unknown }).toEqual({ notRun: [], unknown: [] });
    expect(outcomes).toHaveLength(50);
  });

  it.each(outcomes.map(({ id, difference }) => [id, difference] as const))("%s", (_, found) => {
    expect(found).toBe(null);
  });
});

it("a case of a search that decides otherwise fails", () => {
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

it("a case that cannot be expressed here is not run", () => {
  const make = { num_rungs: 3, max_time: 9, divisor: 3 };
  const { outcomes, notRun } = runCases({
    searcher: {
      make_rungs: [
        { id: "a note decides nothing", ...make, expect_units: [1, 3, 9], comment: "as before" },
        { id: "another expectation", ...make, expect_axes: [1] },
        { id: "an input that nothing reads", ...make, expect_units: [1, 9], brackets: [2] },
        { id: "wrong", ...make, expect_units: [1, 9] },
      ],
      get_metric: [{ id: "a message", metrics: {}, metric: "a", expect_error_contains: "b" }],
      simulate: [{ id: "a searcher of theirs", config: { name: "tournament" }, expect_trials: [] }],
      run: [
        {
          id: "a count of theirs",
          config: { name: "single" },
          driver: {},
          expect: { num_brackets: 1 },
        },
      ],
    },
  });
  expect(outcomes.map(({ id, difference }) => [id, difference])).toEqual([
    ["a note decides nothing", null],
    ["wrong", "it is [1,3,9], expected [1,9]"],
  ]);
  expect(notRun.map(({ id, reason }) => [id, reason])).toEqual([
    ["another expectation", "nothing here reads expect_axes"],
    ["an input that nothing reads", "nothing here reads brackets"],
    ["a message", "nothing here reads expect_error_contains"],
    ["a searcher of theirs", "the product has no searcher tournament"],
    ["a count of theirs", "nothing here reads the expectation num_brackets"],
  ]);
});

it("a case of stop_once passes if one order gives the recorded result, and fails if none does", () => {
  const config = {
    name: "async_halving",
    num_rungs: 2,
    max_length: 9,
    max_trials: 4,
    divisor: 2,
    stop_once: true,
  };
  const every = (length: number): number[][] => Array.from({ length: 4 }, () => [length]);
  const of = (expect_ops_multiset: number[][], stop_once = true): (string | null)[] => {
    const one = {
      id: "x",
      config: { ...config, stop_once },
      metric: "by trial",
      expect_ops_multiset,
    };
    return runCases({ searcher_legacy: { multiset_simulation: [one] } }).outcomes.map(
      ({ difference }) => difference,
    );
  };
  // The first report has no other to compare with and is promoted, whether or not it is the best of the four.
  expect(of([[4, 9], [4], [4], [4]])).toEqual([null]);
  expect(of([[4, 9], [4, 9], [4], [4]])).toEqual([null]);
  expect(of(every(9))[0]).toContain("in none of 20 orders");
});
