/** The references that keep a checkpoint. Each condemnation records the names of the references that were checked. */
import { holderText } from "@trainyard/kernel";
import type { CheckpointFacts } from "../foreign/checkpoint.ts";
import type { SearchFacts } from "../foreign/search.ts";
import type { TaskFacts } from "../foreign/task.ts";
import type { TrialFacts } from "../foreign/trial.ts";

export const referencesChecked: readonly string[] = [
  "pins",
  "unended runs that start from it",
  "unended trials that it is the latest of",
  "unended trials that begin from it",
  "proposed trials that begin from it",
  "unended experiments whose trials begin from it",
  "checkpoints of its trial that are not settled yet",
  "tasks that continue from it",
];

/** Returns why a task needs a save; null if it does not. An ended task may be resumed from its latest one. */
export function needOfTask(
  id: string,
  { deleted, latest, unended }: TaskFacts,
  checkpoint: string,
): string | null {
  if (deleted) return null;
  if (unended?.fromCheckpoint === checkpoint) return `run ${id}#${unended.run} starts from it`;
  return latest === checkpoint ? `task ${id} continues from it` : null;
}

/** Returns why a trial needs the checkpoint; null if it does not. */
export function needOfTrial(id: string, trial: TrialFacts, checkpoint: string): string | null {
  if (trial.ended) return null;
  if (trial.unended?.fromCheckpoint === checkpoint) {
    return `run ${id}#${trial.unended.run} starts from it`;
  }
  if (trial.latest === checkpoint) return `trial ${id} continues from it`;
  if (trial.warmStart === checkpoint) return `trial ${id} begins from it`;
  return null;
}

/**
 * Returns why a proposed trial of the experiment's search needs the checkpoint of `trial`; null if none does.
 * `isLatest`: whether the checkpoint is the latest of `trial`; a proposal without a checkpoint starts from it.
 * `pending`: whether a proposed trial has not been created yet. A created trial refers to the checkpoint itself.
 */
export function needOfProposals(
  { proposals }: SearchFacts,
  checkpoint: string,
  trial: number,
  isLatest: boolean,
  pending: (number: number) => boolean,
): string | null {
  for (const [number, proposal] of proposals) {
    const named = proposal.checkpoint === checkpoint;
    const latest = proposal.checkpoint === "" && proposal.trial === trial && isLatest;
    if ((named || latest) && pending(number)) return `proposed trial ${number} begins from it`;
  }
  return null;
}

/** Returns the first holder of a pin as a sentence; null without a pin. */
export function needOfPins({ pins }: CheckpointFacts): string | null {
  const [by] = pins;
  if (by === undefined) return null;
  const holder = holderText(by);
  return holder === by ? `${by} pinned it` : `${holder} uses it`;
}
