/** Compares a trial's best value with the others' averages up to the same time. */
import type { Json, JsonObject } from "@trainyard/experiment-config";
import { type Evidence, text } from "../evidence.ts";
import { comparison } from "./averages.ts";
import { type Case, COMPETITORS_SHOWN, type TrialPolicyModule } from "./module.ts";
import { shownValue } from "./ranked.ts";

function outdone(
  percentile: number,
  { min_trials, grace }: { readonly min_trials: number; readonly grace: number },
  asked: Case,
): JsonObject | null {
  if (asked.time < grace) return null;
  const { averages } = asked.memory;
  const { course } = asked.progress;
  const found = comparison(averages, asked.trial, course, percentile, min_trials);
  if (found === null || course.best <= found.cutoff) return null;
  const shown = (ranked: number): Json => shownValue(ranked, asked.search.plan.smallerIsBetter);
  return {
    value: shown(course.best),
    time: asked.time,
    compared_at: found.at,
    percentile,
    cutoff: shown(found.cutoff),
    rank: found.better() + 1,
    of: found.others + 1,
    competitors: found
      .neighbours(COMPETITORS_SHOWN)
      .map(({ trial, value }) => ({ trial, average: shown(value) })),
  };
}

function sentence({ value, time, cutoff, percentile, rank, of }: Evidence): string {
  const own = value === null ? "which is not finite" : text(value);
  const best = `its best value until ${text(time)}, ${own}, is worse than ${text(cutoff)}`;
  const what = percentile === 50 ? "the median" : `the best ${text(percentile)} percent`;
  return `${best}, ${what} of the others' averages (number ${text(rank)} of ${text(of)})`;
}

export const median: TrialPolicyModule<"median"> = {
  evidence: (policy, _index, asked) => outdone(50, policy, asked),
  sentence,
};

export const percentile: TrialPolicyModule<"percentile"> = {
  evidence: (policy, _index, asked) => outdone(policy.percentile, policy, asked),
  sentence,
};
