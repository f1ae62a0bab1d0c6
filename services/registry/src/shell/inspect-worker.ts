/** The worker thread that reads checkpoints in object stores again, so that commands and completions do not wait. */
import { type CheckpointStorageSection, Stores, type StoresSettings } from "@trainyard/blob";
import { isFault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { answerCalls } from "@trainyard/runtime/answer-calls";
import type { Manifest } from "../core/manifest.ts";
import type { Inspection } from "./inspect-files.ts";
import { inspectObjects } from "./inspect-objects.ts";

/** A checkpoint in an object store, in a form that can be sent to another thread. */
export type BucketPlace = {
  readonly section: CheckpointStorageSection;
  readonly checkpoint: string;
  readonly storageId: string;
};

export type InspectQuestion = {
  readonly place: BucketPlace;
  readonly manifest: Manifest;
  /** Whether objects are listed that are not in the manifest. */
  readonly extras: boolean;
  /** The settings to open the bucket's store. */
  readonly stores: Omit<StoresSettings, "clock">;
};

answerCalls(async (question: InspectQuestion): Promise<Inspection> => {
  const { place, manifest, extras, stores: settings } = question;
  await using stores = new Stores({ clock: systemClock, ...settings });
  try {
    const store = await stores.of(place.section);
    if (store === null)
      return { kind: "unreadable", detail: "the checkpoint's storage is not an object store" };
    return await inspectObjects({ store, ...place }, manifest, extras);
  } catch (error) {
    // The credentials cannot be read, or the address is no longer allowed.
    if (!isFault(error)) throw error;
    return { kind: "unreadable", detail: error.message };
  }
});
