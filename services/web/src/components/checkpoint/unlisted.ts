import type { ReplyOf } from "@trainyard/contracts";

type Unlisted = Pick<ReplyOf<"getCheckpoint">, "files" | "state" | "task">;

/** The reason why the answer lists no files of a checkpoint, as a sentence. */
export function unlistedText({ files, state, task }: Unlisted): string {
  if (files === 0) return "It has no files yet.";
  if (state !== "COMPLETED" || task === undefined) {
    return "Its files are listed while it is complete.";
  }
  return "Its owner reads the files, and those with task_control in the workspace.";
}
