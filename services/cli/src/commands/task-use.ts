/** How a running task is used, and when it ends for want of use, for `task describe`. */
import { ApiError, type Client } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import type { Task, TaskUse } from "@trainyard/contracts/api";
import { cliLimits } from "../limits.ts";
import { durationText } from "../output.ts";

/** Returns the use of a running task; null if it does not run, or its agent does not answer now. */
export async function useOf(
  client: Pick<Client, "call">,
  { id, state }: Plain<Task>,
): Promise<Plain<TaskUse> | null> {
  if (state !== "RUNNING") return null;
  const signal = AbortSignal.timeout(cliLimits.taskUseMs);
  try {
    return await client.call("getTaskUse", { task: id }, { signal });
  } catch (error) {
    // The task is described without it: it may have ended meanwhile.
    if (error instanceof ApiError || signal.aborted) return null;
    throw error;
  }
}

/** The fields are empty where there is nothing to say. */
export function useFields(use: Plain<TaskUse> | null): readonly (readonly [string, string])[] {
  return [
    ["idle", use === null ? "" : idleText(use)],
    ["notice", use?.notice ?? ""],
  ];
}

function idleText({ inUse, idleSeconds, idleTimeoutSeconds }: Plain<TaskUse>): string {
  if (idleTimeoutSeconds === 0) return "";
  const [timeout, left] = [idleTimeoutSeconds, Math.max(0, idleTimeoutSeconds - idleSeconds)].map(
    (seconds) => durationText(seconds * 1_000),
  );
  return inUse ? `in use; ends after ${timeout} without use` : `ends in ${left} unless it is used`;
}
