/** Advances a trial: loads the state that the rule needs, and decides the step that the rule returns. */
import { allocationId, assert, isRejection, parseTrialId, runId } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import { searchWant } from "../core/foreign/search.ts";
import { nextStep, type Origin } from "../core/decisions/next-step.ts";
import type { TrialCommand } from "../core/trial/commands.ts";
import type { TrialEvent, TrialState } from "../core/trial/state.ts";
import type { TryDelays } from "../core/trial/tries.ts";
import {
  allocations,
  checkpoints,
  experiments,
  goneAgents,
  logSignals,
  retentions,
  searches,
  trials,
} from "../streams.ts";

/** How long the next run of a trial or a task waits. */
export type Waits = {
  /** Whether a wait for checkpoints is over. `untilMs` is its end in the stream of the trial or task. */
  isOver(owner: string, untilMs: number): boolean;
  /** The trials whose next run waits for checkpoints. */
  trials(): Iterable<string>;
  /** The tasks whose next run waits for saves, and others that a wait names. */
  tasks(): Iterable<string>;
  readonly delays: TryDelays;
};

export async function advance(work: Work, id: string, waits: Waits): Promise<void> {
  const trial = await work.load(foldOf(trials), id);
  const parts = parseTrialId(id);
  if (parts === null || trial.status !== "open") return;
  // The guard refuses the commit if a user pauses or stops the experiment meanwhile. The search needs no guard: its
  // later decisions reach this trial as events.
  const experiment = await work.guard(foldOf(experiments), parts.experiment);
  const search = searchWant(await work.load(searches, parts.experiment), parts.number);
  const origin = await originOf(work, trial);
  const awaits = await isAwaiting(work, id, trial, waits);
  const acknowledged = await hasAcknowledged(work, id, trial);
  const signals = await work.load(logSignals, id);
  const { delays } = waits;
  const reads = { trial, experiment, search, origin, acknowledged, awaits, signals, delays };
  const step = nextStep({ id, ...reads });
  if (step !== null) await decideTrial(work, id, step);
}

/** Whether the trial's stopping run has acknowledged its stop. A stale read is harmless: the run ends either way. */
async function hasAcknowledged(work: Work, id: string, trial: TrialState): Promise<boolean> {
  if (trial.unended === null || trial.unended.stop === null) return false;
  return (await work.load(allocations, runId(id, trial.runs))).stopAcknowledged;
}

/**
 * Returns the latest checkpoint that is complete, intact and kept. Guards refuse the commit if one is condemned
 * meanwhile. A trial that has none starts without one, or again from the checkpoint that it began from.
 */
async function originOf(work: Work, trial: TrialState): Promise<Origin> {
  if (trial.unended !== null) return { kind: "nothing" };
  const [latest] = trial.checkpoints.slice(-1);
  const isDamagedAt = async (checkpoint: string) =>
    (await work.guard(checkpoints, checkpoint)).damaged;
  const left =
    latest !== undefined && (await isDamagedAt(latest.checkpoint))
      ? { damaged: latest.checkpoint }
      : {};
  for (const { checkpoint, step } of trial.checkpoints.toReversed()) {
    if (await isUsable(work, checkpoint)) return { kind: "checkpoint", checkpoint, step, ...left };
  }
  const { warmStart, warmStartStep } = trial;
  if (warmStart === "") return { kind: "nothing", ...left };
  if (await isUsable(work, warmStart)) {
    return { kind: "checkpoint", checkpoint: warmStart, step: warmStartStep, ...left };
  }
  const why = (await isDamagedAt(warmStart)) ? "damaged" : "gone";
  return { kind: "gone", checkpoint: warmStart, why };
}

/** The last run of a trial or a task, and the checkpoints that it has left. */
type Waiting = Pick<TrialState, "runs" | "named" | "awaitedUntilMs"> & {
  readonly unended: object | null;
};

/**
 * Whether a checkpoint of the last run may still complete, or has completed while its event is not in the stream of the
 * trial or task yet. A slightly stale read only prolongs the wait.
 */
export async function isAwaiting(
  work: Work,
  id: string,
  { unended, awaitedUntilMs, runs, named }: Waiting,
  waits: Pick<Waits, "isOver">,
): Promise<boolean> {
  if (unended !== null || awaitedUntilMs === 0 || waits.isOver(id, awaitedUntilMs)) return false;
  if (await isNoHostLeft(work, allocationId(id, runs))) return false;
  for (const checkpoint of named) {
    const { settled, complete } = await work.load(checkpoints, checkpoint);
    if (!settled || complete) return true;
  }
  return false;
}

/** Whether all hosts of a run are gone. No record says which of them has a checkpoint that it left. */
async function isNoHostLeft(work: Work, run: string): Promise<boolean> {
  const { agents } = await work.load(allocations, run);
  for (const agent of agents) if (!(await work.load(goneAgents, agent))) return false;
  return agents.length > 0;
}

/** Whether a run may start from the checkpoint; guards refuse the commit if that changes. */
export async function isUsable(work: Work, checkpoint: string): Promise<boolean> {
  const { complete } = await work.guard(checkpoints, checkpoint);
  const { kept } = await work.guard(retentions, checkpoint);
  return complete && kept;
}

/** Decides a command of the rule or of a reaction. The trial's state allows it, so a rejection is a bug. */
export async function decideTrial(
  work: Work,
  id: string,
  command: TrialCommand,
): Promise<readonly TrialEvent[]> {
  const decided = await work.decide(trials, id, command);
  assert(!isRejection(decided), `trial ${id} takes ${command.kind}: ${JSON.stringify(decided)}`);
  return decided;
}
