import type { Plain } from "@trainyard/contracts";
import type { AdoptStorageRequest } from "@trainyard/contracts/api";
import {
  AdoptStorageSchema,
  ListStoragesSchema,
  StorageAdoptionSchema,
  StorageListSchema,
} from "@trainyard/contracts/commands";
import type { Handlers, RequestContext } from "../http/request-context.ts";
import type { Backend } from "../shell/backend.ts";

/** Which storages checkpoints lie in: the registry knows. */
export function storageHandlers(backend: Backend): Handlers["unary"] {
  return {
    "StorageService.ListStorages": async (_request: object, context: RequestContext) => {
      const { storages } = await backend.command(
        "registry",
        ListStoragesSchema,
        {},
        StorageListSchema,
        context,
      );
      return { items: storages };
    },
    "StorageService.AdoptStorage": async (
      { root, storageId, replacedIds }: Plain<AdoptStorageRequest>,
      context: RequestContext,
    ) => {
      const { position, checkpoints } = await backend.command(
        "registry",
        AdoptStorageSchema,
        { root, storageId, replacedIds },
        StorageAdoptionSchema,
        context,
      );
      return { position: String(position || backend.position), checkpoints };
    },
  };
}
