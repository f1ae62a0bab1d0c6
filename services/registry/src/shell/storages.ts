/** Determines the storage at a root: the id that writers saw there, and the id that a person adopted. */
import { isAbsolute } from "node:path";
import { checkpointRoot, isStorageId, storageOfCheckpoint, storageStreamId } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { AdoptStorage, StorageAdoption, StorageList } from "@trainyard/contracts/commands";
import { isRejection, type Rejection, reject } from "@trainyard/kernel";
import { type CommandContext, type Executor, foldOf } from "@trainyard/runtime";
import type { Declared } from "../core/checkpoint/state.ts";
import type { StorageState } from "../core/storage/state.ts";
import type { CommandDeps } from "./commands.ts";
import type { PlacedGroup } from "./placed.ts";
import { storages } from "../streams.ts";

/** The id of a checkpoint's storage; empty if unknown. */
export async function storageOf(executor: Executor, declared: Declared): Promise<string> {
  const root = checkpointRoot(declared.storage ?? {});
  if (root === null) return "";
  return storageOfCheckpoint(declared.storageId, await adoptionAt(executor, root));
}

async function adoptionAt({ cache }: Executor, root: string): Promise<StorageState> {
  return (await cache.load(foldOf(storages), storageStreamId(root))).state;
}

export async function listStorages({ executor, placed }: CommandDeps): Promise<Plain<StorageList>> {
  const groups = await placed.groups();
  return {
    storages: await Promise.all(
      groups.map(async (group) => ({
        ...group,
        examples: [...group.examples],
        countsAs: storageOfCheckpoint(group.storageId, await adoptionAt(executor, group.root)),
      })),
    ),
  };
}

/** Records which storage is at a root of declared checkpoints. */
export async function adoptStorage(
  { executor, placed }: CommandDeps,
  { root, storageId, replacedIds }: Plain<AdoptStorage>,
  { identity }: CommandContext,
): Promise<Plain<StorageAdoption> | Rejection> {
  if (![storageId, ...replacedIds].every(isStorageId)) {
    return reject("invalid_request", "a storage id must be a UUID in lower case");
  }
  const groups = await placed.groups();
  const here = groups.filter((group) => group.root === root);
  if (here.length === 0) return unknownRoot(root, groups);
  // Hosts may see different directories under one path; an object store has a single marker, made by the platform.
  if (!isAbsolute(root))
    return reject(
      "storage_unsupported",
      `${root} is an object store: only a directory can be adopted`,
    );
  const result = await executor.execute(identity, async (work) => {
    const { authid: by } = identity.meta;
    const command = { kind: "adopt", root, storageId, replacedIds, by } as const;
    const decided = await work.decide(storages, storageStreamId(root), command);
    return isRejection(decided) ? decided : undefined;
  });
  if (isRejection(result)) return result;
  const adoption = await adoptionAt(executor, root);
  const covered = here.filter(
    (group) => storageOfCheckpoint(group.storageId, adoption) === storageId,
  );
  const checkpoints = covered.reduce((sum, group) => sum + group.checkpoints, 0);
  return { position: result.position, checkpoints };
}

function unknownRoot(root: string, groups: readonly PlacedGroup[]): Rejection {
  const roots = [...new Set(groups.map((group) => group.root))];
  const known = roots.length === 0 ? "there is none yet" : `there are: ${roots.join(", ")}`;
  return reject("storage_not_found", `no checkpoint was declared under ${root}: ${known}`);
}
