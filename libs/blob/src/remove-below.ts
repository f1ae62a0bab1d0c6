/**
 * The removal of files that training code may exchange for links at any moment, also during the removal. Each folder is
 * opened without following a link, and its entries are named through the open folder (/proc/self/fd), so that no
 * exchange leads to a file of another folder. A link in the place of an entry is removed itself.
 */
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, rmdir, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { mapConcurrently } from "@trainyard/kernel";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/** Files of one folder that are removed concurrently: a file server removes them faster than one after the other. */
const filesAtOnce = 8;

export type Removed = { readonly files: number; readonly bytes: number };

/**
 * Removes an entry below a root with everything in it; an absent one counts as removed. Links above the root are
 * followed. Below it nothing is removed behind a link.
 */
export async function removeWhole(root: string, below: string): Promise<void> {
  await using parent = await openParent(root, below);
  if (parent.place !== null) await removeEntry(join(parent.place, basename(below)));
}

/**
 * Removes the files of a folder below a root whose paths match, and counts them; does nothing if the folder is absent.
 * Throws if the folder is a link or a file.
 */
export async function removeMatching(
  root: string,
  below: string,
  matches: (path: string) => boolean,
): Promise<Removed> {
  const nothing = { files: 0, bytes: 0 };
  await using parent = await openParent(root, below);
  if (parent.place === null) return nothing;
  const folder = await openFolder(join(parent.place, basename(below)));
  if (folder === "absent") return nothing;
  if (folder === "other") throw notFolder(join(root, below));
  return removeFiles(folder, below, "", matches);
}

/** Opens the folders from the root to an entry's parent; the place is null where one is absent or a link. */
async function openParent(
  root: string,
  below: string,
): Promise<AsyncDisposable & { readonly place: string | null }> {
  await using opened = new AsyncDisposableStack();
  let place: string | null = root;
  for (const name of ["", ...below.split("/").slice(0, -1)]) {
    const path: string = join(place, name);
    const folder = await openFolder(path, name === "" ? 0 : O_NOFOLLOW);
    if (folder === "other" && name === "") throw notFolder(root);
    place = typeof folder === "string" ? null : placeOf(opened.use(folder), path);
    if (place === null) break;
  }
  const kept = opened.move();
  return { place, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function notFolder(path: string): Error {
  return new Error(`ENOTDIR: ${path} is a link or a file, not a folder`);
}

async function removeFiles(
  handle: FileHandle,
  folder: string,
  below: string,
  matches: (path: string) => boolean,
): Promise<Removed> {
  await using opened = handle;
  const place = placeOf(opened, folder);
  const removed = { files: 0, bytes: 0 };
  for (const name of await readdir(place)) {
    const [at, path] = [join(place, name), join(below, name)];
    const inner = await openFolder(at);
    if (typeof inner !== "string") {
      const { files, bytes } = await removeFiles(inner, at, path, matches);
      removed.files += files;
      removed.bytes += bytes;
    } else if (inner === "other" && matches(path)) {
      removed.bytes += (await lstat(at)).size;
      await unlink(at);
      removed.files += 1;
    }
  }
  return removed;
}

async function removeEntry(at: string): Promise<void> {
  const folder = await openFolder(at);
  if (folder === "absent") return;
  if (folder === "other") return unlink(at).catch(unlessAbsent);
  await removeContent(folder, at);
  await rmdir(at).catch(unlessAbsent);
}

async function removeContent(handle: FileHandle, folder: string): Promise<void> {
  await using opened = handle;
  const place = placeOf(opened, folder);
  const entries = await readdir(place, { withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  const failures: unknown[] = [];
  // No call may still name the open folder when it is closed: its number may then be another folder's.
  await mapConcurrently(files, filesAtOnce, async ({ name }) => {
    await unlink(join(place, name)).catch((error: unknown) => failures.push(error));
  });
  for (const failure of failures) unlessAbsent(failure);
  // One after the other, so that this process opens no more folders than the tree is deep.
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    await removeEntry(join(place, name));
  }
}

/** Opens a folder itself, not the target of a link. */
async function openFolder(
  path: string,
  follow: number = O_NOFOLLOW,
): Promise<FileHandle | "absent" | "other"> {
  try {
    return await open(path, O_RDONLY | O_DIRECTORY | follow);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "absent";
    if (code === "ENOTDIR" || code === "ELOOP") return "other";
    throw error;
  }
}

/** A path that leads to an open folder wherever it is moved. Only Linux has one. */
function placeOf(handle: FileHandle, path: string): string {
  return process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
}

function unlessAbsent(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
