/**
 * The path of a checkpoint's files in a directory storage: `<root>/<uuid>`. All code that writes, verifies or deletes
 * these files uses this module.
 */
import { createHash } from "node:crypto";
import { isAbsolute, join, resolve } from "node:path";
import { assert, Fault, isCheckpointId } from "@trainyard/kernel";
import { directoryDisk, type Removed, type StorageDisk } from "./storage-disk.ts";
import { problemOfStorage } from "./storage-marker.ts";
import { keyPrefix } from "./objects/keys.ts";

/** A checkpoint_storage section of an experiment's normalised configuration. */
export type CheckpointStorageSection = Readonly<Record<string, unknown>>;

/**
 * Returns the checkpoint_storage section for new checkpoints of an experiment, with an absolute path: relative paths
 * begin at `directory`. An experiment without the section gets `directory` itself. Writers and verifiers must use the
 * same path.
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

/** Returns the absolute root of a storage; null for a storage that is no directory. */
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

/** Returns the address of an object store as `s3://bucket/prefix`; null for a storage that is a directory. */
export function storeAddress(storage: CheckpointStorageSection): string | null {
  const scheme = { s3: "s3", gcs: "gs" }[String(storage["type"])];
  const bucket = text(storage["bucket"]);
  if (scheme === undefined || bucket === null) return null;
  const prefix = keyPrefix(text(storage["prefix"]) ?? "").replace(/\/$/, "");
  const endpoint = text(storage["endpoint_url"]);
  // Two endpoints may have different buckets of the same name.
  return (
    [`${scheme}://${bucket}`, ...(prefix === "" ? [] : [`/${prefix}`])].join("") +
    (endpoint === null ? "" : ` at ${endpoint}`)
  );
}

/**
 * Parses an address like `s3://bucket/prefix` or `gs://bucket/prefix` into a checkpoint_storage section; null for
 * anything else.
 */
export function sectionOfAddress(
  address: string,
  endpoint?: string,
): Readonly<Record<string, string>> | null {
  const [, scheme, bucket = "", below = ""] = /^(s3|gs):\/\/([^/\s]+)\/?(\S*)$/.exec(address) ?? [];
  const prefix = below.replace(/^\/+|\/+$/g, "");
  if (scheme === undefined || prefix.split("/").includes("..")) return null;
  return {
    type: scheme === "s3" ? "s3" : "gcs",
    bucket,
    ...(prefix === "" ? {} : { prefix }),
    ...(scheme === "s3" && endpoint !== undefined ? { endpoint_url: endpoint } : {}),
  };
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Returns a checkpoint's folder; null where `checkpointRoot` returns null. */
export function checkpointFolder(
  storage: CheckpointStorageSection,
  checkpoint: string,
): string | null {
  const root = checkpointRoot(storage);
  return root === null || !isCheckpointId(checkpoint) ? null : join(root, checkpoint);
}

/** Returns the id of the stream that records which storage is at a root: 32 hex digits, hashed from the path. */
export function storageStreamId(root: string): string {
  return createHash("sha256").update(root).digest("hex").slice(0, 32);
}

/**
 * An operator's statement (`yard storage adopt`) about a root: the id of the storage there, and the earlier ids that it
 * replaces.
 */
export type Adoption = { readonly id: string; readonly replaced: readonly string[] };

/**
 * Returns the id of the storage that contains a checkpoint: the declared id, unless it is empty or an adoption replaced
 * it. Empty if the storage is unknown.
 */
export function storageOfCheckpoint(declared: string | undefined, adoption: Adoption): string {
  const id = declared ?? "";
  return id === "" || adoption.replaced.includes(id) ? adoption.id : id;
}

/**
 * Removes a checkpoint's files and its folder from the storage with the given id; an absent folder counts as removed.
 * Throws a Fault if the root has another storage or its storage is unknown (see `problemOfStorage`): the files may
 * still exist.
 */
export async function removeCheckpointFolder(
  storage: CheckpointStorageSection,
  checkpoint: string,
  storageId: string,
  disk: StorageDisk = directoryDisk,
): Promise<void> {
  const root = checkpointRoot(storage);
  const folder = checkpointFolder(storage, checkpoint);
  if (root === null || folder === null) {
    throw new Fault("unknown_storage", `checkpoint ${checkpoint} has no directory`, {
      retry: "never",
    });
  }
  const look = async (): Promise<void> => {
    const problem = problemOfStorage(root, storageId, await disk.seen(root));
    if (problem !== null) throw notRemoved(folder, problem);
  };
  await look();
  try {
    await disk.removeFolder(folder);
  } catch (cause) {
    throw notRemoved(folder, cause instanceof Error ? cause.message : String(cause), cause);
  }
  // A share that was unmounted during the removal still has its files.
  await look();
}

/** Removes the files of a checkpoint whose paths match. Throws a Fault with retry "later" if the disk fails. */
export async function removeCheckpointFiles(
  storage: CheckpointStorageSection,
  checkpoint: string,
  matches: (path: string) => boolean,
  disk: StorageDisk = directoryDisk,
): Promise<Removed> {
  const folder = checkpointFolder(storage, checkpoint);
  assert(folder !== null, `checkpoint ${checkpoint} has a directory`);
  try {
    return await disk.removeFiles(folder, matches);
  } catch (cause) {
    throw notRemoved(folder, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function notRemoved(folder: string, why: string, cause?: unknown): Fault {
  return new Fault("checkpoint_not_removed", `the folder ${folder} cannot be removed: ${why}`, {
    retry: "later",
    ...(cause === undefined ? {} : { cause }),
  });
}
