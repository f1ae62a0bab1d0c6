/** Stops a trial that has not improved for a while. */
import { keyPath, numberAt, numbersOr, valueAt } from "../json.ts";
import type { Graceful, PolicyModule } from "./module.ts";

type NoImprovement = Graceful & {
  /** Reports in a row without an improvement, or time since the last one: one of the two. */
  readonly patience: number | null;
  readonly patience_time: number | null;
  /** An improvement is more than this; relative to the best value's size in the second. */
  readonly min_delta: number;
  readonly min_delta_relative: number;
};

export const noImprovement: PolicyModule<NoImprovement> = {
  keys: ({ number, positive }) => ({
    optional: {
      patience: positive,
      patience_time: number.gt(0),
      min_delta: number.min(0),
      min_delta_relative: number.min(0),
      grace: number.min(0),
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
