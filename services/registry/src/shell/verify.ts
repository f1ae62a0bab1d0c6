/** Where the files of a checkpoint are, and how they are compared with its manifest. */
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
  /** The source of the store: a thread opens it again. */
  readonly section: CheckpointStorageSection;
  readonly checkpoint: string;
  /** With the digests that the store compares. */
  readonly entries: readonly Plain<ManifestEntry>[];
  readonly storageId: string;
};

export type Place = FolderPlace | ObjectsPlace;

/** The reader of bytes, in a thread. */
export type Reading = {
  readonly hash: (place: FolderPlace, manifest: Manifest) => Promise<Verdict>;
  /** `extras`: whether files count that the manifest does not name. */
  readonly readAgain: (place: Place, manifest: Manifest, extras: boolean) => Promise<Inspection>;
};

/** Files are hashed; a store is asked for what it knows, and read only where it keeps no checksum. */
export function verify(
  place: Place,
  manifest: Manifest,
  { hash, readAgain }: Reading,
): Promise<Verdict> {
  if ("folder" in place) return hash(place, manifest);
  return verifyObjects(place, (unknown) => readAgain(place, unknown, false));
}

/** Names a place in messages, and distinguishes places. */
export function nameOf(place: Place): string {
  return "folder" in place ? place.folder : `${place.store.address}/${place.checkpoint}`;
}

/** The bucket for a thread: an open store stays where it was opened. */
export function bucketOf({ section, checkpoint, storageId }: ObjectsPlace): BucketPlace {
  return { section, checkpoint, storageId };
}
