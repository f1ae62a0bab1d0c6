/** The deletion of stored content: the states are those of `evolveContent`. */
import type { EventOf } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";
import { type ContentState, evolveContent, initialContent } from "@trainyard/runtime";

export type ContentEvent = EventOf<"ContentDeletionStarted" | "ContentSpared" | "ContentDeleted">;

/** What was found about one attempt decides nothing about a later one: in between an experiment may have named the content. */
export type ContentCommand =
  | { readonly kind: "start" }
  | { readonly kind: "spare" | "delete"; readonly attempt: number };

export const contentDecider: Decider<ContentState, ContentCommand, ContentEvent> = {
  initial: initialContent,
  decide(state, command) {
    if (command.kind === "start") {
      return state.deleting ? [] : [{ type: "ContentDeletionStarted", data: {} }];
    }
    if (!state.deleting || command.attempt !== state.attempts) return [];
    const type = command.kind === "spare" ? "ContentSpared" : "ContentDeleted";
    return [{ type, data: {} }];
  },
  evolve: evolveContent,
};
