/**
 * The places that an audit looks at and deletes in a storage: folders of a directory, or the keys below one name in a
 * bucket.
 */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type CheckpointStorageSection,
  checkpointRoot,
  directoryDisk,
  type ObjectStore,
  problemOfStorage,
  problemOfStore,
  removeCheckpointObjects,
} from "@trainyard/blob";
import { isCheckpointId } from "@trainyard/kernel";
import type { CommandDeps } from "./commands.ts";

export interface AuditedPlace {
  /** Why nothing may be said of it now; null where this is the storage that checkpoints were declared in. */
  problem(): Promise<string | null>;
  /** Those that are named as checkpoints are. */
  names(): Promise<readonly string[]>;
  /**
   * The last change of anything below a name that `names` gave, in milliseconds since 1970; infinite if it is not
   * known.
   */
  changedAtMs(name: string): Promise<number>;
  /** Throws a Fault, or an error of the disk, for what cannot be removed now. */
  remove(name: string): Promise<void>;
}

/** A place that is neither a directory nor an object store is a Fault of `stores`. */
export async function auditedPlace(
  { stores }: Pick<CommandDeps, "stores">,
  section: CheckpointStorageSection,
  storageId: string,
): Promise<AuditedPlace> {
  const store = await stores.of(section);
  if (store !== null) return new AuditedBucket(store, storageId);
  return new AuditedDirectory(checkpointRoot(section) ?? "", storageId);
}

class AuditedDirectory implements AuditedPlace {
  readonly #root: string;
  readonly #storageId: string;

  constructor(root: string, storageId: string) {
    this.#root = root;
    this.#storageId = storageId;
  }

  async problem(): Promise<string | null> {
    return problemOfStorage(this.#root, this.#storageId, await directoryDisk.seen(this.#root));
  }

  async names(): Promise<readonly string[]> {
    return (await readdir(this.#root)).filter(isCheckpointId);
  }

  changedAtMs(name: string): Promise<number> {
    return lastChange(join(this.#root, name));
  }

  remove(name: string): Promise<void> {
    return directoryDisk.removeFolder(join(this.#root, name));
  }
}

/** The last change of anything in a folder, or of a file. */
async function lastChange(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return Number.POSITIVE_INFINITY;
  let latest = stats.mtimeMs;
  if (!stats.isDirectory()) return latest;
  for (const name of await readdir(path).catch(() => [])) {
    latest = Math.max(latest, await lastChange(join(path, name)));
  }
  return latest;
}

class AuditedBucket implements AuditedPlace {
  readonly #store: ObjectStore;
  readonly #storageId: string;
  readonly #changes = new Map<string, number>();

  constructor(store: ObjectStore, storageId: string) {
    this.#store = store;
    this.#storageId = storageId;
  }

  problem(): Promise<string | null> {
    return problemOfStore(this.#store, this.#storageId);
  }

  /**
   * One pass over all keys of the prefix. An object right at a checkpoint's name, without a slash, is none of a
   * checkpoint.
   */
  async names(): Promise<readonly string[]> {
    this.#changes.clear();
    for await (const { key, writtenAtMs } of this.#store.list("")) {
      const [name = "", ...path] = key.split("/");
      if (path.length === 0 || !isCheckpointId(name)) continue;
      this.#changes.set(name, Math.max(this.#changes.get(name) ?? 0, writtenAtMs));
    }
    return [...this.#changes.keys()];
  }

  async changedAtMs(name: string): Promise<number> {
    return this.#changes.get(name) ?? Number.POSITIVE_INFINITY;
  }

  remove(name: string): Promise<void> {
    return removeCheckpointObjects(this.#store, name, this.#storageId);
  }
}
