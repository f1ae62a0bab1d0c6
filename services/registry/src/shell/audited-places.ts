/** The storages that an audit lists and deletes from: folders in a directory, or keys below a name in a bucket. */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type CheckpointStorageSection,
  directoryDisk,
  type MarkedPlace,
  markedPlace,
  type ObjectStore,
  problemOfStorage,
  problemOfStore,
  removeCheckpointObjects,
} from "@trainyard/blob";
import { isCheckpointId } from "@trainyard/kernel";
import type { CommandDeps } from "./commands.ts";

export interface AuditedPlace {
  /** The place of the marker. */
  readonly marked: MarkedPlace;
  readonly storageId: string;
  /** The reason why the content proves nothing; null where this is the storage in which checkpoints were declared. */
  problem(): Promise<string | null>;
  /** The names that have the form of checkpoint ids. */
  names(): Promise<readonly string[]>;
  /** The time of the last change below a listed name, in milliseconds since 1970; Infinity if unknown. */
  changedAtMs(name: string): Promise<number>;
  /** Removes everything below a name. Throws a Fault, or an error of the disk, if that is impossible for the moment. */
  remove(name: string): Promise<void>;
}

/** Opens a storage. `stores` throws a Fault for one that is neither a directory nor an object store. */
export async function auditedPlace(
  { stores, disk }: Pick<CommandDeps, "stores" | "disk">,
  section: CheckpointStorageSection,
  storageId: string,
): Promise<AuditedPlace> {
  const store = await stores.of(section);
  const marked = markedPlace(section, store, disk);
  if (store !== null) return new AuditedBucket(marked, store, storageId);
  return new AuditedDirectory(marked, storageId);
}

class AuditedDirectory implements AuditedPlace {
  readonly marked: MarkedPlace;
  readonly storageId: string;
  readonly #root: string;

  constructor(marked: MarkedPlace, storageId: string) {
    this.marked = marked;
    this.#root = marked.name;
    this.storageId = storageId;
  }

  async problem(): Promise<string | null> {
    return problemOfStorage(this.#root, this.storageId, await this.marked.seen());
  }

  async names(): Promise<readonly string[]> {
    return (await readdir(this.#root)).filter(isCheckpointId);
  }

  changedAtMs(name: string): Promise<number> {
    return lastChange(join(this.#root, name));
  }

  remove(name: string): Promise<void> {
    return directoryDisk.removeFolder(this.#root, name);
  }
}

/** The time of the last change of a file, or of anything in a folder. */
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
  readonly marked: MarkedPlace;
  readonly storageId: string;
  readonly #store: ObjectStore;
  readonly #changes = new Map<string, number>();

  constructor(marked: MarkedPlace, store: ObjectStore, storageId: string) {
    this.marked = marked;
    this.#store = store;
    this.storageId = storageId;
  }

  problem(): Promise<string | null> {
    return problemOfStore(this.#store, this.storageId);
  }

  /**
   * Lists all keys of the prefix in one pass. An object named like a checkpoint, without a slash, does not belong to
   * one.
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
    return removeCheckpointObjects(this.#store, name, this.storageId);
  }
}
