import { assertNever, type Decider, type Rejection, reject } from "@trainyard/kernel";
import type { RetentionCommand } from "./commands.ts";
import { evolveRetention, initialRetention } from "./evolve.ts";
import type { RetentionEvent, RetentionState } from "./state.ts";

type Decision = readonly RetentionEvent[] | Rejection;

const alreadySo: Decision = [];

export const retentionDecider: Decider<RetentionState, RetentionCommand, RetentionEvent> = {
  initial: initialRetention,
  evolve: evolveRetention,
  decide(state, command) {
    switch (command.kind) {
      case "condemn":
        if (state.status !== "kept") return alreadySo;
        return [{ type: "CheckpointCondemned", data: command.condemnation }];
      case "spare":
        if (state.status === "kept") return alreadySo;
        if (state.status !== "condemned") return reject("deletion_started", "it is too late");
        return [{ type: "CheckpointSpared", data: { reason: command.reason } }];
      case "start_deletion":
        return startDeletion(state, command.atMs);
      case "record_deletion": {
        if (state.status === "deleted") return alreadySo;
        if (state.status !== "deleting") {
          return reject("not_deleting", "no deletion of the checkpoint was started");
        }
        const { files, bytes } = command;
        return [{ type: "CheckpointDeleted", data: { files, bytes } }];
      }
      case "delete_files":
        return deleteFiles(state, command);
      case "record_files": {
        if (!state.thinning) return alreadySo;
        const { files, bytes } = command;
        return [{ type: "CheckpointFilesDeleted", data: { files, bytes } }];
      }
      default:
        return assertNever(command, "a retention's command");
    }
  },
};

function startDeletion({ status, graceEndMs }: RetentionState, atMs: number): Decision {
  if (status === "deleting" || status === "deleted") return alreadySo;
  if (status === "kept") return reject("not_condemned", "the checkpoint is not condemned");
  if (atMs < graceEndMs) {
    return reject("grace_not_over", `the checkpoint is kept until ${graceEndMs} (Unix time in ms)`);
  }
  return [{ type: "CheckpointDeletionStarted", data: {} }];
}

function deleteFiles(
  { status, globs: before }: RetentionState,
  { globs, by, reason }: RetentionCommand & { readonly kind: "delete_files" },
): Decision {
  if (status !== "kept") {
    return reject("checkpoint_condemned", "the whole checkpoint is condemned or already deleted");
  }
  const more = globs.filter((glob) => !before.includes(glob));
  if (more.length === 0) return alreadySo;
  return [{ type: "CheckpointFilesDeletionStarted", data: { globs: more, by, reason } }];
}
