/** The reactions to starts and ends of the allocations of tasks. */
import { assert, isRejection, type TaskRunParts } from "@trainyard/kernel";
import type { Reaction, Work } from "@trainyard/runtime";
import { runEnd } from "../core/decisions/run-end.ts";
import type { TaskCommand } from "../core/task/commands.ts";
import type { TryDelays } from "../core/trial/tries.ts";
import { allocations, tasks } from "../streams.ts";

export function startTaskRun(
  { id, stored }: Reaction<"AllocationStarted">,
  { task, run }: TaskRunParts,
  work: Work,
): Promise<void> {
  return decide(work, task, { kind: "start_run", run, allocation: id, atMs: stored.timeMs });
}

export async function endTaskRun(
  { id, data, stored }: Reaction<"AllocationEnded">,
  { task, run }: TaskRunParts,
  work: Work,
  delays: TryDelays,
): Promise<void> {
  const allocation = await work.load(allocations, id);
  const { timeLimited: _, ...end } = runEnd(run, data, allocation, stored.timeMs);
  await decide(work, task, { ...end, stopWhy: allocation.stopWhy, delays });
}

async function decide(work: Work, task: string, command: TaskCommand): Promise<void> {
  const decided = await work.decide(tasks, task, command);
  assert(!isRejection(decided), `task ${task} takes ${command.kind}: ${JSON.stringify(decided)}`);
}
