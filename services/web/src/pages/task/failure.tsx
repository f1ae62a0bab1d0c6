import type { ReplyOf } from "@trainyard/contracts";
import type { JSX } from "react";
import { Failure } from "../../components/failure/failure.tsx";
import { PathLink } from "../../components/path-link.tsx";
import { useCall } from "../../data/calls.ts";

type Task = Pick<ReplyOf<"getTask">, "id" | "reason">;

/** The reason that a task failed, with a link to the line of its log that says it. */
export function TaskFailure({ task: { id, reason } }: { readonly task: Task }): JSX.Element {
  const last = useCall("listTaskLogs", { task: id, tail: 1 });
  const errors = useCall("listTaskLogs", { task: id, tail: 1, level: "error" });
  const line = errors.data?.items.at(-1) ?? last.data?.items.at(-1);
  return (
    <Failure reason={reason.split("\n")[0] || "The task failed"}>
      {line !== undefined && (
        <PathLink to={`/tasks/${id}?tab=logs&line=${line.cursor}`}>Logs at this line</PathLink>
      )}
    </Failure>
  );
}
