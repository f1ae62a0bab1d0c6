/**
 * Where the files of checkpoints lie in a directory storage: `<root>/<uuid>`. The one place that knows, for whoever
 * writes, verifies or deletes them.
 */
import { access, rm } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { Fault, isCheckpointId } from "@trainyard/kernel";

/** A checkpoint_storage section of an experiment's normalised configuration. */
export type CheckpointStorageSection = Readonly<Record<string, unknown>>;

/**
 * The section that holds for new checkpoints of an experiment, with its absolute place: relative places begin at
 * `directory`, which is also the place of an experiment that names none. Whoever writes and whoever verifies must agree.
 */
export function checkpointStorage<Section extends CheckpointStorageSection>(
  configured: Section | null,
  directory: string,
): Section | { readonly type: string; readonly container_path: string } {
  if (configured === null) return { type: "directory", container_path: resolve(directory) };
  for (const key of ["container_path", "host_path"]) {
    const path = configured[key];
    if (typeof path === "string") return { ...configured, [key]: resolve(directory, path) };
  }
  return configured;
}

/** The storage's root, absolute; null for a kind of storage that is no directory. */
export function checkpointRoot(storage: CheckpointStorageSection): string | null {
  const root = rootOf(storage);
  return root !== null && isAbsolute(root) ? resolve(root) : null;
}

function rootOf(storage: CheckpointStorageSection): string | null {
  if (storage["type"] === "directory") return text(storage["container_path"]);
  if (storage["type"] !== "shared_fs") return null;
  const host = text(storage["host_path"]);
  const below = text(storage["storage_path"]);
  if (host === null || below === null) return host;
  return isAbsolute(below) ? below : join(host, below);
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** A checkpoint's folder; null where `checkpointRoot` is. */
export function checkpointFolder(
  storage: CheckpointStorageSection,
  checkpoint: string,
): string | null {
  const root = checkpointRoot(storage);
  return root === null || !isCheckpointId(checkpoint) ? null : join(root, checkpoint);
}

/**
 * Removes a checkpoint's files and its folder; one that is not there counts as removed. A root that is missing (a share
 * that is not mounted) is a Fault: then nothing is known of what lies below it.
 */
export async function removeCheckpointFolder(
  storage: CheckpointStorageSection,
  checkpoint: string,
): Promise<void> {
  const root = checkpointRoot(storage);
  const folder = checkpointFolder(storage, checkpoint);
  if (root === null || folder === null) {
    throw new Fault("unknown_storage", `checkpoint ${checkpoint} lies in no directory`, {
      retry: "never",
    });
  }
  try {
    await access(root);
    await rm(folder, { recursive: true, force: true });
  } catch (cause) {
    throw new Fault("checkpoint_not_removed", `the folder ${folder} cannot be removed`, {
      retry: "later",
      cause,
    });
  }
}
