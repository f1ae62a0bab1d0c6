import type { Json } from "@trainyard/experiment-config";
import { entriesBetween } from "../ranking.ts";
import { text, rankText } from "../evidence.ts";
import { COMPETITORS_SHOWN, type TrialPolicyModule } from "./module.ts";
import { isLower, placeAmong } from "./lower-quantile.ts";
import { shownValue } from "./ranked.ts";

export const pbt: TrialPolicyModule<"pbt"> = {
  evidence(policy, index, asked) {
    const { plan } = asked.search;
    const { standing, streaks } = asked.progress;
    const streak = streaks[index] ?? 0;
    if (standing.value === null || standing.donor || streak < policy.patience) return null;
    const { population } = asked.memory;
    const place = placeAmong(population, asked.trial, standing.value, policy.quantile);
    if (!isLower(place)) return null;
    const { rank, of, lower } = place;
    const cut = of - lower;
    const from = Math.max(0, cut - COMPETITORS_SHOWN / 2);
    const shown = (ranked: number): Json => shownValue(ranked, plan.smallerIsBetter);
    const near = entriesBetween(population, from, from + COMPETITORS_SHOWN);
    return {
      value: shown(standing.value),
      time: asked.time,
      rank,
      of,
      lower,
      times: streak,
      patience: policy.patience,
      competitors: near.map(({ trial, value }) => ({ trial, value: shown(value) })),
    };
  },
  sentence: ({ times, lower, ...evidence }) =>
    `${rankText(evidence, evidence["time"])}, among the last ${text(lower)} for ${text(times)} reports in a row`,
};
