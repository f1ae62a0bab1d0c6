/** The uses of a checkpoint. Names of what is looked for are in each condemnation, as evidence. */
import type { CheckpointFacts } from "../foreign/checkpoint.ts";
import type { SearchFacts } from "../foreign/search.ts";
import type { TrialFacts } from "../foreign/trial.ts";

export const referencesChecked: readonly string[] = [
  "pins",
  "unended runs that start from it",
  "unended trials that it is the latest of",
  "unended trials that begin from it",
  "proposed trials that begin from it",
  "unended experiments whose trials begin from it",
  "checkpoints of its trial that are not settled yet",
];

/** Why a trial needs the checkpoint; null when it does not. */
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
 * Why a proposal of the experiment's search needs the checkpoint of a trial; null when none does. `isLatest`: it is the
 * latest of that trial, from which a proposal starts that names the trial only. `pending`: whether a proposed trial
 * does not exist yet; one that exists holds its checkpoint itself.
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

/** The first holder of a pin; null for none. */
export function needOfPins({ pins }: CheckpointFacts): string | null {
  const [by] = pins;
  return by === undefined ? null : `${by} pinned it`;
}
