/** Determines the storage at a root: the id that writers saw there, and the id that a person adopted. */
import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import {
  checkpointKey,
  type CheckpointStorageSection,
  isStorageId,
  markedPlace,
  type ObjectStore,
  problemOfSeenStore,
  problemOfStorage,
  storageOfCheckpoint,
  storageRoot,
  storageStreamId,
  writeStoreMarker,
} from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { AdoptStorage, StorageAdoption, StorageList } from "@trainyard/contracts/commands";
import { assert, isFault, isRejection, type Rejection, reject } from "@trainyard/kernel";
import { type CommandContext, type Executor, foldOf } from "@trainyard/runtime";
import type { Declared } from "../core/checkpoint/state.ts";
import type { StorageState } from "../core/storage/state.ts";
import type { CommandDeps } from "./commands.ts";
import type { PlacedGroup } from "./placed.ts";
import { checkpoints, storages } from "../streams.ts";

/** The id of a checkpoint's storage; empty if unknown. */
export async function storageOf(executor: Executor, declared: Declared): Promise<string> {
  const root = storageRoot(declared.storage ?? {});
  if (root === null) return "";
  return storageOfCheckpoint(declared.storageId, await adoptionAt(executor, root));
}

export async function adoptionAt({ cache }: Executor, root: string): Promise<StorageState> {
  return (await cache.load(foldOf(storages), storageStreamId(root))).state;
}

/** The section of a root's checkpoints; all sections of one root name the same place. */
export async function sectionOf(
  { executor, placed }: Pick<CommandDeps, "executor" | "placed">,
  root: string,
): Promise<CheckpointStorageSection> {
  const checkpoint = await placed.anyAt(root);
  assert(checkpoint !== null, `a checkpoint was declared under ${root}`);
  const { declared } = (await executor.cache.load(foldOf(checkpoints), checkpoint)).state;
  assert(declared !== null, `checkpoint ${checkpoint} was declared`);
  return declared.storage ?? {};
}

export type CountedGroup = PlacedGroup & { readonly countsAs: string };

/** The groups of checkpoints, with the storage that each counts as stored in. */
export async function groupsOf({
  executor,
  placed,
}: Pick<CommandDeps, "executor" | "placed">): Promise<readonly CountedGroup[]> {
  const groups = await placed.groups();
  return Promise.all(
    groups.map(async (group) => ({
      ...group,
      countsAs: storageOfCheckpoint(group.storageId, await adoptionAt(executor, group.root)),
    })),
  );
}

export async function listStorages(deps: CommandDeps): Promise<Plain<StorageList>> {
  const groups = await groupsOf(deps);
  if (groups.length === 0) return { storages: [] };
  const roots = [...new Set(groups.map(({ root }) => root))];
  const looks = new Map(roots.map((root) => [root, problemsAt(deps, root)]));
  const listed = groups.map(async (group) => {
    const problem = await looks.get(group.root);
    const held = problem?.(group.countsAs) ?? "";
    return { ...group, examples: [...group.examples], held };
  });
  const { log, witness } = await deps.claims.owner();
  const owner = { log, witnessPosition: witness.position, witnessEvent: witness.id };
  return { storages: await Promise.all(listed), owner };
}

/** Looks at the marker of a root, and returns what keeps the files of a storage there; null if nothing does. */
async function problemsAt(
  deps: CommandDeps,
  root: string,
): Promise<(storageId: string) => string | null> {
  try {
    const { place, ask, store } = await placeAt(deps, root);
    const [seen, held] = await ask(async () => {
      const found = await place.seen();
      return [found, await deps.claims.held(root, found)] as const;
    });
    return (storageId) => {
      if (held !== null || storageId === "") return held;
      if (store === null) return problemOfStorage(root, storageId, seen);
      return problemOfSeenStore(root, storageId, seen);
    };
  } catch (error) {
    if (!isFault(error)) throw error;
    return () => null;
  }
}

