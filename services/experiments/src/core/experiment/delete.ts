/**
 * The deletion of an experiment: requested, undone before it is done, or done when the grace is over. Until then its
 * files stay. Other changes are refused meanwhile.
 */
import { type Rejection, reject } from "@trainyard/kernel";
import { limits } from "../../limits.ts";
import type { ExperimentCommand } from "./commands.ts";
import type { ExperimentEvent, ExperimentState } from "./state.ts";

type Decision = readonly ExperimentEvent[] | Rejection;
type DeletionCommand = Extract<
  ExperimentCommand,
  { readonly kind: "delete" | "undelete" | "delete_for_good" }
>;

const alreadySo: Decision = [];

export function isOfDeletion(command: ExperimentCommand): command is DeletionCommand {
  const { kind } = command;
  return kind === "delete" || kind === "undelete" || kind === "delete_for_good";
}

export function refusedAsDeleted({ gone }: NonNullable<ExperimentState["deletion"]>): Rejection {
  if (gone)
    return reject("experiment_not_found", "the experiment was deleted for good: its grace is over");
  return reject("experiment_deleted", "the experiment is deleted: undo the deletion first");
}

export function decideDeletion(state: ExperimentState, command: DeletionCommand): Decision {
  const { deletion } = state;
  if (deletion?.gone === true) {
    return command.kind === "undelete" ? refusedAsDeleted(deletion) : alreadySo;
  }
  switch (command.kind) {
    case "delete": {
      if (deletion !== null) return alreadySo;
      if (state.status !== "ended") {
        return reject("experiment_not_ended", "the experiment has not ended: cancel it first");
      }
      const reason = command.reason.slice(0, limits.messageCharsMax);
      const { graceEndMs } = command;
      return [{ type: "ExperimentDeletionRequested", data: { graceEndMs, reason } }];
    }
    case "undelete":
      if (deletion === null) return alreadySo;
      return [{ type: "ExperimentDeletionUndone", data: {} }];
    default:
      if (deletion === null || command.atMs < deletion.graceEndMs) return alreadySo;
      return [{ type: "ExperimentDeleted", data: {} }];
  }
}
