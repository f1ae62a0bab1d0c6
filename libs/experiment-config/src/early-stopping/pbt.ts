/** Stops a trial that stays in the lowest quantile of the population, as in population-based training. */
import { numbersOr } from "../json.ts";
import { type Graceful, graceKey, type PolicyModule } from "./module.ts";

type Pbt = Graceful & {
  /** The share of the population in the lowest quantile. */
  readonly quantile: number;
  /** Consecutive reports in the lowest quantile before the trial is stopped. */
  readonly patience: number;
};

export const pbt: PolicyModule<Pbt> = {
  keys: (values) => ({
    optional: {
      quantile: values.number
        .gt(0)
        .max(0.5)
        .describe("A trial in the lower quantile is stopped. Default 0.25."),
      patience: values.positive.describe(
        "So many reports in the lower quantile stop the trial. Default 3.",
      ),
      ...graceKey(values),
    },
  }),
  /** The default quantile is that of Ray's population-based training. */
  read: (policy) => numbersOr(policy, { quantile: 0.25, patience: 3, grace: 0 }),
};
