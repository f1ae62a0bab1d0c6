/** Decides about the saves of a task's folder, by the rules of a trial's checkpoints. */
import type { EventData } from "@trainyard/contracts";
import { limits } from "../../limits.ts";
import type { Left } from "../trial/commands.ts";
import { awaitedUntilMs } from "../trial/decide.ts";
import type { TaskCommand } from "./commands.ts";
import type { TaskEvent, TaskState } from "./state.ts";

/**
 * Notes a complete save of the newest run, also after the task's end, since the task may be resumed. An older run's
 * does not count once a later run was requested, which works on without it.
 */
export function noteSave(state: TaskState, saved: EventData<"TaskSaved">): readonly TaskEvent[] {
  const isKnown = state.saves.some(({ checkpoint }) => checkpoint === saved.checkpoint);
  if (!mayBeSaved(state, saved.run) || isKnown) return [];
  return [{ type: "TaskSaved", data: saved }];
}

/** Names saves that the newest run has left on an agent that has returned. Each is named once. */
export function nameSaves(state: TaskState, run: number, left: Left): readonly TaskEvent[] {
  if (!mayBeSaved(state, run) || state.unended !== null) return [];
  const known = new Set([...state.named, ...state.saves.map(({ checkpoint }) => checkpoint)]);
  const checkpoints = left.sealed.filter(({ checkpoint }) => !known.has(checkpoint));
  if (checkpoints.length === 0) return [];
  // An ended task keeps the time: a person may resume it.
  const untilMs = awaitedUntilMs({ ...left, sealed: checkpoints });
  return [{ type: "RunCheckpointsNamed", data: { run, checkpoints, awaitedUntilMs: untilMs } }];
}

/** Extends the wait for a named save whose upload makes progress. */
export function awaitUpload(
  state: TaskState,
  { run, checkpoint, atMs }: Extract<TaskCommand, { kind: "await_upload" }>,
): readonly TaskEvent[] {
  const isAwaited =
    mayBeSaved(state, run) && state.unended === null && state.named.includes(checkpoint);
  const untilMs = atMs + limits.checkpointsWaitMs;
  if (!isAwaited || untilMs <= state.awaitedUntilMs) return [];
  return [{ type: "RunCheckpointsNamed", data: { run, checkpoints: [], awaitedUntilMs: untilMs } }];
}

/** Whether saves of the run count: it is the newest one of a task that keeps its work and is not deleted. */
function mayBeSaved({ status, plan, runs }: TaskState, run: number): boolean {
  return plan.keepsWork && run === runs && (status === "open" || status === "ended");
}
