import type { ReplyOf } from "@trainyard/contracts";
import { useCall } from "../../data/calls.ts";
import type { TaskUse } from "./use-texts.ts";

/** Only the task's agent knows its use, which no event has. */
const everyMs = 15_000;

/** Returns the use of a running task; undefined while its agent does not answer. */
export function useTaskUse({
  id,
  state,
}: Pick<ReplyOf<"getTask">, "id" | "state">): TaskUse | undefined {
  const enabled = state === "RUNNING";
  const use = useCall("getTaskUse", { task: id }, { enabled, fresh: true, everyMs });
  return enabled && !use.isError ? use.data : undefined;
}
