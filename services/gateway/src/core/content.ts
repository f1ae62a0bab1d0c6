/** The deletion of stored content: kept → deleting → kept, spared or with one deletion more. */
import type { EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";

export type ContentState = {
  readonly deletions: number;
  /** How often a deletion was begun: the number of the latest. */
  readonly attempts: number;
  readonly deleting: boolean;
};

export type ContentEvent = EventOf<"ContentDeletionStarted" | "ContentSpared" | "ContentDeleted">;

/** A finding about one attempt does not decide a later one: an experiment may have named the content in between. */
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
    const type = command.kind === "spare" ? "ContentSpared" : "ContentDeleted";
    return [{ type, data: {} }];
  },
  evolve({ deletions, attempts }, { type }) {
    if (type === "ContentDeletionStarted") {
      return { deletions, attempts: attempts + 1, deleting: true };
    }
    return { deletions: deletions + Number(type === "ContentDeleted"), attempts, deleting: false };
  },
};
