import { expect, it } from "vitest";
import { floorLog, hyperbandTrials } from "./halving.ts";
import { config } from "../testing/documents.ts";

const common = { metric: "loss", smaller_is_better: true, max_concurrent_trials: 16 };

it.each([
  [
    "{name: asha, metric: loss, max_trials: 20, max_time: 81}",
    {
      name: "asha",
      max_trials: 20,
      max_time: 81,
      min_time: 3,
      time_metric: "",
      divisor: 3,
      resume: true,
    },
  ],
  [
    "{name: asha, metric: loss, max_trials: 20, max_time: 5, min_time: 2, resume: false, divisor: 2}",
    {
      name: "asha",
      max_trials: 20,
      max_time: 5,
      min_time: 2,
      time_metric: "",
      divisor: 2,
      resume: false,
    },
  ],
  [
    "{name: bohb, metric: loss, max_trials: 20, max_time: 81}",
    {
      name: "bohb",
      max_trials: 20,
      max_time: 81,
      min_time: 3,
      time_metric: "",
      divisor: 3,
      resume: true,
    },
  ],
  [
    "{name: auto, metric: loss, max_trials: 20, max_time: 100, time_metric: epochs}",
    {
      name: "auto",
      max_trials: 20,
      max_time: 100,
      min_time: 3,
      time_metric: "epochs",
      divisor: 3,
    },
  ],
  [
    "{name: adaptive_asha, metric: loss, max_trials: 20, max_time: 81, time_metric: epochs}",
    {
      name: "adaptive_asha",
      max_trials: 20,
      max_time: 81,
      time_metric: "epochs",
      divisor: 4,
      mode: "standard",
      max_rungs: 5,
      bracket_rungs: [],
      resume: false,
    },
  ],
  [
    "{name: async_halving, metric: loss, num_rungs: 3, max_trials: 20, max_time: 81, time_metric: epochs}",
    {
      name: "async_halving",
      num_rungs: 3,
      max_trials: 20,
      max_time: 81,
      time_metric: "epochs",
      divisor: 4,
      resume: false,
    },
  ],
  [
    "{name: hyperband, metric: loss, max_time: 81}",
    { name: "hyperband", max_trials: 0, max_time: 81, time_metric: "", divisor: 3 },
  ],
])("the configuration gets the defaults of %s", (searcher, expected) => {
  expect(config(`searcher: ${searcher}`).searcher).toEqual({ ...common, ...expected });
});

it.each([
  ["stop_once: false", true],
  ["stop_once: true", false],
  ["stop_once: true, resume: true", true],
  ["stop_once: false, resume: false", false],
])("Determined's stop_once is the opposite of resume (%s)", (keys, resume) => {
  const rest = "num_rungs: 3, max_trials: 20, max_time: 81, time_metric: epochs";
  const { searcher } = config(`searcher: {name: async_halving, metric: loss, ${rest}, ${keys}}`);
  expect(searcher).toMatchObject({ resume });
});

it("integer logarithms are computed by products", () => {
  expect([999, 1_000, 1_001].map((x) => floorLog(x, 10, 9))).toEqual([2, 3, 3]);
  expect(floorLog(243, 3, 9)).toBe(5);
  expect(floorLog(1e9, 1.000001, 7)).toBe(7);
});

it("Hyperband's brackets are those of the paper's algorithm", () => {
  expect(hyperbandTrials(81, 3)).toEqual([81, 34, 15, 8, 5]);
  expect(hyperbandTrials(1_000, 4)).toEqual([256, 80, 27, 10, 5]);
});
