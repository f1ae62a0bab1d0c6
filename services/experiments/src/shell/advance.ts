/** Brings a trial to what is wanted of it: loads what the rule asks for, and decides what the rule says. */
import { assert, isRejection, parseTrialId } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import { searchWant } from "../core/foreign/search.ts";
import { nextStep, type Origin } from "../core/policy/next-step.ts";
import type { TrialCommand } from "../core/trial/commands.ts";
import type { TrialEvent, TrialState } from "../core/trial/state.ts";
import { checkpoints, experiments, logSignals, retentions, searches, trials } from "../streams.ts";

/** Whether the time is over that a trial's next run waits, which its stream says ends then. */
export type Waits = { isOver(trial: string, untilMs: number): boolean };

export async function advance(work: Work, id: string, waits: Waits): Promise<void> {
  const trial = await work.load(foldOf(trials), id);
  const parts = parseTrialId(id);
  if (parts === null || trial.status !== "open") return;
  // A user may pause or stop the experiment at this moment: the commit holds only if it was not. The search needs
  // no guard, as whatever it decides meanwhile reaches this trial by its own event.
  const experiment = await work.guard(foldOf(experiments), parts.experiment);
  const search = searchWant(await work.load(searches, parts.experiment), parts.number);
  const origin = await originOf(work, trial);
  const awaits = await isAwaiting(work, id, trial, waits);
  const signals = await work.load(logSignals, id);
  const step = nextStep({ id, trial, experiment, search, origin, awaits, signals });
  if (step !== null) await decideTrial(work, id, step);
}

/** The latest checkpoint that is complete and kept, proven so by guards, as it may be condemned at this moment. */
async function originOf(work: Work, trial: TrialState): Promise<Origin> {
  if (trial.unended !== null) return { kind: "nothing" };
  for (const { checkpoint, step } of trial.checkpoints.toReversed()) {
    if (await isUsable(work, checkpoint)) return { kind: "checkpoint", checkpoint, step };
  }
  const { warmStart, warmStartStep } = trial;
  if (warmStart === "") return { kind: "nothing" };
  if (await isUsable(work, warmStart)) {
    return { kind: "checkpoint", checkpoint: warmStart, step: warmStartStep };
  }
  return { kind: "gone", checkpoint: warmStart };
}

/**
 * Whether something that the last run has left may yet be complete, or is, and the trial's stream does not have it yet:
 * that reaction is still to come. What is read a moment late only makes it wait as long.
 */
async function isAwaiting(
  work: Work,
  id: string,
  trial: TrialState,
  waits: Waits,
): Promise<boolean> {
  const { unended, awaitedUntilMs } = trial;
  if (unended !== null || awaitedUntilMs === 0 || waits.isOver(id, awaitedUntilMs)) return false;
  for (const checkpoint of trial.named) {
    const { settled, complete } = await work.load(checkpoints, checkpoint);
    if (!settled || complete) return true;
  }
  return false;
}

/** Whether a run may start from it, proven by guards. */
export async function isUsable(work: Work, checkpoint: string): Promise<boolean> {
  const { complete } = await work.guard(checkpoints, checkpoint);
  const { kept } = await work.guard(retentions, checkpoint);
  return complete && kept;
}

/** The rule and the reactions ask only for what the trial's state allows: a rejection is a bug. */
export async function decideTrial(
  work: Work,
  id: string,
  command: TrialCommand,
): Promise<readonly TrialEvent[]> {
  const decided = await work.decide(trials, id, command);
  assert(!isRejection(decided), `trial ${id} takes ${command.kind}: ${JSON.stringify(decided)}`);
  return decided;
}
