/** Events of other services, for tests. */
import type { AnyEvent } from "@trainyard/contracts";
import {
  AllocationEndCause,
  ExperimentOutcome,
  RunEndWhy,
  TrialOutcome,
} from "@trainyard/contracts/events";

export type SavePolicy = readonly [experimentBest: number, trialBest: number, trialLatest: number];

export function experimentCreated(
  root: string,
  policy: SavePolicy,
  smaller_is_better = true,
  searcher: object = {},
  more: object = {},
): AnyEvent {
  const [save_experiment_best, save_trial_best, save_trial_latest] = policy;
  const kept = { save_experiment_best, save_trial_best, save_trial_latest };
  return {
    type: "ExperimentCreated",
    data: {
      config: {
        checkpoint_storage: { type: "directory", container_path: root, ...kept },
        searcher: { name: "random", metric: "loss", smaller_is_better, ...searcher },
        ...more,
      },
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      seed: 1,
      name: "",
      description: "",
      labels: [],
      owner: "",
      workspace: "",
      project: "",
    },
  };
}

export function experimentEnded(): AnyEvent {
  return {
    type: "ExperimentEnded",
    data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
  };
}

export function trialCreated(id: string, warmStartCheckpoint = ""): AnyEvent {
  const [experiment = "", number = ""] = id.split(".");
  return {
    type: "TrialCreated",
    data: {
      experiment,
      number: Number(number),
      seed: 1,
      warmStartCheckpoint,
      sourceTrial: "",
      origin: "drawn",
    },
  };
}

export function runRequested(run: number, fromCheckpoint = "", fromStep = 0): AnyEvent {
  return {
    type: "RunRequested",
    data: {
      run,
      fromCheckpoint,
      fromStep,
      preemptible: true,
      experiment: "",
      delayMs: 0,
      workspace: "",
      owner: "",
    },
  };
}

/** Makes a RunEnded event. `sealed` lists the checkpoints that the run has left. */
export function runEnded(run: number, sealed: readonly string[] = []): AnyEvent {
  const checkpoints = sealed.map((checkpoint) => ({ checkpoint, step: 9, bytes: 1 }));
  const named = sealed.length === 0 ? {} : { sealed: { checkpoints } };
  const data = { run, why: RunEndWhy.FINISHED, exits: [], message: "", countsAsRestart: false };
  return { type: "RunEnded", data: { ...data, ...named } };
}

export function runCheckpointsNamed(run: number, checkpoint: string): AnyEvent {
  const checkpoints = [{ checkpoint, step: 9, bytes: 1 }];
  return { type: "RunCheckpointsNamed", data: { run, checkpoints, awaitedUntilMs: 0 } };
}

export function abandoned(): AnyEvent {
  return { type: "CheckpointAbandoned", data: { reason: "" } };
}

export function trialCheckpointed(checkpoint: string, run: number, step: number): AnyEvent {
  return { type: "TrialCheckpointed", data: { checkpoint, run, step } };
}

export function trialEnded(): AnyEvent {
  return {
    type: "TrialEnded",
    data: { outcome: TrialOutcome.COMPLETED, reason: "", restarts: 0 },
  };
}

/** The run of a checkpoint, and the last validation that it recorded before. */
type Recorded = { readonly run: number; readonly lastValidation?: string };

/** Makes a CheckpointDeclared event; `place` is a folder or another checkpoint_storage section. */
export function declared(
  trial: string,
  step: number,
  place: string | Readonly<Record<string, string>>,
  storageId = "",
  { run, lastValidation = "" }: Recorded = { run: 1 },
): AnyEvent {
  const storage =
    typeof place === "string" ? { type: "directory", container_path: place } : { ...place };
  const named = { ...(storageId && { storageId }), ...(lastValidation && { lastValidation }) };
  return { type: "CheckpointDeclared", data: { trial, run, step, storage, format: "", ...named } };
}

/** Makes the events of a complete checkpoint that a person uploaded as a folder. */
export function uploaded(by: string, root: string, storageId: string): readonly AnyEvent[] {
  const storage = { type: "directory", container_path: root };
  const about = { trial: "", run: 0, step: 0, storage, format: "", storageId, uploadedBy: by };
  return [{ type: "CheckpointDeclared", data: about }, completed("", 0, 1, 3)];
}