/** The place of a root's marker; `ask` reads or writes it within the limits for its storage. */
async function placeAt(deps: CommandDeps, root: string) {
  const { stores, disk, brake } = deps;
  const section = await sectionOf(deps, root);
  const store = await stores.of(section);
  const ask = <Result>(work: () => Promise<Result>): Promise<Result> =>
    store === null ? work() : brake.ask(store, work);
  return { store, place: markedPlace(section, store, disk), ask };
}

/**
 * Records which storage is at a root of declared checkpoints. The caller has written the marker of a directory on a
 * host that mounts it. The marker of an object store is written here.
 */
export async function adoptStorage(
  deps: CommandDeps,
  request: Plain<AdoptStorage>,
  { identity }: CommandContext,
): Promise<Plain<StorageAdoption> | Rejection> {
  const { executor } = deps;
  const { root } = request;
  const groups = await groupsOf(deps);
  const here = groups.filter((group) => group.root === root);
  const isBucket = !isAbsolute(root);
  const given = [...request.replacedIds];
  if (request.storageId !== "" || !isBucket) given.push(request.storageId);
  if (!given.every(isStorageId)) {
    return reject("invalid_request", "a storage id must be a UUID in lower case");
  }
  if (here.length === 0) return unknownRoot(root, groups);
  const adopted = isBucket ? await takeBucket(deps, request, here) : request;
  if (isRejection(adopted)) return adopted;
  const { storageId, replacedIds } = adopted;
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
  const count = covered.reduce((sum, group) => sum + group.checkpoints, 0);
  return { position: result.position, checkpoints: count, storageId };
}

/** Writes the marker of an object store: the id that most checkpoints count as, this log, and its last event. */
async function takeBucket(
  deps: CommandDeps,
  { root, storageId: wanted, replacedIds }: Plain<AdoptStorage>,
  here: readonly CountedGroup[],
): Promise<{ readonly storageId: string; readonly replacedIds: readonly string[] } | Rejection> {
  const { place, ask, store } = await placeAt(deps, root);
  assert(store !== null, `${root} is an object store`);
  const isReplaced = ({ countsAs }: CountedGroup): boolean => replacedIds.includes(countsAs);
  const [most] = here
    .filter((group) => group.countsAs !== "" && !isReplaced(group))
    .toSorted((a, b) => b.checkpoints - a.checkpoints);
  const seen = await ask(() => place.seen());
  const marked = seen.kind === "marked" ? seen.id : "";
  const id = wanted || (most?.countsAs ?? (marked || randomUUID()));
  const claimed = here.filter((group) => group.countsAs === id || isReplaced(group));
  const examples = claimed.flatMap((group) => group.examples);
  const found = await ask(() => someAreIn(store, examples));
  const [example] = examples;
  if (example !== undefined && !found) {
    const detail = `none of ${examples.length} checkpoints that were stored in ${root}, such as ${example}, is there: is it the same bucket? Nothing was changed`;
    return reject("storage_not_matching", detail);
  }
  const owner = await deps.claims.owner();
  await ask(() => writeStoreMarker(store, { id, owner }));
  // Checkpoints that were declared with the replaced marker count as stored here, too.
  const replaced = new Set([...replacedIds, ...(marked === "" ? [] : [marked])]);
  replaced.delete(id);
  return { storageId: id, replacedIds: [...replaced] };
}

async function someAreIn(store: ObjectStore, checkpointIds: readonly string[]): Promise<boolean> {
  for (const checkpoint of checkpointIds) {
    for await (const _ of store.list(checkpointKey(checkpoint, ""))) return true;
  }
  return false;
}

function unknownRoot(root: string, groups: readonly PlacedGroup[]): Rejection {
  const roots = [...new Set(groups.map((group) => group.root))];
  const known = roots.length === 0 ? "there is none yet" : `there are: ${roots.join(", ")}`;
  return reject("storage_not_found", `no checkpoint was declared under ${root}: ${known}`);
}
