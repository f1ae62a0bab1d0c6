import { parseRunId, parseTaskRunId } from "@trainyard/kernel";

/** The names under which lines of a run are stored. A task has no experiment, so its id is in both columns. */
export type LineOwner = {
  readonly experiment: string;
  readonly trial: string;
  readonly run: number;
};

/** Returns the owner of a run's lines; null for any other text. */
export function ownerOf(allocation: string): LineOwner | null {
  const run = parseRunId(allocation);
  if (run !== null) return { experiment: run.experiment, trial: run.trial, run: run.run };
  const ofTask = parseTaskRunId(allocation);
  if (ofTask === null) return null;
  return { experiment: ofTask.task, trial: ofTask.task, run: ofTask.run };
}
