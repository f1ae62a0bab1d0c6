/**
 * Continues a search after its completion, or during it for one trial. Failed and canceled trials are reopened with
 * their results. A canceled search does not know how its open trials ended; those that are not reopened count as
 * canceled.
 */
import type { EventData } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import { assert } from "@trainyard/kernel";
import { readSearcher, searcherFacts } from "@trainyard/experiment-config";
import { algorithmOf } from "./algorithms/registry.ts";
import type { ContinueSearch } from "./commands.ts";
import { Derived } from "./derived.ts";
import { maxTimeOf } from "./early-stopping/rules.ts";
import { searchLimits } from "./limits.ts";
import { countedAs } from "./outcomes.ts";
import { isOpen, type RunningSearch, type TrialState } from "./state.ts";
import type { UndoLog } from "./undo-log.ts";

/** Returns null if the continuation was answered already. */
export function continuation(
  search: RunningSearch,
  { continuation: number, searcher, only }: ContinueSearch,
): EventData<"SearchContinued"> | null {
  const { plan } = search;
  if ((search.continuation ?? 0) >= number) return null;
  const { trialsMax } = algorithmOf(plan).sizeOf(searcher, plan.space);
  return {
    continuation: number,
    trials: takenUp(search, only),
    searcher,
    trialsMax: Math.max(trialsMax, plan.trialsMax),
    ...(only === null ? {} : { only }),
  };
}

function takenUp(search: RunningSearch, only: number | null): number[] {
  const { hasOneTrial } = searcherFacts(search.plan.algorithm);
  const numbers: number[] = [];
  for (const [index, trial] of search.trials.entries()) {
    if (numbers.length === searchLimits.continuedTrialsMax) break;
    if (only !== null && only !== index + 1) continue;
    if (mayContinue(search, trial, hasOneTrial)) numbers.push(index + 1);
  }
  return numbers;
}

/** The only trial of a search may train longer even if it had completed. */
function mayContinue(
  { phase }: RunningSearch,
  { outcome }: TrialState,
  hasOneTrial: boolean,
): boolean {
  switch (outcome) {
    case TrialOutcome.FAILED:
    case TrialOutcome.CANCELED:
      return true;
    case TrialOutcome.UNSPECIFIED:
      return phase === "completed";
    case TrialOutcome.INVALID_HYPERPARAMETERS:
      return false;
    default:
      return hasOneTrial;
  }
}

export function applyContinuation(
  search: RunningSearch,
  data: EventData<"SearchContinued">,
  undo: UndoLog,
): void {
  const searcher = readSearcher(data.searcher);
  const wasCompleted = search.phase === "completed";
  const again = new Set(data.trials);
  for (const [index, trial] of search.trials.entries()) {
    if (again.has(index + 1)) reopen(search, index, trial, undo);
    else if (wasCompleted && isOpen(trial)) cancel(search, index, trial, undo);
  }
  undo.set(search, "continuation", data.continuation);
  undo.set(search, "phase", "running");
  if (data.only === undefined || wasCompleted) {
    // Reopening a single trial proposes no other trials.
    undo.set(search, "finishing", data.only !== undefined);
    undo.set(search, "failing", false);
  }
  undo.set(search, "plan", {
    ...search.plan,
    searcher,
    trialsMax: data.trialsMax,
    maxTime: maxTimeOf(searcher),
    derived: new Derived(),
  });
}

function reopen(search: RunningSearch, index: number, trial: TrialState, undo: UndoLog): void {
  const open = { ...trial, wanted: "run", outcome: TrialOutcome.UNSPECIFIED } as const;
  undo.set(search.trials, index, open);
  if (isOpen(trial)) return;
  const counted = countedAs[trial.outcome];
  assert(counted !== undefined, `${trial.outcome} is an outcome`);
  undo.set(search, "unended", search.unended + 1);
  undo.set(search.outcomes, counted, search.outcomes[counted] - 1);
}

function cancel(search: RunningSearch, index: number, trial: TrialState, undo: UndoLog): void {
  undo.set(search.trials, index, { ...trial, outcome: TrialOutcome.CANCELED });
  undo.set(search, "unended", search.unended - 1);
  undo.set(search.outcomes, "canceled", search.outcomes.canceled + 1);
}
