/** Stops a trial that stays at the lower end of the population, as population-based training counts it. */
import { numbersOr } from "../json.ts";
import type { Graceful, PolicyModule } from "./module.ts";

type Pbt = Graceful & {
  /** The share of the population that counts as its lower end. */
  readonly quantile: number;
  /** Reports in a row in the lower quantile. */
  readonly patience: number;
};

export const pbt: PolicyModule<Pbt> = {
  keys: ({ number, positive }) => ({
    optional: { quantile: number.gt(0).max(0.5), patience: positive, grace: number.min(0) },
  }),
  /** The quantile is that of Ray's population-based training. */
  read: (policy) => numbersOr(policy, { quantile: 0.25, patience: 3, grace: 0 }),
};
