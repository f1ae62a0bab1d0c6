/**
 * The storages of checkpoints as one host sees them. This is a port: services call file systems of users only through
 * it. In a simulation two hosts can have different views of one path. Each adapter passes storage-contract.ts.
 *
 * A root is an absolute path that an operator or a configuration names; links above it are followed. `below` is a path
 * below it, `a/b`, where training code may replace any file or folder by a link at any moment: no call follows one.
 */
import type { Comparison, ExpectedFile, KnownDigest } from "./compare-files.ts";
import type { SeenStorage, StorageMark } from "./marker-text.ts";
import type { Removed } from "./remove-below.ts";

export interface StorageDisk {
  /** Reads the marker of the root on this host. */
  seen(root: string): Promise<SeenStorage>;
  /**
   * Marks the root unless it has a marker; returns the id of its marker. Throws a Fault `storage_not_marked` if the
   * root cannot be marked.
   */
  mark(root: string, id: string): Promise<string>;
  /**
   * Replaces the marker of the root as a whole, if it has the same id. Throws a Fault `storage_not_marked` if it does
   * not, and nothing is written.
   */
  renew(root: string, mark: StorageMark): Promise<void>;
  /** Returns the names directly in the root. */
  names(root: string): Promise<readonly string[]>;
  /** Returns the user id of a folder's owner; null if no folder is there, or a link. */
  ownerOf(root: string, below: string): Promise<number | null>;
  /**
   * Returns the time of the last change of an entry or of anything in it, in milliseconds since 1970; Infinity if it is
   * absent.
   */
  changedAtMs(root: string, below: string): Promise<number>;
  /**
   * Lists the regular files in a folder and its subfolders, sorted. More than `max` files and folders are a problem.
   */
  files(root: string, below: string, max: number): Promise<Listing>;
  /**
   * Compares files of a folder with their sizes and, where given, their SHA-256. A file that has the identity of a
   * known digest is not read. Ends with the first difference, or, with `every`, lists all of them and the extra files.
   */
  compare(
    root: string,
    below: string,
    files: readonly ExpectedFile[],
    options?: CompareOptions,
  ): Promise<Comparison>;
  /** Reads files of a folder, together at most `bytesMax`. Omits a file that changed meanwhile or cannot be read. */
  digests(
    root: string,
    below: string,
    paths: readonly string[],
    bytesMax: number,
  ): Promise<readonly KnownDigest[]>;
  /** Opens a regular file of a folder. Throws for anything else at the path. */
  read(root: string, below: string, path: string): Promise<OpenedFile>;
  /**
   * Removes an entry with everything in it; does nothing if it is absent, or behind a link. Links are removed
   * themselves and never followed, even if they replace folders during the removal.
   */
  removeFolder(root: string, below: string): Promise<void>;
  /**
   * Removes the files of a folder whose paths match a pattern of `globMatcher`, and counts them. A matching link is
   * removed itself. Throws if the folder itself is a link.
   */
  removeFiles(root: string, below: string, globs: readonly string[]): Promise<Removed>;
}

/** The paths, none if the folder is absent; or why it is not listed, as the end of a sentence that begins with it. */
export type Listing = { readonly files: readonly string[] } | { readonly problem: string };

export type CompareOptions = {
  readonly known?: readonly KnownDigest[];
  readonly every?: boolean;
};

/** An open file with its state when it was opened. */
export type OpenedFile = AsyncDisposable & {
  readonly bytes: number;
  readonly mode: number;
  readonly changedAtMs: number;
  /** The content up to the size at the opening; less if the file has shrunk. It can be read once. */
  readonly content: AsyncIterable<Uint8Array>;
};
