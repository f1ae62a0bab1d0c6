/** Requests the next run of an open task that has none: it keeps its work, and starts from its latest save. */
import { assert, isRejection } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import type { TaskCommand } from "../core/task/commands.ts";
import type { TaskState } from "../core/task/state.ts";
import { tasks } from "../streams.ts";
import { isAwaiting, isUsable, type Waits } from "./advance.ts";

export async function advanceTask(
  work: Work,
  id: string,
  waits: Pick<Waits, "isOver" | "delays">,
): Promise<void> {
  const task = await work.load(foldOf(tasks), id);
  if (task.status !== "open" || task.unended !== null) return;
  if (await isAwaiting(work, id, task, waits)) return;
  const from = await latestSave(work, task);
  await decideTask(work, id, { kind: "request_run", from, delays: waits.delays });
}

/** Returns the latest save that is complete, intact and kept. Guards refuse the commit if that changes meanwhile. */
async function latestSave(work: Work, { saves }: TaskState) {
  for (const save of saves.toReversed()) {
    if (await isUsable(work, save.checkpoint)) return save;
  }
  return null;
}

/** Decides a command of a reaction. The task's state allows it, so a rejection is a bug. */
export async function decideTask(work: Work, task: string, command: TaskCommand): Promise<void> {
  const decided = await work.decide(tasks, task, command);
  assert(!isRejection(decided), `task ${task} takes ${command.kind}: ${JSON.stringify(decided)}`);
}
