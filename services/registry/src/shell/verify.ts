/** Locates the files of a checkpoint and compares them with its manifest. */
import type { CheckpointStorageSection, ObjectStore } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { ManifestEntry } from "@trainyard/contracts/commands";
import type { Manifest } from "../core/manifest.ts";
import type { Inspection } from "./inspect-files.ts";
import type { BucketPlace } from "./inspect-worker.ts";
import type { FolderPlace, Verdict } from "./verify-files.ts";
import { verifyObjects } from "./verify-objects.ts";

export type ObjectsPlace = {
  readonly store: ObjectStore;
  /** The section from which a worker thread opens the store again. */
  readonly section: CheckpointStorageSection;
  readonly checkpoint: string;
  /** Manifest entries with the digests that the store compares. */
  readonly entries: readonly Plain<ManifestEntry>[];
  readonly storageId: string;
};

export type Place = FolderPlace | ObjectsPlace;

/** Reads bytes in a process or thread of its own. */
export type Reading = {
  readonly hash: (place: FolderPlace, manifest: Manifest) => Promise<Verdict>;
  /** `extras` says whether files are listed that are not in the manifest. */
  readonly readAgain: (place: Place, manifest: Manifest, extras: boolean) => Promise<Inspection>;
};

/**
 * Verifies a checkpoint: files in a folder are hashed; objects are compared by the store's metadata, and read only if
 * the store keeps no checksums.
 */
export function verify(
  place: Place,
  manifest: Manifest,
  { hash, readAgain }: Reading,
): Promise<Verdict> {
  if ("folder" in place) return hash(place, manifest);
  return verifyObjects(place, (unknown) => readAgain(place, unknown, false));
}

/** Names a place in messages; different places have different names. */
export function nameOf(place: Place): string {
  return "folder" in place ? place.folder : `${place.store.address}/${place.checkpoint}`;
}

/** The bucket for a worker thread, which must open the store itself. */
export function bucketOf({ section, checkpoint, storageId }: ObjectsPlace): BucketPlace {
  return { section, checkpoint, storageId };
}
