/** The deletion of stored content: kept → deleting → kept. The content was either spared, or deleted and counted. */
import type { EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";

export type ContentState = {
  readonly deletions: number;
  /** The number of started deletions, which is the number of the latest attempt. */
  readonly attempts: number;
  readonly deleting: boolean;
};

export type ContentEvent = EventOf<"ContentDeletionStarted" | "ContentSpared" | "ContentDeleted">;

/** A command names its attempt, because since an earlier attempt an experiment may have named the content. */
export type ContentCommand =
  | { readonly kind: "start" }
  | { readonly kind: "spare" | "delete"; readonly attempt: number };

export const contentDecider: Decider<ContentState, ContentCommand, ContentEvent> = {
  initial: { deletions: 0, attempts: 0, deleting: false },
  decide(state, command) {
    if (command.kind === "start") {
      return state.deleting ? [] : [{ type: "ContentDeletionStarted", data: {} }];
    }
    if (!state.deleting || command.attempt !== state.attempts) return [];
    return command.kind === "spare"
      ? [{ type: "ContentSpared", data: {} }]
      : [{ type: "ContentDeleted", data: {} }];
  },
  evolve({ deletions, attempts }, { type }) {
    if (type === "ContentDeletionStarted") {
      return { deletions, attempts: attempts + 1, deleting: true };
    }
    return { deletions: deletions + Number(type === "ContentDeleted"), attempts, deleting: false };
  },
};
