/**
 * Identifies the storage that a host sees at a path. The root of a checkpoint storage has a marker: a file with a
 * random id. Only a writing host creates it; all other hosts only read it. An empty mount point has no marker, and
 * another disk at the same path has another id. A process that verifies or deletes first compares the id with the
 * writer's: while they differ, no absent file counts as missing.
 *
 * A marker is complete or absent: it is written to a draft, flushed, and linked into place, which fails if a marker
 * exists. On a file system without links the marker is created exclusively, and a crash may leave it empty. A marker
 * without an id counts as damaged, never as another storage's.
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Fault, isFault } from "@trainyard/kernel";
import { flushFolder } from "./flush-folder.ts";
import {
  markerBytesMax,
  markerText,
  readMarkerText,
  type SeenStorage,
  type StorageMark,
  storageMarkerName,
} from "./marker-text.ts";

/** Reads the marker of a root. */
export async function readStorageMarker(root: string): Promise<SeenStorage> {
  const path = join(root, storageMarkerName);
  try {
    // A pipe or a link in the marker's place counts as damaged; without O_NONBLOCK a pipe would block the reader.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using file = await open(path, flags);
    if (!(await file.stat()).isFile()) return { kind: "damaged" };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(markerBytesMax), 0, markerBytesMax);
    return readMarkerText(buffer.toString("utf8", 0, bytesRead));
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "unmarked" };
    return { kind: "unreadable", detail: message };
  }
}

/**
 * Marks a root unless it has a marker, and returns the id of its marker, the same for every host. Only for hosts that
 * write there, and for an operator who adopts a storage: a host that only reads must never mark the folder that it
 * sees.
 */
export async function markStorage(
  root: string,
  wanted: string = randomUUID(),
  linkFile: typeof link = link,
): Promise<string> {
  const before = await readStorageMarker(root);
  if (before.kind === "marked") return before.id;
  try {
    if (before.kind === "unmarked") await createMarker(root, wanted, linkFile);
  } catch (cause) {
    const detail = `${root} cannot be marked as a storage (${textOf(cause)}): give the user of this process write permission there`;
    throw new Fault("storage_not_marked", detail, { retry: "later", cause });
  }
  const seen = await readStorageMarker(root);
  if (seen.kind === "marked") return seen.id;
  const problem = problemOfStorage(root, wanted, seen) ?? "";
  throw new Fault("storage_not_marked", problem, { retry: "later" });
}

/** Writes the marker of a root; the rename replaces an earlier one as a whole. */
export async function writeStorageMarker(root: string, mark: StorageMark): Promise<void> {
  const draft = await writeDraft(root, mark);
  try {
    await rename(draft, join(root, storageMarkerName));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await flushFolder(root).catch(() => {}); // Not every file system flushes folders.
}

/**
 * Replaces the marker of a root that has the same id. The marker is read and written in one open folder: after an
 * unmount in between, the path is the empty mount point, which must never get the storage's id.
 */
export async function renewStorageMarker(root: string, mark: StorageMark): Promise<void> {
  try {
    await using folder = await open(root, constants.O_RDONLY | constants.O_DIRECTORY);
    const place = process.platform === "linux" ? `/proc/self/fd/${folder.fd}` : root;
    const problem = problemOfStorage(root, mark.id, await readStorageMarker(place));
    if (problem !== null) throw new Fault("storage_not_marked", problem, { retry: "later" });
    await writeStorageMarker(place, mark);
  } catch (cause) {
    if (isFault(cause)) throw cause;
    const detail = `the marker of ${root} cannot be written (${textOf(cause)}): give the user of this process write permission there`;
    throw new Fault("storage_not_marked", detail, { retry: "later", cause });
  }
}

/**
 * Returns why a root is not the storage with this id, as a sentence for people; null if it is. An empty id matches no
 * storage.
 */
export function problemOfStorage(root: string, id: string, seen: SeenStorage): string | null {
  const marker = join(root, storageMarkerName);
  const adopt = `"yard storage adopt ${root}" on a host where the storage is mounted`;
  if (id === "") {
    return `it was declared without a storage id (its root could not be marked), so it is unknown whether ${root} is that storage on this host: run ${adopt}`;
  }
  switch (seen.kind) {
    case "marked":
      if (seen.id === id) return null;
      return `${root} is not the same storage here: the writing host saw storage ${id} at this path, this host sees storage ${seen.id}: mount the same storage at ${root} on both, or run ${adopt}`;
    case "unmarked":
      return `${root} has no ${storageMarkerName} on this host, which storage ${id} has: is the storage mounted here? If the file was deleted, run ${adopt}`;
    case "damaged":
      return `${marker} is damaged, so it is unknown whether this is storage ${id}: run ${adopt}`;
    case "unreadable":
      return `${marker} cannot be read on this host: ${seen.detail}`;
  }
}

/** Returns why a root is not a marked storage on this host, whichever id it has; null if it is one. */
export function problemOfMarker(root: string, seen: SeenStorage): string | null {
  switch (seen.kind) {
    case "marked":
      return null;
    case "unmarked":
      return `${root} has no ${storageMarkerName} on this host: is the storage mounted here?`;
    case "damaged":
      return `${join(root, storageMarkerName)} is damaged`;
    case "unreadable":
      return `${join(root, storageMarkerName)} cannot be read on this host: ${seen.detail}`;
  }
}

async function createMarker(root: string, id: string, linkFile: typeof link): Promise<void> {
  const marker = join(root, storageMarkerName);
  const draft = await writeDraft(root, { id });
  try {
    await linkFile(draft, marker);
  } catch (error) {
    // Another host was faster, or this link succeeded and the file server's answer was lost.
    if ((await readStorageMarker(root)).kind !== "unmarked") return;
    if (!withoutLinks.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await writeFlushed(marker, { id }).catch(unlessThere);
  } finally {
    await rm(draft, { force: true });
  }
  await flushFolder(root).catch(() => {}); // Not every file system flushes folders.
}

/** The error codes of link(2) on a file system without links: vfat and some FUSE file systems. */
const withoutLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"]);

async function writeDraft(root: string, mark: StorageMark): Promise<string> {
  const draft = join(root, `${storageMarkerName}.${randomUUID()}.tmp`);
  await writeFlushed(draft, mark);
  return draft;
}

async function writeFlushed(path: string, mark: StorageMark): Promise<void> {
  await using file = await open(path, "wx");
  // The verifier or deleter may run as another user, so this process's umask must not apply.
  await file.chmod(0o644).catch(() => {});
  await file.writeFile(markerText(mark));
  await file.sync();
}

function unlessThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
