/** Reactions to events of this and other services: decisions about experiments and trials. */
import type { EventData } from "@trainyard/contracts";
import type { StoredEvent } from "@trainyard/event-log";
import type { WarmStartSource } from "@trainyard/experiment-config/recorded";
import { assert, parseRunId, parseTaskRunId, parseTrialId, trialId } from "@trainyard/kernel";
import { foldOf, type Reaction, type ReactionHandlers, type Work } from "@trainyard/runtime";
import { stopSentence } from "@trainyard/search/sentences";
import { trialsNotOver } from "../core/foreign/search.ts";
import { mayEnd } from "../core/decisions/experiment-end.ts";
import { isStopping } from "../core/decisions/next-step.ts";
import { runEnd } from "../core/decisions/run-end.ts";
import { limits } from "../limits.ts";
import { advance, decideTrial, type Waits } from "./advance.ts";
import { type Proposal, takeUpTrials } from "./continuation.ts";
import { endExperiment } from "./end-experiment.ts";
import type { FanOuts } from "./fan-outs.ts";
import { allocations, checkpoints, experiments, logSignals, searches, trials } from "../streams.ts";
import {
  advanceWaitingTask,
  awaitSave,
  endTaskRun,
  nameSaves,
  noteSave,
  startTaskRun,
} from "./task-reactions.ts";

/**
 * The fan-outs that take over when an event concerns more trials than a reaction may read. Repeated calls are harmless.
 */
export type LargeFanOuts = Pick<FanOuts, "begin" | "lookForEnd" | "proposals">;

type OfExperiment = { readonly id: string; readonly stored: StoredEvent };

export function reactionHandlers(
  waits: Waits,
  fanOuts: LargeFanOuts,
  trialsMax: number = limits.trialsPerReactionMax,
): ReactionHandlers {
  const isLarge = async (work: Work, id: string): Promise<boolean> => {
    const { proposed, over } = await work.load(searches, id);
    return proposed - over > trialsMax;
  };
  const advanceAll = async ({ id, stored }: OfExperiment, work: Work): Promise<void> =>
    (await isLarge(work, id)) ? fanOuts.begin(stored) : advanceTrials(work, id, waits);
  const lookForEnd = async (id: string, stored: StoredEvent, work: Work): Promise<void> => {
    if (!(await isLarge(work, id))) return endExperiment(work, id);
    const experiment = await work.load(foldOf(experiments), id);
    if (mayEnd(experiment, await work.load(searches, id))) await fanOuts.lookForEnd(stored);
    return undefined;
  };
  const advanceOne = (
    event: { readonly id: string; readonly data: { readonly trial: number } },
    work: Work,
  ) => advance(work, trialId(event.id, event.data.trial), waits);
  const takingUp = {
    waits,
    proposals: fanOuts.proposals,
    create: (work: Work, id: string, proposed: Proposal) => createTrial(work, id, proposed, waits),
  };
  return {
    TrialProposed: ({ id, data }, work) => createTrial(work, id, data, waits),
    TrialSuspended: advanceOne,
    TrialResumed: advanceOne,
    TrialStopDecided: async (event, work) => {
      await advanceOne(event, work);
      await failFinished(event, work);
    },
    ExperimentActivated: advanceAll,
    ExperimentPaused: advanceAll,
    ExperimentStopRequested: async (event, work) => {
      await advanceAll(event, work);
      await lookForEnd(event.id, event.stored, work);
    },
    SearchCompleted: ({ id, stored }, work) => lookForEnd(id, stored, work),
    SearchContinued: (event, work) => takeUpTrials(event, work, takingUp),
    TrialKillRequested: ({ id }, work) => advance(work, id, waits),
    AllocationStarted: startRun,
    AllocationEnded: (event, work) => endRun(event, work, waits),
    AgentReturned: nameCheckpoints,
    AgentRemoved: (_, work) => hostIsGone(work, waits),
    CheckpointCompleted: async (event, work) => {
      const { task } = event.data;
      if (task !== undefined) return noteSave(event, task, work, waits);
      await noteCheckpoint(event, work);
      await advanceWaiting(work, event.data.trial, waits);
    },
    CheckpointUploadProgressed: awaitUpload,
    CheckpointFailed: ({ id }, work) => settled(work, id, waits),
    CheckpointAbandoned: ({ id }, work) => settled(work, id, waits),
    LogPolicyMatched: async ({ id, data }, work) => {
      if (data.action !== "" && parseTrialId(id) !== null) await advance(work, id, waits);
    },
    TrialEnded: async ({ id, stored }, work) => {
      const parts = parseTrialId(id);
      if (parts !== null) await lookForEnd(parts.experiment, stored, work);
    },
  };
}

