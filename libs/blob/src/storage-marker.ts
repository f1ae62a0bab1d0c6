/**
 * Identifies the storage that a host sees at a path. A storage of checkpoints has a marker in its root: a file with a
 * random id, which the host that writes there makes once and every other only reads. A folder that is empty because
 * nothing is mounted there has none, and a folder of the same path on another disk has another: a process that verifies
 * or deletes compares it first, and as long as it is not the id that the writer saw, nothing that is not there counts
 * as missing.
 *
 * A marker is whole or it is not there: it is written beside, flushed, and linked into its place, which fails where one
 * is. A file system without links gets it by an exclusive create, which a crash may leave empty: a marker without an id
 * is damaged, and never taken for another storage's.
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@trainyard/kernel";
import { flushFolder } from "./flush-folder.ts";

export const storageMarkerName = ".trainyard-storage";

/** The place of a root's marker as a host sees it. */
export type SeenStorage =
  | { readonly kind: "marked"; readonly id: string }
  | { readonly kind: "unmarked" }
  | { readonly kind: "damaged" }
  | { readonly kind: "unreadable"; readonly detail: string };

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** An id is a line of 36 characters; the rest of a marker is for people. */
const markerBytesMax = 4_096;

const explanation = `# Trainyard knows this storage of checkpoints by the line above. Leave this file where it is: without it no checkpoint
# here is verified or deleted. Where it was lost, "yard storage adopt" writes it again.
`;

export function isStorageId(text: string): boolean {
  return idPattern.test(text);
}

/** The content of a root's marker. */
export async function readStorageMarker(root: string): Promise<SeenStorage> {
  const path = join(root, storageMarkerName);
  try {
    // A pipe or a link in its place is nobody's marker, and a pipe would hold up the reader.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    await using file = await open(path, flags);
    if (!(await file.stat()).isFile()) return { kind: "damaged" };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(markerBytesMax), 0, markerBytesMax);
    const [id = ""] = buffer.toString("utf8", 0, bytesRead).split("\n", 1);
    return isStorageId(id) ? { kind: "marked", id } : { kind: "damaged" };
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "unmarked" };
    return { kind: "unreadable", detail: message };
  }
}

/**
 * Marks a root, unless it is marked already; gives the id that it has then, on every host the same. For writers of
 * there, and for a person who adopts a storage: a host that only reads must never mark what it happens to see.
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
    const detail = `${root} cannot be marked as a storage (${textOf(cause)}): let the user of this process write there`;
    throw new Fault("storage_not_marked", detail, { retry: "later", cause });
  }
  const seen = await readStorageMarker(root);
  if (seen.kind === "marked") return seen.id;
  const problem = problemOfStorage(root, wanted, seen) ?? "";
  throw new Fault("storage_not_marked", problem, { retry: "later" });
}

/** Puts a marker with the id in the place of a damaged one. */
export async function mendStorageMarker(root: string, id: string): Promise<void> {
  const draft = await writeDraft(root, id);
  await rename(draft, join(root, storageMarkerName));
  await flushFolder(root).catch(() => {}); // Not every file system flushes folders.
}

/**
 * Why a root is not the storage with this id, as a sentence for people; null when it is. An empty id is no storage's.
 */
export function problemOfStorage(root: string, id: string, seen: SeenStorage): string | null {
  const marker = join(root, storageMarkerName);
  const adopt = `"yard storage adopt ${root}" on a host where the storage is mounted`;
  if (id === "") {
    return `it was declared without a storage id (older SDKs send none), so it is unknown whether ${root} is that storage on this host: run ${adopt}`;
  }
  switch (seen.kind) {
    case "marked":
      if (seen.id === id) return null;
      return `${root} is not the same storage here: the writing host saw storage ${id} at this path, this host sees storage ${seen.id}: mount the same storage at ${root} on both, or run ${adopt}`;
    case "unmarked":
      return `${root} has no ${storageMarkerName} on this host, which storage ${id} has: is the storage mounted here? If the file was deleted, run ${adopt}`;
    case "damaged":
      return `${marker} contains no storage id, so it is unknown whether this is storage ${id}: run ${adopt}`;
    case "unreadable":
      return `${marker} cannot be read on this host: ${seen.detail}`;
  }
}

/** Why a root is no storage on this host, whichever id it has; null when it is one. */
export function problemOfMarker(root: string, seen: SeenStorage): string | null {
  switch (seen.kind) {
    case "marked":
      return null;
    case "unmarked":
      return `${root} has no ${storageMarkerName} on this host: is the storage mounted here?`;
    case "damaged":
      return `${join(root, storageMarkerName)} contains no storage id`;
    case "unreadable":
      return `${join(root, storageMarkerName)} cannot be read on this host: ${seen.detail}`;
  }
}

async function createMarker(root: string, id: string, linkFile: typeof link): Promise<void> {
  const marker = join(root, storageMarkerName);
  const draft = await writeDraft(root, id);
  try {
    await linkFile(draft, marker);
  } catch (error) {
    // Another was faster; or the answer of a file server was lost, and this one is there after all.
    if ((await readStorageMarker(root)).kind !== "unmarked") return;
    if (!withoutLinks.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    await writeFlushed(marker, id).catch(unlessThere);
  } finally {
    await rm(draft, { force: true });
  }
  await flushFolder(root).catch(() => {}); // Not every file system flushes folders.
}

/** The errors of link(2) on a file system without links: vfat and some of those in user space. */
const withoutLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV"]);

async function writeDraft(root: string, id: string): Promise<string> {
  const draft = join(root, `${storageMarkerName}.${randomUUID()}.tmp`);
  await writeFlushed(draft, id);
  return draft;
}

async function writeFlushed(path: string, id: string): Promise<void> {
  await using file = await open(path, "wx");
  // The verifier or deleter may be another user, so the umask of this one must not matter.
  await file.chmod(0o644).catch(() => {});
  await file.writeFile(`${id}\n${explanation}`);
  await file.sync();
}

function unlessThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
