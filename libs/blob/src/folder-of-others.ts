/**
 * Reading below a folder that others write to: training code may put a link, a pipe or a device in the place of a file,
 * and a link in the place of a folder, at any moment. Therefore the open file is asked for its path, and not its
 * name: no exchange before or after the opening can make a file outside look as if it were inside. (A hard link is
 * at its own path; the system decides who may make one of a file.)
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";

/** The unexpected entry in the place of a file or folder; its sentence ends one that begins with the path. */
export class NotInside extends Error {
  override readonly name = "NotInside";
}

export class FolderOfOthers {
  /** Without links. */
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * The folder at a path below a root that only an operator can move: links on the way to the root are followed, none
   * below it. Null where there is none; NotInside for a link.
   */
  static async open(root: string, below: string): Promise<FolderOfOthers | null> {
    try {
      const path = join(await realpath(root), below);
      const folder = new FolderOfOthers(path);
      await using _handle = await folder.#open("", constants.O_DIRECTORY);
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }

  /**
   * A regular file that is there itself, opened for reading. NotInside for anything else; system errors as they are.
   */
  async file(path: string): Promise<{ readonly handle: FileHandle; readonly stats: Stats }> {
    // A pipe's opening would wait for a writer.
    const handle = await this.#open(path, constants.O_NONBLOCK);
    const stats = await handle.stat().catch(closing(handle));
    if (stats.isFile()) return { handle, stats };
    await handle.close();
    throw new NotInside("is not a file");
  }

  /**
   * The paths of the regular files in it and in its folders, sorted; no link is followed. At most `max`, then
   * NotInside.
   */
  async files(max: number): Promise<readonly string[]> {
    const found: string[] = [];
    const folders = [""];
    for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
      await using handle = await this.#open(at, constants.O_DIRECTORY);
      for (const entry of await readdir(placeOf(handle), { withFileTypes: true })) {
        const path = join(at, entry.name);
        if (entry.isDirectory()) folders.push(path);
        else if (entry.isFile()) found.push(path);
        if (found.length + folders.length > max) throw new NotInside(`has more than ${max} files`);
      }
    }
    return found.toSorted();
  }

  async #open(path: string, flags: number): Promise<FileHandle> {
    const expected = join(this.#path, path);
    const handle = await open(expected, constants.O_RDONLY | constants.O_NOFOLLOW | flags).catch(
      refusingLinks,
    );
    const place = await readlink(placeOf(handle)).catch(closing(handle));
    // join() leaves the / at the end of a root.
    if (join(place, "/") === join(expected, "/")) return handle;
    await handle.close();
    throw new NotInside("is behind a link, or was moved while it was opened");
  }
}

/** Linux' name for an open file: a link to where it is, and a path to it that nobody can redirect. */
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
