/**
 * Compares the markers of storages with the log of this process. A marker names the log whose checkpoints the storage
 * has, and a witness, a late event of it. Nothing is removed or replaced in a storage whose marker names another log (a
 * second cluster), or a witness that the own log does not have (a copy of the cluster, or a log that went back).
 *
 * Before files are removed, the marker gets a witness that is not older than the event that explains the removal: a
 * cluster whose log lacks that event then leaves the storage alone. A marker is read, checked and written; there is no
 * condition on the write. Two clusters that claim an unclaimed storage at the same moment may therefore both succeed,
 * and the later one owns it.
 */
import { Fault } from "@trainyard/kernel";
import { checkpointRoot } from "./checkpoint-folder.ts";
import type { LogEvent, SeenStorage, StorageMark, StorageOwner } from "./marker-text.ts";
import { renewStoreMarker, seenStore } from "./objects/checkpoint-objects.ts";
import type { ObjectStore } from "./objects/port.ts";
import type { StorageDisk } from "./storage-disk.ts";
import type { CheckpointStorageSection } from "./storage-kind.ts";
import { storeAddress } from "./store-address.ts";

/** The log of this process. */
export interface OwnLog {
  /** The id of the first event, which names the log; empty for an empty log. */
  id(): Promise<string>;
  /** The last event of the log. Throws a Fault with retry "later" for an empty log. */
  latest(): Promise<LogEvent>;
  /** Returns whether the log has the event at its position. */
  has(event: LogEvent): Promise<boolean>;
}

/** A root or bucket with its marker. The name is the root's path or the store's address. */
export interface MarkedPlace {
  readonly name: string;
  seen(): Promise<SeenStorage>;
  /** Replaces the marker as a whole, if it has the same id. */
  renew(mark: StorageMark): Promise<void>;
}

/** The root of a storage in messages and in lists: a directory, or the address of an object store. */
export function storageRoot(storage: CheckpointStorageSection): string | null {
  return checkpointRoot(storage) ?? storeAddress(storage);
}

/** The place of a section: its object store, or the root of its directory on this disk. */
export function markedPlace(
  storage: CheckpointStorageSection,
  store: ObjectStore | null,
  disk: Pick<StorageDisk, "seen" | "renew">,
): MarkedPlace {
  const name = storageRoot(storage) ?? "";
  return store === null
    ? { name, seen: () => disk.seen(name), renew: (mark) => disk.renew(name, mark) }
    : { name, seen: () => seenStore(store), renew: (mark) => renewStoreMarker(store, mark) };
}

export class StorageClaims {
  readonly #log: OwnLog;

  constructor(log: OwnLog) {
    this.#log = log;
  }

  /** The name of this log. */
  log(): Promise<string> {
    return this.#log.id();
  }

  /** Returns why the storage belongs to another cluster; null if its marker names this log, or none. */
  async anotherLog(name: string, seen: SeenStorage): Promise<string | null> {
    if (seen.kind !== "marked" || seen.owner === undefined) return null;
    const own = await this.#log.id();
    const { log } = seen.owner;
    if (log === own) return null;
    return `${name} belongs to another cluster: its marker names the log ${log}, and the log of this cluster is ${own}: choose another directory or bucket, or, to take this one over, run ${adoptCommand(name)}`;
  }

  /** Returns why nothing may be removed or replaced in the storage with this marker; null if it may. */
  async held(name: string, seen: SeenStorage): Promise<string | null> {
    const another = await this.anotherLog(name, seen);
    if (another !== null || seen.kind !== "marked" || seen.owner === undefined) return another;
    const { witness } = seen.owner;
    if (await this.#log.has(witness)) return null;
    return `the marker of ${name} names the event ${witness.id} at position ${witness.position}, and the log of this cluster does not have it: the log went back, or this is a copy of the cluster that uses the storage: if no other cluster uses it, run ${adoptCommand(name)}`;
  }

  /** Reads the marker of a storage. Returns why nothing may be removed or replaced there; null if it may. */
  async problem(place: MarkedPlace): Promise<string | null> {
    return this.held(place.name, await place.seen());
  }

  /**
   * Lets the marker name this log and a witness at or after the position. Throws a Fault `storage_held` if nothing may
   * be removed or replaced there. A storage without a marker, or with another id than `storageId`, is left as it is:
   * the removal itself compares the id. An empty id means any.
   */
  async secure(place: MarkedPlace, storageId: string, position: number): Promise<void> {
    const seen = await place.seen();
    const problem = await this.held(place.name, seen);
    if (problem !== null) {
      const detail = `nothing is removed or replaced: ${problem}`;
      throw new Fault("storage_held", detail, { retry: "later" });
    }
    if (seen.kind !== "marked" || (storageId !== "" && seen.id !== storageId)) return;
    if ((seen.owner?.witness.position ?? 0) >= position) return;
    const owner = await this.owner();
    if (owner.witness.position < position) {
      const detail = `nothing is removed or replaced in ${place.name}: the log ends before position ${position}, so it went back`;
      throw new Fault("storage_held", detail, { retry: "later" });
    }
    await place.renew({ id: seen.id, owner });
  }

  /** Lets the marker name the last event of this log, unless the storage is held. */
  async renew(place: MarkedPlace, storageId: string): Promise<void> {
    const { position } = await this.#log.latest();
    await this.secure(place, storageId, position);
  }

  /** This log with its last event as the witness. */
  async owner(): Promise<StorageOwner> {
    return { log: await this.#log.id(), witness: await this.#log.latest() };
  }
}

/** The command that takes a storage over, for messages. An address may have spaces. */
export function adoptCommand(name: string): string {
  return `"yard storage adopt ${name.includes(" ") ? `'${name}'` : name}"`;
}
