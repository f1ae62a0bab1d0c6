/**
 * `max_failures` of the searcher: the search has failed once as many of its trials have, and its other trials are
 * stopped.
 */
import type { Decision } from "./algorithm.ts";
import { searchLimits } from "./limits.ts";
import { isOpen, isStopped, type RunningSearch } from "./state.ts";
import { type Evidence, text } from "./evidence.ts";

const RULE = "max_failures";

/** The stops that follow from the failures so far: a part at a time, the rest with the inputs that come next. */
export function failureDecisions({
  plan,
  outcomes,
  trials,
  finishing,
}: RunningSearch): readonly Decision[] {
  const most = plan.searcher[RULE];
  if (typeof most !== "number" || outcomes.failed < most) return [];
  const verdict = { rule: RULE, evidence: { max_failures: most, failed: outcomes.failed } };
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
