import { text } from "../evidence.ts";
import { isOver, timeWaited } from "./patience.ts";
import type { TrialPolicyModule } from "./module.ts";
import { shownValue, written } from "./ranked.ts";

export const noImprovement: TrialPolicyModule<"no_improvement"> = {
  evidence(policy, index, asked) {
    const { plan } = asked.search;
    const patience = asked.progress.patience[index];
    if (patience === null || patience === undefined) return null;
    if (!isOver(policy, patience, asked.time)) return null;
    const { min_delta, min_delta_relative } = policy;
    return {
      value: written(asked.value),
      time: asked.time,
      best: shownValue(patience.best, plan.smallerIsBetter),
      best_at: patience.at,
      ...(policy.patience === null
        ? {
            waited_time: timeWaited(policy, patience, asked.time),
            patience_time: policy.patience_time,
          }
        : { waited: patience.reports, patience: policy.patience }),
      ...(min_delta_relative > 0 ? { min_delta_relative } : { min_delta }),
    };
  },
  sentence({ best, best_at, waited, patience, waited_time, patience_time }) {
    const since =
      best === null
        ? "no finite value"
        : `no improvement on ${text(best)}, reached at ${text(best_at)},`;
    return patience === undefined
      ? `${since} for ${text(waited_time)} units of time (patience_time ${text(patience_time)})`
      : `${since} for ${text(waited)} reports (patience ${text(patience)})`;
  },
};
