/**
 * Checkpoints in an object store: `<uuid>/<path>` below its prefix, and a marker object with the id of the storage.
 * Only the platform reaches the store, so the platform also makes the marker: two hosts never see different buckets
 * under one address.
 */
import { randomUUID } from "node:crypto";
import { Fault } from "@trainyard/kernel";
import {
  markerBytesMax,
  markerText,
  readMarkerText,
  type SeenStorage,
  type StorageMark,
  storageMarkerName,
  type StorageOwner,
} from "../marker-text.ts";
import type { Removed } from "../remove-below.ts";
import type { ObjectStore } from "./port.ts";

/** The number of keys in one deletion request. */
const deletePage = 1_000;

export function checkpointKey(checkpoint: string, path: string): string {
  return `${checkpoint}/${path}`;
}

/**
 * Marks a store unless it has a marker, and returns its marker. Throws a Fault `storage_not_marked` for a damaged one.
 */
export async function markStore(store: ObjectStore, owner?: StorageOwner): Promise<StorageMark> {
  const seen = await seenStore(store);
  if (seen.kind === "marked") return seen;
  if (seen.kind === "unmarked") {
    const text = markerText({ id: randomUUID(), ...(owner && { owner }) });
    await store.put(storageMarkerName, Buffer.from(text), { ifAbsent: true });
    const made = await seenStore(store);
    if (made.kind === "marked") return made;
  }
  const detail = `the object ${storageMarkerName} of ${store.address} is damaged: run "yard storage adopt"`;
  throw new Fault("storage_not_marked", detail, { retry: "later" });
}

/** Writes the marker of a store; it replaces an earlier one. */
export async function writeStoreMarker(store: ObjectStore, mark: StorageMark): Promise<void> {
  await store.put(storageMarkerName, Buffer.from(markerText(mark)));
}

/** Replaces the marker of a store that has the same id. */
export async function renewStoreMarker(store: ObjectStore, mark: StorageMark): Promise<void> {
  const problem = await problemOfStore(store, mark.id);
  if (problem !== null) throw new Fault("storage_not_marked", problem, { retry: "later" });
  await writeStoreMarker(store, mark);
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
  return readMarkerText(Buffer.concat(chunks).toString("utf8"));
}

/**
 * Returns why the store must not be verified or changed now; null if it has the id that checkpoints were declared with.
 */
export async function problemOfStore(
  store: ObjectStore,
  storageId: string,
): Promise<string | null> {
  return problemOfSeenStore(store.address, storageId, await seenStore(store));
}

export function problemOfSeenStore(
  address: string,
  storageId: string,
  seen: SeenStorage,
): string | null {
  if (seen.kind === "marked" && seen.id === storageId) return null;
  const adopt = `if it is the bucket that the checkpoint was stored in, run "yard storage adopt" with its address`;
  if (seen.kind === "marked") {
    return `${address} is not the same storage: it has the id ${seen.id}, and the checkpoint was stored in ${storageId}: ${adopt}`;
  }
  return `${address} has no readable ${storageMarkerName}: ${adopt}`;
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
