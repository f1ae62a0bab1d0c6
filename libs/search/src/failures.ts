/** Ends a search after `max_failures` failed trials: the search has failed, and its other trials are stopped. */
import type { Decision } from "./algorithm.ts";
import { searchLimits } from "./limits.ts";
import { isOpen, isStopped, type RunningSearch } from "./state.ts";
import { type Evidence, text } from "./evidence.ts";

const RULE = "max_failures" as const;

/** Stops a part of the trials once enough have failed; later inputs stop the rest. */
export function failureDecisions({
  plan,
  outcomes,
  trials,
  finishing,
}: RunningSearch): readonly Decision[] {
  const { max_failures } = plan.searcher;
  if (max_failures === undefined || outcomes.failed < max_failures) return [];
  const verdict = { rule: RULE, evidence: { max_failures, failed: outcomes.failed } };
  const decisions: Decision[] = finishing ? [] : [{ kind: "finish", ...verdict, fails: true }];
  let stops = 0;
  for (const [index, trial] of trials.entries()) {
    if (stops === searchLimits.closingsPerDecisionMax) break;
    if (!isOpen(trial) || isStopped(trial)) continue;
    decisions.push({ kind: "stop", trial: index + 1, ...verdict });
    stops += 1;
  }
  return decisions;
}

export function failuresSentence({ failed, max_failures }: Evidence): string {
  return `${text(failed)} of its trials have failed, and max_failures is ${text(max_failures)}`;
}
