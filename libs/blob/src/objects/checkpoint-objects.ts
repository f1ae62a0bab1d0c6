/**
 * Checkpoints in an object store: `<uuid>/<path>` below its prefix, and a marker object with the id of the storage.
 * Only the platform reaches the store, so the platform also makes the marker: two hosts never see different buckets
 * under one address.
 */
import { randomUUID } from "node:crypto";
import { Fault } from "@trainyard/kernel";
import { isStorageId, type SeenStorage, storageMarkerName } from "../storage-marker.ts";
import type { Removed } from "../remove-below.ts";
import type { ObjectStore } from "./port.ts";

/** The number of bytes of a marker that are read at most. */
const markerBytesMax = 4_096;
/** The number of keys in one deletion request. */
const deletePage = 1_000;

export function checkpointKey(checkpoint: string, path: string): string {
  return `${checkpoint}/${path}`;
}

/**
 * Returns the id in the store's marker, which is created if absent. Throws a Fault `storage_not_marked` for a damaged
 * marker.
 */
export async function markStore(store: ObjectStore): Promise<string> {
  const seen = await seenStore(store);
  if (seen.kind === "marked") return seen.id;
  if (seen.kind === "unmarked") {
    const text = `${randomUUID()}\n# Trainyard knows this storage of checkpoints by the line above. Leave this object where it is.\n`;
    await store.put(storageMarkerName, Buffer.from(text), { ifAbsent: true });
    const made = await seenStore(store);
    if (made.kind === "marked") return made.id;
  }
  throw new Fault(
    "storage_not_marked",
    `the object ${storageMarkerName} of ${store.address} contains no storage id`,
    { retry: "later" },
  );
}

export async function seenStore(store: ObjectStore): Promise<SeenStorage> {
  const content = await store.open(storageMarkerName);
  if (content === null) return { kind: "unmarked" };
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content.stream) {
    bytes += chunk.byteLength;
    if (bytes > markerBytesMax) return { kind: "damaged" };
    chunks.push(chunk);
  }
  const id = Buffer.concat(chunks).toString("utf8").split("\n")[0] ?? "";
  return isStorageId(id) ? { kind: "marked", id } : { kind: "damaged" };
}

/**
 * Returns why the store must not be verified or changed now; null if it has the id that checkpoints were declared with.
 */
export async function problemOfStore(
  store: ObjectStore,
  storageId: string,
): Promise<string | null> {
  const seen = await seenStore(store);
  if (seen.kind === "marked" && seen.id === storageId) return null;
  if (seen.kind === "marked") {
    return `${store.address} is not the same storage: it has the id ${seen.id}, and the checkpoint was stored in ${storageId}`;
  }
  return `${store.address} has no readable ${storageMarkerName}: is it the bucket that the checkpoint was stored in?`;
}

/**
 * Removes a checkpoint's objects and the rest of its uploads from the storage with the given id. Absent objects count
 * as removed.
 */
export async function removeCheckpointObjects(
  store: ObjectStore,
  checkpoint: string,
  storageId: string,
): Promise<void> {
  const problem = await problemOfStore(store, storageId);
  if (problem !== null) {
    const detail = `the objects of checkpoint ${checkpoint} cannot be removed: ${problem}`;
    throw new Fault("checkpoint_not_removed", detail, { retry: "later" });
  }
  await store.abortUploads(checkpointKey(checkpoint, ""));
  await removeMatchingObjects(store, checkpoint, () => true);
}

/** Removes the files of a checkpoint whose paths match, and counts them. */
export async function removeMatchingObjects(
  store: ObjectStore,
  checkpoint: string,
  matches: (path: string) => boolean,
): Promise<Removed> {
  return removeObjects(store, checkpointKey(checkpoint, ""), matches);
}

/** Removes the objects below a prefix whose paths match, and counts them. */
export async function removeObjects(
  store: ObjectStore,
  below: string,
  matches: (path: string) => boolean,
): Promise<Removed> {
  const removed = { files: 0, bytes: 0 };
  let keys: string[] = [];
  for await (const { key, bytes } of store.list(below)) {
    if (!matches(key.slice(below.length))) continue;
    removed.files += 1;
    removed.bytes += bytes;
    keys.push(key);
    if (keys.length < deletePage) continue;
    await store.delete(keys, below);
    keys = [];
  }
  if (keys.length > 0) await store.delete(keys, below);
  return removed;
}
