import { text } from "../evidence.ts";
import type { TrialPolicyModule } from "./module.ts";
import { written } from "./ranked.ts";

export const notFinite: TrialPolicyModule<"not_finite"> = {
  evidence: (_policy, _index, { value, time }) =>
    Number.isFinite(value) ? null : { value: written(value), time },
  /** The evidence of halving searchers, which stop for the same reason, has `units` in place of `time`. */
  sentence: ({ time, units, value }) =>
    `its value at ${text(time ?? units)} is ${value === null || value === undefined ? "not finite" : text(value)}`,
};
