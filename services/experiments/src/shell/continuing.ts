/** Checks a continuation: its search, and the checkpoint of another experiment that its trials begin from. */
import { SearchCompletion } from "@trainyard/contracts/events";
import { type Continuation, searcherFacts } from "@trainyard/experiment-config/recorded";
import { isRejection, type Rejection, reject, trialId } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import type { ContinueCommand } from "../core/experiment/commands.ts";
import type { ExperimentState } from "../core/experiment/state.ts";
import type { SearchState } from "../core/foreign/search.ts";
import { experiments, searches, trials } from "../streams.ts";
import { isUsable } from "./advance.ts";

export async function continueCommand(
  work: Work,
  id: string,
  change: Continuation,
  request: string,
): Promise<ContinueCommand> {
  const search = await work.load(searches, id);
  return { kind: "continue", request, change, isUnfinished: isUnfinished(search) };
}

/** Whether trials failed or were canceled, or the search was stopped before it had proposed all trials. */
function isUnfinished({ completed, lost, proposed, over }: SearchState): boolean {
  const isCut = completed === null || completed === SearchCompletion.CANCELED;
  return isCut || lost > 0 || proposed > over;
}

/**
 * Rejects a continuation that needs a deleted source checkpoint. An ended experiment does not hold the checkpoint that
 * its trials begin from (ADR 48); a continued one holds it again. `number`: the only trial to restart; absent for all.
 */
export async function unlessSourceIsGone<Decided extends readonly unknown[]>(
  work: Work,
  id: string,
  decided: Decided | Rejection,
  number?: number,
): Promise<Decided | Rejection> {
  if (isRejection(decided) || decided.length === 0) return decided;
  const state = await work.load(foldOf(experiments), id);
  const { source } = state;
  if (source === undefined || (await isUsable(work, source.checkpoint))) return decided;
  if (await hasOwnCheckpoint(work, id, state, number)) return decided;
  const detail = `checkpoint ${source.checkpoint}, from which the experiment's trials begin, was deleted: fork the experiment`;
  return reject("checkpoint_deleted", detail);
}

/** Whether the trial has its own checkpoint to start from. A new trial, or one that failed early, has none. */
async function hasOwnCheckpoint(
  work: Work,
  id: string,
  { size }: ExperimentState,
  number?: number,
): Promise<boolean> {
  const only = number ?? (searcherFacts(size.algorithm).hasOneTrial ? 1 : null);
  if (only === null) return false;
  const { checkpoints } = await work.load(foldOf(trials), trialId(id, only));
  for (const { checkpoint } of checkpoints) if (await isUsable(work, checkpoint)) return true;
  return false;
}
