/**
 * Unpacks a save of a task's folder, the format trainyard-work/1: `work.json` names archives of small entries and files
 * that are stored as they are. A save is somebody's data, so nothing in it leads out of the folder: links are made
 * last, and no entry is below one. They may point anywhere, as in the task's folder.
 */
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { extract, type ReadEntry } from "tar";
import { unpackInto } from "./unpack-into.ts";
import { Failure, UsageError } from "./usage-error.ts";

/** Downloaded files are the caller's: no bits that change the user of a program. */
const modeBits = 0o777;

type Large = {
  readonly path: string;
  readonly file: string;
  readonly mode: number;
  /** Nanoseconds since 1970. */
  readonly mtime: number;
};

type Folder = { readonly path: string; readonly mode: number; readonly mtimeMs: number };

/** Unpacks the archive of a save into a new or empty folder, which gets its name when it is whole. */
export async function unpackSave(folder: string, body: ReadableStream<Uint8Array>): Promise<void> {
  await requireEmpty(folder);
  await mkdir(dirname(folder), { recursive: true });
  const partial = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
  try {
    const [save, whole] = [join(partial, "save"), join(partial, "whole")];
    await unpackInto(save, body);
    await mkdir(whole);
    await restore(save, whole);
    await rename(whole, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function requireEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  if (names.length > 0) throw new UsageError(`${folder} has files: name a new or an empty folder.`);
}

async function restore(save: string, whole: string): Promise<void> {
  const { archives, large } = descriptionIn(await readFile(join(save, "work.json"), "utf8"));
  const links = new Map<string, string>();
  const folders: Folder[] = [];
  for (const name of archives) {
    await extract({
      cwd: whole,
      file: join(save, insideOf(name)),
      strict: true,
      chmod: true,
      filter: (_path, entry) => "header" in entry && isWritten(entry, links, folders),
    });
  }
  for (const { path, file, mode, mtime } of large) {
    const target = join(whole, insideOf(path.toWellFormed()));
    await mkdir(dirname(target), { recursive: true });
    await rename(join(save, insideOf(file)), target);
    await finish(target, { mode, mtimeMs: mtime / 1e6 });
  }
  for (const [path, to] of links) {
    const target = join(whole, path);
    await mkdir(dirname(target), { recursive: true });
    await requireFolders(whole, target);
    await symlink(to, target);
  }
  // The deepest first: a folder may be one that its owner cannot write to.
  for (const { path, ...shown } of folders.toReversed()) await finish(join(whole, path), shown);
}

/** Reports whether the package tar writes an entry. Notes links and folders, which are finished later. */
function isWritten(entry: ReadEntry, links: Map<string, string>, folders: Folder[]): boolean {
  const { type, mode = 0, mtime } = entry;
  const path = insideOf(entry.path);
  if (type === "SymbolicLink") {
    links.set(path, entry.linkpath ?? "");
    return false;
  }
  if (type === "Directory") {
    folders.push({ path, mode, mtimeMs: mtime?.getTime() ?? 0 });
    entry.mode = 0o700;
  } else if (type === "File" || type === "OldFile") entry.mode = mode & modeBits;
  else return false;
  // The package reads a name like "x:y" as a path on a Windows drive, unless a folder precedes it.
  entry.path = `./${path}`;
  return true;
}

async function finish(path: string, { mode, mtimeMs }: Omit<Folder, "path">): Promise<void> {
  await utimes(path, mtimeMs / 1_000, mtimeMs / 1_000);
  await chmod(path, mode & modeBits);
}

/** Throws a Failure if a part of the path below the root is a link. */
async function requireFolders(root: string, target: string): Promise<void> {
  for (let at = dirname(target); at !== root; at = dirname(at)) {
    if (!(await lstat(at)).isDirectory()) throw new Failure("The save is malformed.");
  }
}

function descriptionIn(text: string): {
  readonly archives: readonly string[];
  readonly large: readonly Large[];
} {
  const described: unknown = JSON.parse(text);
  if (typeof described === "object" && described !== null && "format" in described) {
    const { format, archives = [], large = [] } = described as Described;
    if (format === "trainyard-work/1") return { archives, large };
  }
  throw new Failure("The save has a format that this version of yard does not read: update yard.");
}

type Described = {
  readonly format: unknown;
  readonly archives?: readonly string[];
  readonly large?: readonly Large[];
};

/** Returns a path below a folder. Throws a Failure for any other. */
function insideOf(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const isInside = parts.length > 0 && !path.startsWith("/") && !parts.includes("..");
  if (isInside) return parts.join("/");
  throw new Failure("The save is malformed: a path leads out of the folder.");
}
