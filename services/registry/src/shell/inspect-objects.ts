/**
 * Reads every byte of a checkpoint in an object store again and lists all differences from its manifest. It runs in a
 * worker thread, which opens the store itself.
 */
import { createHash } from "node:crypto";
import { checkpointKey, type ObjectStore, problemOfStore } from "@trainyard/blob";
import { isFault, mapConcurrently } from "@trainyard/kernel";
import type { Manifest } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import { type Finding, type Inspection, inspected } from "./inspect-files.ts";

export type OpenBucket = {
  readonly store: ObjectStore;
  readonly checkpoint: string;
  readonly storageId: string;
};

/** With `extras` it also lists objects that are not in the manifest. */
export async function inspectObjects(
  place: OpenBucket,
  manifest: Manifest,
  extras: boolean,
): Promise<Inspection> {
  const { store, storageId } = place;
  try {
    const problem = await problemOfStore(store, storageId);
    if (problem !== null) return { kind: "unreadable", detail: problem };
    const look = (file: Manifest[number]) => inspectObject(place, file);
    const found = await mapConcurrently(manifest, registryLimits.objectsHashedAtOnce, look);
    const problems = found.filter((finding) => finding !== null);
    return inspected(problems, extras ? await extrasOf(place, manifest) : []);
  } catch (error) {
    if (!isFault(error)) throw error;
    return { kind: "unreadable", detail: error.message };
  }
}

async function inspectObject(
  { store, checkpoint }: OpenBucket,
  { path, bytes, sha256 }: Manifest[number],
): Promise<Finding | null> {
  const content = await store.open(checkpointKey(checkpoint, path));
  if (content === null) return { path, kind: "missing", detail: "is missing" };
  const digest = createHash("sha256");
  for await (const chunk of content.stream) digest.update(chunk);
  if (content.bytes !== bytes) {
    const detail = `has ${content.bytes} bytes, and the manifest says ${bytes}`;
    return { path, kind: "resized", detail };
  }
  const found = digest.digest("hex");
  if (found === sha256) return null;
  const detail = `has SHA-256 ${found}, and the manifest says ${sha256}`;
  return { path, kind: "flipped", detail };
}

async function extrasOf(
  { store, checkpoint }: OpenBucket,
  manifest: Manifest,
): Promise<readonly string[]> {
  const named = new Set(manifest.map(({ path }) => path));
  const below = checkpointKey(checkpoint, "");
  const found: string[] = [];
  for await (const { key } of store.list(below)) {
    const path = key.slice(below.length);
    if (!named.has(path)) found.push(path);
  }
  return found;
}