export function completed(
  trial: string,
  step: number,
  files: number,
  bytes: number,
  run = 1,
): AnyEvent {
  const data = { manifestDigest: "d", files, bytes, trial, run, step };
  return { type: "CheckpointCompleted", data };
}

export function validated(
  trial: string,
  step: number,
  values: number | Readonly<Record<string, number>>,
  { run, reportKey }: { readonly run: number; readonly reportKey: string } = {
    ...{ run: 1, reportKey: `0-${step}` },
  },
): AnyEvent {
  const scalars = typeof values === "number" ? { loss: values } : values;
  const data = { trial, run, step, scalars, reportKey, nonNumeric: [] };
  return { type: "ValidationReported", data };
}

/** Makes the end of a run's allocation; without `lastValidation` nobody saw it. */
export function allocationEnded(lastValidation?: string): AnyEvent {
  const cause = AllocationEndCause.EXITED;
  const named = lastValidation === undefined ? {} : { lastValidation };
  return { type: "AllocationEnded", data: { cause, exits: [], message: "", ...named } };
}

/** Makes the return of a lost agent that names the last validation of a run. */
export function agentReturned(allocation: string, lastValidation: string): AnyEvent {
  const left = { runs: [{ allocation, checkpoints: [], lastValidation }] };
  const holder = { folder: "f", place: "p", startedMs: 1 };
  return { type: "AgentReturned", data: { occupations: [], slots: [], left, ...holder } };
}

export function trialContinued(): AnyEvent {
  return { type: "TrialContinued", data: { continuation: 1 } };
}

export function pinned(by: string, holder = ""): AnyEvent {
  return { type: "CheckpointPinned", data: { by, holder, reason: "" } };
}

export function unpinned(by: string, holder = ""): AnyEvent {
  return { type: "CheckpointUnpinned", data: { by, holder } };
}

export function damaged(path: string): AnyEvent {
  const problems = [{ path, kind: "missing", detail: "is missing" }];
  return { type: "CheckpointDamaged", data: { problems, count: 1, by: "ada" } };
}

/** Makes the proposal of a trial that starts from a given checkpoint of another trial, or from its latest one. */
export function proposed(number: number, startFromTrial: number, checkpoint = ""): AnyEvent {
  return {
    type: "TrialProposed",
    data: {
      number,
      seed: 1,
      searchVersion: 1,
      origin: "explored",
      startFromTrial,
      ...(checkpoint && { startFromCheckpoint: checkpoint }),
    },
  };
}

export function repaired(): AnyEvent {
  return { type: "CheckpointRepaired", data: { by: "ada" } };
}

export const deletionRequested = (): AnyEvent => ({
  type: "ExperimentDeletionRequested",
  data: { graceEndMs: 1, reason: "" },
});
export const deletionUndone = (): AnyEvent => ({ type: "ExperimentDeletionUndone", data: {} });
export const deletedForGood = (): AnyEvent => ({ type: "ExperimentDeleted", data: {} });

export function taskCreated(root: string): AnyEvent {
  const checkpoint_storage = { type: "directory", container_path: root };
  return {
    type: "TaskCreated",
    data: {
      ...{ kind: "notebook", config: { checkpoint_storage }, name: "", owner: "" },
      ...{ contextDigest: "", contextBytes: 0, workspace: "", tokenId: "", sources: [] },
    },
  };
}

/** The declaration and the completion of a task's save, with two files. */
export function saved(
  task: string,
  run: number,
  step: number,
  root: string,
  storageId: string,
): readonly AnyEvent[] {
  const made = { trial: "", task, run, step };
  const storage = { type: "directory", container_path: root };
  return [
    {
      type: "CheckpointDeclared",
      data: { ...made, storage, format: "trainyard-work/1", storageId },
    },
    {
      type: "CheckpointCompleted",
      data: { ...made, manifestDigest: "d", files: 2, bytes: 5 },
    },
  ];
}
