/** The storages that an audit lists and deletes from: folders in a directory, or keys below a name in a bucket. */
import {
  type CheckpointStorageSection,
  type MarkedPlace,
  markedPlace,
  type ObjectStore,
  problemOfStorage,
  problemOfStore,
  removeCheckpointObjects,
  type StorageDisk,
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
  return new AuditedDirectory(marked, disk, storageId);
}

class AuditedDirectory implements AuditedPlace {
  readonly marked: MarkedPlace;
  readonly storageId: string;
  readonly #disk: StorageDisk;
  readonly #root: string;

  constructor(marked: MarkedPlace, disk: StorageDisk, storageId: string) {
    this.marked = marked;
    this.#disk = disk;
    this.#root = marked.name;
    this.storageId = storageId;
  }

  async problem(): Promise<string | null> {
    return problemOfStorage(this.#root, this.storageId, await this.#disk.seen(this.#root));
  }

  async names(): Promise<readonly string[]> {
    return (await this.#disk.names(this.#root)).filter(isCheckpointId);
  }

  changedAtMs(name: string): Promise<number> {
    return this.#disk.changedAtMs(this.#root, name);
  }

  remove(name: string): Promise<void> {
    return this.#disk.removeFolder(this.#root, name);
  }
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
