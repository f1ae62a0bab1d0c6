/** Where the files of a checkpoint are, and how they are compared with its manifest. */
import type { ObjectStore } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { ManifestEntry } from "@trainyard/contracts/commands";
import type { Manifest } from "../core/manifest.ts";
import type { FolderPlace, Verdict } from "./verify-files.ts";
import { verifyObjects } from "./verify-objects.ts";

export type ObjectsPlace = {
  readonly store: ObjectStore;
  readonly checkpoint: string;
  /** With the digests that the store compares. */
  readonly entries: readonly Plain<ManifestEntry>[];
  readonly storageId: string;
};

export type Place = FolderPlace | ObjectsPlace;

/** Files are hashed by `hash`, in a thread; a store is asked for what it knows. */
export function verify(
  place: Place,
  manifest: Manifest,
  hash: (place: FolderPlace, manifest: Manifest) => Promise<Verdict>,
): Promise<Verdict> {
  if ("folder" in place) return hash(place, manifest);
  return verifyObjects(place.store, place.checkpoint, place.storageId, place.entries);
}

/** For people, and to tell places apart. */
export function nameOf(place: Place): string {
  return "folder" in place ? place.folder : `${place.store.address}/${place.checkpoint}`;
}
