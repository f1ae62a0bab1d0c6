/**
 * Reads files below a folder that training code can change at any moment: it may replace a file by a link, a pipe or a
 * device, and a folder by a link. Therefore the check uses the path of the opened file, not the requested name: no swap
 * before or after the opening can make a file outside look as if it were inside. (A hard link has its own path; the
 * kernel's settings restrict who may create one.)
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";

/**
 * The entry at a path is not the expected file or folder. The message continues a sentence that begins with the path.
 */
export class NotInside extends Error {
  override readonly name = "NotInside";
}

type Entry = { readonly path: string; readonly kind: "folder" | "file" | "other" };

export class FolderOfOthers {
  /** The folder's real path, without links. */
  readonly #path: string;
  /** The user id of the folder's owner when it was opened. */
  readonly owner: number;

  private constructor(path: string, owner: number) {
    this.#path = path;
    this.owner = owner;
  }

  /**
   * Opens a folder below a root that only an operator can move: links above the root are followed, links below it are
   * refused with NotInside. Null if the folder does not exist.
   */
  static async open(root: string, below: string): Promise<FolderOfOthers | null> {
    try {
      const path = join(await realpath(root), below);
      await using handle = await openInside(path, constants.O_DIRECTORY);
      return new FolderOfOthers(path, (await handle.stat()).uid);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }

  /**
   * Opens a regular file for reading. Throws NotInside for anything else at the path; system errors pass through
   * unchanged.
   */
  async file(path: string): Promise<{ readonly handle: FileHandle; readonly stats: Stats }> {
    // Opening a pipe would otherwise wait for a writer.
    const handle = await this.#open(path, constants.O_NONBLOCK);
    const stats = await handle.stat().catch(closing(handle));
    if (stats.isFile()) return { handle, stats };
    await handle.close();
    throw new NotInside("is not a file");
  }

  /**
   * Lists the paths of all regular files in the folder and its subfolders, sorted; links are not followed. Throws
   * NotInside for more than `max` files and folders.
   */
  async files(max: number): Promise<readonly string[]> {
    const found: string[] = [];
    let folders = 0;
    for await (const { path, kind } of this.entries()) {
      if (kind === "file") found.push(path);
      if (kind === "folder") folders += 1;
      if (found.length + folders > max) throw new NotInside(`has more than ${max} files`);
    }
    return found.toSorted();
  }

  /** Yields everything in the folder and its subfolders; links are not followed. */
  async *entries(): AsyncGenerator<Entry> {
    const folders = [""];
    for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
      await using handle = await this.#open(at, constants.O_DIRECTORY);
      for (const entry of await readdir(placeOf(handle), { withFileTypes: true })) {
        const path = join(at, entry.name);
        if (entry.isDirectory()) folders.push(path);
        yield { path, kind: entry.isDirectory() ? "folder" : entry.isFile() ? "file" : "other" };
      }
    }
  }

  #open(path: string, flags: number): Promise<FileHandle> {
    return openInside(join(this.#path, path), flags);
  }
}

/** Opens a real path for reading; throws NotInside if a link is in it. */
async function openInside(expected: string, flags: number): Promise<FileHandle> {
  const handle = await open(expected, constants.O_RDONLY | constants.O_NOFOLLOW | flags).catch(
    refusingLinks,
  );
  const place = await readlink(placeOf(handle)).catch(closing(handle));
  // join() keeps a / at the end of a root.
  if (join(place, "/") === join(expected, "/")) return handle;
  await handle.close();
  throw new NotInside("is behind a link, or was moved while it was opened");
}

/** Linux's path of an open file: a link to its current place, which nobody can redirect. */
function placeOf(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

function refusingLinks(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "ELOOP" && code !== "ENOTDIR") throw error;
  throw new NotInside("is a link, or its parent is not a folder");
}

function closing(handle: FileHandle): (error: unknown) => Promise<never> {
  return async (error) => {
    await handle.close();
    throw error;
  };
}
