import type { Decider } from "@trainyard/kernel";
import type { StorageCommand } from "./commands.ts";
import { evolveStorageState, initialStorage } from "./evolve.ts";
import type { StorageEvent, StorageState } from "./state.ts";

export const storageDecider: Decider<StorageState, StorageCommand, StorageEvent> = {
  initial: initialStorage,
  evolve: evolveStorageState,
  decide(state, command) {
    if (command.kind === "delete_unknown") {
      const { kind: _, ...data } = command;
      return [{ type: "UnknownFilesDeleted", data }];
    }
    const { root, storageId, replacedIds, by } = command;
    const known = replacedIds.every((id) => state.replaced.includes(id));
    if (state.id === storageId && known) return [];
    const data = { root, storageId, replacedIds: [...replacedIds], by };
    return [{ type: "StorageAdopted", data }];
  },
};
