import { isTaskId, parseTrialId, trialId } from "@trainyard/kernel";
import type { Work } from "@trainyard/runtime";
import {
  needOfPins,
  needOfProposals,
  needOfTask,
  needOfTrial,
} from "../core/retention-rule/references.ts";
import type { Index } from "./index-view.ts";
import { checkpoints, experiments, searches, tasks, trials } from "../streams.ts";

/** Reads states, for a decision (with guards) or for a query (from a cache). */
export type Reader = Pick<Work, "load" | "guard">;

/**
 * Returns the first reason why a checkpoint is still needed; null if nothing refers to it. Every stream that might
 * refer to it is guarded, so a decision is refused if one of them has changed. A new run in a stream that is not in the
 * index yet guards the checkpoint's retention itself, and finds the checkpoint condemned.
 */
export async function needOf(
  work: Reader,
  index: Pick<Index, "referrers">,
  checkpoint: string,
): Promise<string | null> {
  for await (const need of needsOf(work, index, checkpoint)) return need;
  return null;
}

/** Yields all reasons why a checkpoint is still needed, in the order of `referencesChecked`. */
export async function* needsOf(
  work: Reader,
  index: Pick<Index, "referrers">,
  checkpoint: string,
): AsyncGenerator<string> {
  const facts = await work.guard(checkpoints, checkpoint);
  const found = [needOfPins(facts), await needOfUnsettled(work, facts.trial)];
  for (const need of found) if (need !== null) yield need;
  const own = [facts.trial, facts.task].filter((id) => id !== "");
  for (const referrer of new Set([...own, ...(await index.referrers(checkpoint))])) {
    const need = await needOfReferrer(work, referrer, checkpoint);
    if (need !== null) yield need;
  }
  const proposed = await needOfProposed(work, facts.trial, checkpoint);
  if (proposed !== null) yield proposed;
}

/** Returns why a trial, a task, or an experiment whose trials all start from the checkpoint, needs it. */
async function needOfReferrer(
  work: Reader,
  referrer: string,
  checkpoint: string,
): Promise<string | null> {
  if (parseTrialId(referrer) !== null) {
    return needOfTrial(referrer, await work.guard(trials, referrer), checkpoint);
  }
  if (isTaskId(referrer)) {
    return needOfTask(referrer, await work.guard(tasks, referrer), checkpoint);
  }
  const { ended, source } = await work.guard(experiments, referrer);
  return ended || source !== checkpoint ? null : `trials of experiment ${referrer} begin from it`;
}

/** A finished search proposes nothing, so only the search of an experiment that has not ended counts. */
async function needOfProposed(
  work: Reader,
  trial: string,
  checkpoint: string,
): Promise<string | null> {
  const parts = parseTrialId(trial);
  if (parts === null || (await work.guard(experiments, parts.experiment)).ended) return null;
  const search = await work.guard(searches, parts.experiment);
  const { latest } = await work.guard(trials, trial);
  const created = new Set<number>();
  for (const number of search.proposals.keys()) {
    const { exists } = await work.load(trials, trialId(parts.experiment, number));
    if (exists) created.add(number);
  }
  const isPending = (number: number): boolean => !created.has(number);
  return needOfProposals(search, checkpoint, parts.number, latest === checkpoint, isPending);
}

/**
 * Returns which event the judgement of a trial waits for; null for none. A trial is not judged while its last
 * checkpoints are uploaded or undeclared, because they will compete.
 */
export async function needOfUnsettled(work: Reader, trial: string): Promise<string | null> {
  // A save of a task and an uploaded folder belong to no trial.
  if (trial === "") return null;
  const { named } = await work.guard(trials, trial);
  for (const checkpoint of named) {
    const { settled } = await work.load(checkpoints, checkpoint);
    if (!settled) return `checkpoint ${checkpoint} of trial ${trial} is on its way`;
  }
  return null;
}
