import { text } from "../evidence.ts";
import type { TrialPolicyModule } from "./module.ts";
import { written } from "./ranked.ts";

export const threshold: TrialPolicyModule<"threshold"> = {
  evidence({ lower, upper, grace }, _index, { value, time }) {
    if (time < grace) return null;
    const inside =
      Number.isFinite(value) && value >= (lower ?? -Infinity) && value <= (upper ?? Infinity);
    return inside ? null : { value: written(value), time, lower, upper };
  },
  sentence: ({ value, time, lower, upper }) =>
    `its ${text(value)} at ${text(time)} is not between ${text(lower ?? "any")} and ${text(upper ?? "any")}`,
};
