import { text } from "../evidence.ts";
import type { TrialPolicyModule } from "./module.ts";
import { written } from "./ranked.ts";

export const notFinite: TrialPolicyModule<"not_finite"> = {
  evidence: (_policy, _index, { value, time }) =>
    Number.isFinite(value) ? null : { value: written(value), time },
  /** Searchers that halve stop for the same reason, and have units. */
  sentence: ({ time, units, value }) =>
    `its value at ${text(time ?? units)} is ${value === null || value === undefined ? "not finite" : text(value)}`,
};
