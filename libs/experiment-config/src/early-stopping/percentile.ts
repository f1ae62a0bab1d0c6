/** Stops a trial whose best value is worse than the average value of most other trials by the same time. */
import { numbersOr } from "../json.ts";
import type { Shape, Values } from "../parts/values.ts";
import { type Graceful, graceKey, type PolicyModule } from "./module.ts";

type Median = Graceful & {
  /** The number of other trials that must have reached a time before a trial is judged at it. */
  readonly min_trials: number;
};
type Percentile = Median & {
  /** The percentage of trials, the best ones, that continue. */
  readonly percentile: number;
};

/** The defaults of Vizier and Ray. */
const defaults = { min_trials: 3, grace: 0 };
const keys = (values: Values): Shape => ({
  min_trials: values.positive.describe("So many other trials must have come as far. Default 3."),
  ...graceKey(values),
});

export const median: PolicyModule<Median> = {
  keys: (values) => ({ optional: keys(values) }),
  read: (policy) => numbersOr(policy, defaults),
};

export const percentile: PolicyModule<Percentile> = {
  keys: (values) => ({
    needed: {
      percentile: values.number
        .gt(0)
        .lt(100)
        .describe("A trial that is not within the best so many percent is stopped."),
    },
    optional: keys(values),
  }),
  read: (policy) => numbersOr(policy, { percentile: 50, ...defaults }),
};
