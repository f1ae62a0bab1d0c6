import type { Backend } from "../../backend.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";

/** Lists the storages that have checkpoints, from the registry. */
export function storageHandlers(backend: Backend) {
  return {
    listStorages: async (_request, context) => {
      const { storages, owner } = await backend.command("registry", "ListStorages", {}, context);
      if (owner === undefined) return { items: storages };
      const { log, witnessPosition, witnessEvent } = owner;
      const told = { log, witnessPosition: String(witnessPosition), witnessEvent };
      return { items: storages, owner: told };
    },
    adoptStorage: async ({ root, storageId, replacedIds }, context) => {
      const {
        position,
        checkpoints,
        storageId: adopted,
      } = await backend.command(
        "registry",
        "AdoptStorage",
        { root, storageId, replacedIds },
        context,
      );
      return {
        position: String(position || backend.position),
        checkpoints,
        storageId: adopted,
      };
    },
  } satisfies Partial<UnaryHandlers>;
}
