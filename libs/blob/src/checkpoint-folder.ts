/**
 * The path of a checkpoint's files in a directory storage: `<root>/<uuid>`. The one place that knows, for all code
 * that writes, verifies or deletes them.
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
 * The section that holds for new checkpoints of an experiment, with its absolute place: relative places begin at
 * `directory`, which is also the place of an experiment that names none. Writers and verifiers must
 * agree.
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

/** The address of an object store, as `s3://bucket/prefix`; null for a storage that is a directory. */
export function storeAddress(storage: CheckpointStorageSection): string | null {
  const scheme = { s3: "s3", gcs: "gs" }[String(storage["type"])];
  const bucket = text(storage["bucket"]);
  if (scheme === undefined || bucket === null) return null;
  const prefix = keyPrefix(text(storage["prefix"]) ?? "").replace(/\/$/, "");
  const endpoint = text(storage["endpoint_url"]);
  // One bucket name may be another bucket at another endpoint.
  return (
    [`${scheme}://${bucket}`, ...(prefix === "" ? [] : [`/${prefix}`])].join("") +
    (endpoint === null ? "" : ` at ${endpoint}`)
  );
}

/** The section of an address as `s3://bucket/prefix` or `gs://bucket/prefix`; null for anything else. */
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

/** A checkpoint's folder; null where `checkpointRoot` is. */
export function checkpointFolder(
  storage: CheckpointStorageSection,
  checkpoint: string,
): string | null {
  const root = checkpointRoot(storage);
  return root === null || !isCheckpointId(checkpoint) ? null : join(root, checkpoint);
}

/** The id of the stream that records which storage is at a root: a path of any length and characters, as 32 digits. */
export function storageStreamId(root: string): string {
  return createHash("sha256").update(root).digest("hex").slice(0, 32);
}

/** A person's statement about a root: the storage there, and its earlier ids. */
export type Adoption = { readonly id: string; readonly replaced: readonly string[] };

/**
 * The storage that a checkpoint is in, by the id that it was declared with and what was said of its root; empty where
 * nobody knows.
 */
export function storageOfCheckpoint(declared: string | undefined, adoption: Adoption): string {
  const id = declared ?? "";
  return id === "" || adoption.replaced.includes(id) ? adoption.id : id;
}

/**
 * Removes a checkpoint's files and its folder; one that is not there counts as removed, but only in the storage with
 * the given id. Any other, and one that cannot be determined (see `problemOfStorage`), is a Fault: then nothing is
 * known of the files.
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
  // A share that went away meanwhile has kept its files.
  await look();
}

/** Removes those files of a checkpoint that match. A Fault where they cannot be removed now. */
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
