/** What still needs a checkpoint. Names of what is looked for are in each condemnation, as evidence. */
import type { CheckpointFacts } from "../foreign/checkpoint.ts";
import type { TrialFacts } from "../foreign/trial.ts";

export const referencesChecked: readonly string[] = [
  "pins",
  "unended runs that start from it",
  "unended trials that it is the latest of",
  "unended trials that begin from it",
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

/** Who pinned it; null for nobody. */
export function needOfPins({ pins }: CheckpointFacts): string | null {
  const [by] = pins;
  return by === undefined ? null : `${by} pinned it`;
}
