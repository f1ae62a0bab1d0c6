import { isCheckpointId, isTaskId } from "@trainyard/kernel";
import { checkpointMakers } from "@trainyard/outbound";
import type { Backend } from "../../backend.ts";
import type { Caller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";

/** Throws a Problem of 403 if the run of a task, as a user, names a save of another task. */
export async function refuseSaveOfOthers(
  { parts }: Backend,
  checkpoint: string,
  caller: Caller,
): Promise<void> {
  if (caller.kind !== "user" || caller.run === null || !isCheckpointId(checkpoint)) return;
  const { state: maker } = await parts.executor.cache.load(checkpointMakers, checkpoint);
  if (!isTaskId(maker) || maker === caller.run.task) return;
  const detail = `checkpoint ${checkpoint} is a save of ${maker}, another task`;
  throw new Problem(403, "not_your_checkpoint", detail);
}
