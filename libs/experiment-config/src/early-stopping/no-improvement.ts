/** Stops a trial that has not improved for a number of reports, or for a time. */
import { keyPath, numberAt, numbersOr, valueAt } from "../json.ts";
import { type Graceful, graceKey, type PolicyModule } from "./module.ts";

type NoImprovement = Graceful & {
  /** Consecutive reports without an improvement, or time since the last improvement; exactly one of them is set. */
  readonly patience: number | null;
  readonly patience_time: number | null;
  /** The minimum improvement: absolute, and relative to the size of the best value. */
  readonly min_delta: number;
  readonly min_delta_relative: number;
};

export const noImprovement: PolicyModule<NoImprovement> = {
  keys: (values) => ({
    optional: {
      patience: values.positive.describe("So many reports without an improvement stop the trial."),
      patience_time: values.number
        .gt(0)
        .describe("So long without an improvement stops the trial, in units of time_metric."),
      min_delta: values.number
        .min(0)
        .describe("An improvement is one by more than this. Default 0."),
      min_delta_relative: values.number
        .min(0)
        .describe("An improvement is one by more than this share of the best. Default 0."),
      ...graceKey(values),
    },
  }),
  check(policy, path, note) {
    const given = ["patience", "patience_time"].filter((key) => valueAt(policy, key) !== undefined);
    if (given.length === 0) {
      const what = "how many reports may pass without an improvement (or patience_time: how long)";
      note(keyPath(path, "patience"), `is missing: it says ${what}`);
    }
    if (given.length === 2) {
      note(keyPath(path, "patience_time"), "cannot be combined with patience: give one of them");
    }
    if (valueAt(policy, "min_delta") !== undefined && valueAt(policy, "min_delta_relative")) {
      note(
        keyPath(path, "min_delta_relative"),
        "cannot be combined with min_delta: give one of them",
      );
    }
  },
  read: (policy) => ({
    patience: numberAt(policy, "patience", null),
    patience_time: numberAt(policy, "patience_time", null),
    ...numbersOr(policy, { min_delta: 0, min_delta_relative: 0, grace: 0 }),
  }),
};
