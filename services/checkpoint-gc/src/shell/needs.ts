import type { Work } from "@trainyard/runtime";
import { needOfPins, needOfTrial } from "../core/policy/references.ts";
import type { Index } from "./index-view.ts";
import { checkpoints, trials } from "../streams.ts";

/**
 * Why a checkpoint is still needed; null when nothing refers to it. Every stream that might is guarded, so that what is
 * decided on the answer holds only if none of them has moved. A run that is requested of a stream that is not known here
 * yet guards the checkpoint's retention, and finds it condemned.
 */
export async function needOf(
  work: Work,
  index: Pick<Index, "referrers">,
  checkpoint: string,
): Promise<string | null> {
  const facts = await work.guard(checkpoints, checkpoint);
  let need = needOfPins(facts) ?? (await needOfUnsettled(work, facts.trial));
  for (const trial of new Set([facts.trial, ...(await index.referrers(checkpoint))])) {
    need ??= needOfTrial(trial, await work.guard(trials, trial), checkpoint);
  }
  return need;
}

/**
 * Of a trial whose last checkpoints are still on their way nothing is judged: they compete with the others. One that is not
 * declared yet is as much on its way. What is read a moment late is judged later: its end is told here too.
 */
export async function needOfUnsettled(work: Work, trial: string): Promise<string | null> {
  const { named } = await work.guard(trials, trial);
  for (const checkpoint of named) {
    const { settled } = await work.load(checkpoints, checkpoint);
    if (!settled) return `checkpoint ${checkpoint} of trial ${trial} is on its way`;
  }
  return null;
}
