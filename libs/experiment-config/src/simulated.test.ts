import { isRejection } from "@trainyard/kernel";
import { describe, expect, it } from "vitest";
import { parseForRecorded, type RecordedTrainings } from "./simulated.ts";

const recorded: RecordedTrainings = {
  space: { lr: { type: "double", minval: 0, maxval: 1, count: null } },
  metric: "valid",
  smallerIsBetter: false,
  timeMetric: "step",
  maxTime: 51,
  trials: 100,
  workers: 8,
};
const defaults = { checkpoint_storage: { type: "directory", container_path: "/c" } };

function searcherOf(text: string, ...overrides: string[]) {
  const parsed = parseForRecorded(text, { defaults, overrides }, recorded);
  if (isRejection(parsed)) throw new Error(parsed.detail);
  expect(parsed.config.hyperparameters).toEqual(recorded.space);
  return parsed.config.searcher;
}

describe("a configuration for recorded trainings", () => {
  it("has their metric, direction, times and space, and the document's searcher", () => {
    const text = `hyperparameters: { other: 1 }
searcher: { name: asha, metric: loss, max_trials: 1000, max_time: 9, divisor: 2 }`;
    expect(searcherOf(text)).toMatchObject({
      name: "asha",
      metric: "valid",
      smaller_is_better: false,
      time_metric: "step",
      max_time: 51,
      min_time: 6,
      divisor: 2,
      max_trials: 100,
      max_concurrent_trials: 8,
    });
  });

  it("refuses an unknown searcher like any configuration", () => {
    const parsed = parseForRecorded("searcher: { name: toString }", { defaults }, recorded);
    expect(isRejection(parsed) && parsed.detail).toMatch(
      /searcher\.name must be one of .*, not "toString"/,
    );
  });

  it("has only the keys of its searcher, after overrides are applied", () => {
    const searcher = searcherOf(
      "searcher: { name: asha }",
      "searcher={name: random, max_trials: 5}",
    );
    expect(searcher).toMatchObject({ name: "random", max_trials: 5, max_concurrent_trials: 8 });
    expect(searcher).not.toHaveProperty("max_time");
    expect(searcherOf("searcher: { name: single }")).not.toHaveProperty("max_concurrent_trials");
  });

  it("has as many trials as were trained if none are given, and no points of another space", () => {
    const searcher = searcherOf(
      "searcher: { name: asha, constraints: [a < b], warm_start: { points: [{ a: 1 }] } }",
    );
    expect(searcher).toMatchObject({ max_trials: 100 });
    expect(searcher).not.toHaveProperty("constraints");
  });

  it("runs one round of hyperband without max_trials, and at most the trained trials", () => {
    const hyperband = (maxTime: number, trials: number) => {
      const parsed = parseForRecorded(
        "searcher: { name: hyperband }",
        { defaults },
        { ...recorded, maxTime, trials },
      );
      if (isRejection(parsed)) throw new Error(parsed.detail);
      return parsed.config.searcher;
    };
    // 81 steps with the divisor 3 make five brackets: 81 + 34 + 15 + 8 + 5 trials.
    expect(hyperband(81, 1_000)).toMatchObject({ name: "hyperband", max_trials: 0 });
    expect(hyperband(81, 143)).toMatchObject({ max_trials: 0 });
    expect(hyperband(81, 142)).toMatchObject({ max_trials: 142 });
  });

  it("keeps a concurrency limit below the number of workers", () => {
    const text = "searcher: { name: random, max_trials: 5, max_concurrent_trials: 3 }";
    expect(searcherOf(text)).toMatchObject({ max_concurrent_trials: 3 });
  });

  it.each([
    ["searcher: { name: grid }", "is grid, which cannot run"],
    ["searcher: { name: nobody }", "searcher.name must be one of"],
    ["searcher: 3", "searcher"],
    ["[1]", "must be a mapping"],
    ["searcher: { name: random, max_trials: none }", "searcher.max_trials"],
  ])("is refused if it is wrong: %s", (text, why) => {
    const parsed = parseForRecorded(text, { defaults }, recorded);
    expect(parsed).toMatchObject({ detail: expect.stringContaining(why) });
  });
});
