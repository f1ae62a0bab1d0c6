/** The reactions to the allocations and the saves of tasks. */
import type { Plain } from "@trainyard/contracts";
import type { SealedCheckpoint } from "@trainyard/contracts/events";
import { isTaskId, type TaskRunParts } from "@trainyard/kernel";
import { foldOf, type Reaction, type Work } from "@trainyard/runtime";
import { runEnd } from "../core/decisions/run-end.ts";
import { allocations, tasks } from "../streams.ts";
import type { Waits } from "./advance.ts";
import { advanceTask, decideTask } from "./advance-task.ts";

export function startTaskRun(
  { id, stored }: Reaction<"AllocationStarted">,
  { task, run }: TaskRunParts,
  work: Work,
): Promise<void> {
  return decideTask(work, task, { kind: "start_run", run, allocation: id, atMs: stored.timeMs });
}

export async function endTaskRun(
  { id, data, stored }: Reaction<"AllocationEnded">,
  { task, run }: TaskRunParts,
  work: Work,
  waits: Waits,
): Promise<void> {
  const allocation = await work.load(allocations, id);
  const { timeLimited: _, ...end } = runEnd(run, data, allocation, stored.timeMs);
  const { unsaved, sealed } = data;
  const { stopWhy } = allocation;
  await decideTask(work, task, {
    ...{ ...end, stopWhy, delays: waits.delays },
    ...leftOf(sealed?.checkpoints ?? [], stored.timeMs),
    ...(unsaved === undefined ? {} : { unsaved }),
  });
  await advanceTask(work, task, waits);
}

function leftOf(sealed: readonly Plain<SealedCheckpoint>[], atMs: number) {
  return sealed.length === 0 ? {} : { left: { sealed, atMs } };
}

/** Names the saves of a lost run that a reconnected agent still has. */
export async function nameSaves(
  work: Work,
  { task, run }: TaskRunParts,
  sealed: readonly Plain<SealedCheckpoint>[],
  atMs: number,
): Promise<void> {
  await decideTask(work, task, { kind: "name_saves", run, left: { sealed, atMs } });
}

/** Notes a complete save, for which the next run may have waited. */
export async function noteSave(
  { id: checkpoint, data }: Reaction<"CheckpointCompleted">,
  task: string,
  work: Work,
  waits: Waits,
): Promise<void> {
  if (!isTaskId(task)) return;
  const { run, step, files, bytes } = data;
  const saved = { checkpoint, run, files, bytes, step };
  await decideTask(work, task, { kind: "note_save", saved });
  await advanceWaitingTask(work, task, waits);
}

/** Extends a run's wait while the upload of its save makes progress: a large one may take long. */
export async function awaitSave(
  { id: checkpoint, data, stored }: Reaction<"CheckpointUploadProgressed">,
  task: string,
  work: Work,
): Promise<void> {
  if (!isTaskId(task)) return;
  const moved = { run: data.run, checkpoint, atMs: stored.timeMs };
  await decideTask(work, task, { kind: "await_upload", ...moved });
}

/** Advances a task whose next run may have waited for a save. */
export async function advanceWaitingTask(work: Work, id: string, waits: Waits): Promise<void> {
  if (!isTaskId(id)) return;
  const { status, unended, awaitedUntilMs } = await work.load(foldOf(tasks), id);
  if (status === "open" && unended === null && awaitedUntilMs > 0) {
    await advanceTask(work, id, waits);
  }
}
