import type { Backend } from "../../backend.ts";
import type { UnaryHandlers } from "../../http/request-context.ts";

/** Lists the storages that have checkpoints, from the registry. */
export function storageHandlers(backend: Backend) {
  return {
    listStorages: async (_request, context) => {
      const { storages } = await backend.command("registry", "ListStorages", {}, context);
      return { items: storages };
    },
    adoptStorage: async ({ root, storageId, replacedIds }, context) => {
      const { position, checkpoints } = await backend.command(
        "registry",
        "AdoptStorage",
        { root, storageId, replacedIds },
        context,
      );
      return { position: String(position || backend.position), checkpoints };
    },
  } satisfies Partial<UnaryHandlers>;
}