async function createTrial(
  work: Work,
  experiment: string,
  proposed: EventData<"TrialProposed">,
  waits: Waits,
): Promise<void> {
  const state = await work.guard(foldOf(experiments), experiment);
  assert(state.status !== "none", `the experiment of search-${experiment} exists`);
  if (isStopping(state)) return;
  const id = trialId(experiment, proposed.number);
  work.begin(foldOf(trials), id);
  const created = await decideTrial(work, id, {
    kind: "create",
    created: {
      experiment,
      number: proposed.number,
      ...(proposed.hyperparameters === undefined
        ? {}
        : { hyperparameters: proposed.hyperparameters }),
      seed: proposed.seed,
      ...(await warmStartOf(work, experiment, proposed, state.source)),
      origin: proposed.origin,
      ...(proposed.evidence === undefined ? {} : { evidence: proposed.evidence }),
    },
  });
  // A new trial has no log yet, so its log stream need not be read.
  if (created.length > 0) work.begin(logSignals, id);
  await advance(work, id, waits);
}

type WarmStart = Pick<
  EventData<"TrialCreated">,
  "warmStartCheckpoint" | "sourceTrial" | "warmStartStep"
>;

/**
 * Returns the checkpoint of the first run: the one that the search names, or else the latest of the trial that the
 * search names, or else the one of the configuration.
 */
async function warmStartOf(
  work: Work,
  experiment: string,
  { startFromTrial, startFromCheckpoint, startFromStep }: EventData<"TrialProposed">,
  source?: WarmStartSource,
): Promise<WarmStart> {
  if (startFromTrial === undefined) {
    return { warmStartCheckpoint: source?.checkpoint ?? "", sourceTrial: source?.trial ?? "" };
  }
  const sourceTrial = trialId(experiment, startFromTrial);
  if (startFromCheckpoint === undefined) {
    return { warmStartCheckpoint: await latestCheckpoint(work, sourceTrial), sourceTrial };
  }
  return {
    warmStartCheckpoint: startFromCheckpoint,
    sourceTrial,
    ...(startFromStep === undefined ? {} : { warmStartStep: startFromStep }),
  };
}

/** Records a finished trial as failed. Its run may end before the search reports that its measurements are invalid. */
async function failFinished({ id, data }: Reaction<"TrialStopDecided">, work: Work): Promise<void> {
  if (data.fails !== true) return;
  const reason = stopSentence(data.rule, data.evidence);
  await decideTrial(work, trialId(id, data.trial), { kind: "fail_finished", reason });
}

/**
 * Returns the latest checkpoint of a trial that is not damaged; empty if the trial has none. If all are damaged, it is
 * the latest, with which the new trial fails.
 */
async function latestCheckpoint(work: Work, trial: string): Promise<string> {
  const { checkpoints: line } = await work.load(foldOf(trials), trial);
  for (const { checkpoint } of line.toReversed()) {
    if (!(await work.guard(checkpoints, checkpoint)).damaged) return checkpoint;
  }
  return line.at(-1)?.checkpoint ?? "";
}

/** Advances all trials that are not over. For many trials, `FanOuts` does so instead. */
async function advanceTrials(work: Work, experiment: string, waits: Waits): Promise<void> {
  const search = await work.load(searches, experiment);
  for (const number of trialsNotOver(search)) {
    await advance(work, trialId(experiment, number), waits);
  }
}

