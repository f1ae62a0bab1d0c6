import { isCheckpointId } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import { pageSize } from "../paging.ts";
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
    getDeletionHold: async ({ pageSize: asked, pageToken: after }, context) => {
      if (after !== "" && !isCheckpointId(after)) {
        throw new Problem(400, "invalid_request", "invalid page_token");
      }
      const request = { after, limit: pageSize(asked) };
      const answer = await backend.command("registry", "GetDeletionHold", request, context);
      const { held, position, sinceMs, event, noticedBy, detail, unfinished, more } = answer;
      const hold = { sinceMs, position: String(position), event, noticedBy, detail };
      return {
        ...(held && { hold }),
        items: unfinished,
        nextPageToken: more ? (unfinished.at(-1)?.checkpoint ?? "") : "",
      };
    },
    releaseDeletions: async ({ reason }, context) => {
      const { position } = await backend.command(
        "registry",
        "ReleaseDeletions",
        { reason },
        context,
      );
      return { position: String(position || backend.position) };
    },
  } satisfies Partial<UnaryHandlers>;
}
