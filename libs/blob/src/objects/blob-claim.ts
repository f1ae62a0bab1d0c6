/**
 * The claim of a cluster to the bucket of its model code, by the marker that storages of checkpoints have, too. Keys
 * are digests, and a cluster deletes what nothing in its own log names: a second cluster that stores the same code in
 * the same place would lose it. A copy of a cluster has the same log, and counts as the same.
 */
import { type Fault, isFault } from "@trainyard/kernel";
import { type StorageMark, storageMarkerName } from "../marker-text.ts";
import type { OwnLog } from "../storage-claims.ts";
import { markStore, writeStoreMarker } from "./checkpoint-objects.ts";
import { refused } from "./faults.ts";
import type { ObjectStore } from "./port.ts";

export class BlobClaim {
  readonly #log: OwnLog;
  #isOwn = false;

  constructor(log: OwnLog) {
    this.#log = log;
  }

  /** Marks a store that nobody has claimed. Throws a Fault `storage_refused` for that of another cluster. */
  async check(store: ObjectStore): Promise<void> {
    if (this.#isOwn) return;
    const log = await this.#log.id();
    // Before its first event a cluster has nothing to lose, and no name.
    if (log === "") return;
    const { owner } = await this.#mark(store, log);
    if (owner?.log !== log) {
      throw refused(
        store.address,
        "store model code of this cluster",
        `its object ${storageMarkerName} names another one, and each would delete what the other needs: choose another bucket or prefix, or delete this object if that cluster is gone`,
      );
    }
    this.#isOwn = true;
  }

  async #mark(store: ObjectStore, log: string): Promise<StorageMark> {
    const owner = { log, witness: await this.#log.latest() };
    const mark = await markStore(store, owner).catch((error: unknown) => {
      throw isFault(error) && error.code === "storage_not_marked" ? damaged(store) : error;
    });
    if (mark.owner !== undefined) return mark;
    const owned = { id: mark.id, owner };
    await writeStoreMarker(store, owned);
    return owned;
  }
}

function damaged(store: ObjectStore): Fault {
  const why = `its object ${storageMarkerName} is damaged: delete it if no other cluster uses this place, and it is written again`;
  return refused(store.address, "store model code of this cluster", why);
}