async function startRun(event: Reaction<"AllocationStarted">, work: Work): Promise<void> {
  const { id, stored } = event;
  const ofTask = parseTaskRunId(id);
  if (ofTask !== null) return startTaskRun(event, ofTask, work);
  const parts = parseRunId(id);
  if (parts === null) return;
  const started = { run: parts.run, allocation: id, atMs: stored.timeMs };
  await decideTrial(work, parts.trial, { kind: "start_run", ...started });
}

async function endRun(event: Reaction<"AllocationEnded">, work: Work, waits: Waits): Promise<void> {
  const { id, data, stored } = event;
  const ofTask = parseTaskRunId(id);
  if (ofTask !== null) return endTaskRun(event, ofTask, work, waits);
  const parts = parseRunId(id);
  if (parts === null) return;
  const allocation = await work.load(allocations, id);
  const sealed = data.sealed?.checkpoints ?? [];
  const left = sealed.length === 0 ? {} : { left: { sealed, atMs: stored.timeMs } };
  const startDamaged = await isStartDamaged(work, parts.trial);
  const end = { ...runEnd(parts.run, data, allocation, stored.timeMs), startDamaged, ...left };
  await decideTrial(work, parts.trial, end);
  await advance(work, parts.trial, waits);
}

/** Whether the checkpoint is damaged that the trial's unended run started from. */
async function isStartDamaged(work: Work, trial: string): Promise<boolean> {
  const { unended } = await work.load(foldOf(trials), trial);
  if (unended === null || unended.from === "") return false;
  return (await work.guard(checkpoints, unended.from)).damaged;
}

/** Names the checkpoints and saves of lost runs that a reconnected agent still has. */
async function nameCheckpoints(
  { data, stored }: Reaction<"AgentReturned">,
  work: Work,
): Promise<void> {
  for (const { allocation, checkpoints: sealed } of data.left?.runs ?? []) {
    if (sealed.length === 0) continue;
    const ofTask = parseTaskRunId(allocation);
    if (ofTask !== null) await nameSaves(work, ofTask, sealed, stored.timeMs);
    const parts = parseRunId(allocation);
    if (parts === null) continue;
    const left = { sealed, atMs: stored.timeMs };
    await decideTrial(work, parts.trial, { kind: "name_checkpoints", run: parts.run, left });
    await work.part();
  }
}

/** Extends a run's wait while the upload of its checkpoint makes progress: a large one may take long. */
async function awaitUpload(
  { id, data, stored }: Reaction<"CheckpointUploadProgressed">,
  work: Work,
): Promise<void> {
  if (data.task !== undefined) return awaitSave({ id, data, stored }, data.task, work);
  if (parseTrialId(data.trial) === null) return;
  const moved = { run: data.run, checkpoint: id, atMs: stored.timeMs };
  await decideTrial(work, data.trial, { kind: "await_upload", ...moved });
}

/** Ends the wait for a checkpoint that will never be complete. */
async function settled(work: Work, checkpoint: string, waits: Waits): Promise<void> {
  const { trial, task } = await work.load(checkpoints, checkpoint);
  await advanceWaiting(work, trial, waits);
  await advanceWaitingTask(work, task, waits);
}

/** Ends the waits for checkpoints that only the removed host had. */
async function hostIsGone(work: Work, waits: Waits): Promise<void> {
  for (const trial of [...waits.trials()]) {
    await advanceWaiting(work, trial, waits);
    await work.part();
  }
  for (const task of [...waits.tasks()]) {
    await advanceWaitingTask(work, task, waits);
    await work.part();
  }
}

/** Advances a trial whose next run may have waited for the checkpoint. */
async function advanceWaiting(work: Work, id: string, waits: Waits): Promise<void> {
  if (parseTrialId(id) === null) return;
  const { status, unended, awaitedUntilMs } = await work.load(foldOf(trials), id);
  if (status === "open" && unended === null && awaitedUntilMs > 0) await advance(work, id, waits);
}

async function noteCheckpoint(
  { id, data }: Reaction<"CheckpointCompleted">,
  work: Work,
): Promise<void> {
  const { trial, run, step } = data;
  if (parseTrialId(trial) === null) return;
  const noted = { checkpoint: id, run, step };
  await decideTrial(work, trial, { kind: "note_checkpoint", noted });
}
