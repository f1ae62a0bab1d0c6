/**
 * Reads and writes in the folder that a training process may write. Its content is hostile: a file may be of any size,
 * a pipe without a writer, or a link to an endless file; a folder may become a link to another run's or the system's
 * folder at any time. So each folder below the run's is opened without following links, and its files are opened
 * through the open folder. If the run has a user of its own, only that user's files count, since a hard link can name
 * another user's file.
 *
 * Names are relative to the run's folder, with "/".
 */
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lchownSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hasProc } from "@trainyard/kernel/process-identity";
import { ownerOfFolder } from "./run-folders.ts";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NONBLOCK, O_NOFOLLOW, O_DIRECTORY } = constants;

/** Null if the file does not exist; its size if it is longer than the limit. */
export function readRunFile(
  runDir: string,
  name: string,
  bytesMax: number,
): Buffer | number | null {
  const file = openRunFile(runDir, name);
  if (file === null) return null;
  try {
    const { size } = fstatSync(file);
    if (size > bytesMax) return size;
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(file, bytes, 0, size, 0));
  } finally {
    closeSync(file);
  }
}

/** Returns a descriptor of a regular file, which the caller closes; null for any other kind of file. */
export function openRunFile(runDir: string, name: string): number | null {
  const [folder, base] = split(name);
  return withinRun(runDir, folder, (path) =>
    openFile(`${path}/${base}`, ownerOfFolder(runDir)?.uid),
  );
}

function openFile(path: string, uid: number | undefined): number | null {
  let file: number;
  try {
    // Opening a pipe waits for its other end by default.
    file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch {
    // The path does not exist, is a link or a socket, or is unreadable for this user: the SDK did not write it.
    return null;
  }
  const status = fstatSync(file);
  if (status.isFile() && (uid === undefined || uid === status.uid)) return file;
  closeSync(file);
  return null;
}

/**
 * Replaces a file by rename; the run may read and replace it. Throws if the folder does not exist, or the draft's name
 * is taken.
 */
export function writeRunFile(runDir: string, name: string, text: string): void {
  const owner = ownerOfFolder(runDir);
  const [folder, base] = split(name);
  const written = withinRun(runDir, folder, (path) => {
    const draft = `${path}/.${base}.agent.new`;
    rmSync(draft, { force: true });
    const file = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      writeFileSync(file, text);
      if (owner !== null) fchownSync(file, owner.uid, owner.gid);
    } finally {
      closeSync(file);
    }
    renameSync(draft, `${path}/${base}`);
    return true;
  });
  if (written === null) throw new Error(`the folder of ${name} does not exist in ${runDir}`);
}

/** Makes a folder of the run's user below one of the run's folders, unless it exists. */
export function makeRunFolder(runDir: string, below: string, name: string): void {
  const owner = ownerOfFolder(runDir);
  withinRun(runDir, below, (path) => {
    const made = `${path}/${name}`;
    try {
      mkdirSync(made, { mode: 0o700 });
      if (owner !== null) lchownSync(made, owner.uid, owner.gid);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  });
}

/** A missing file counts as removed. */
export function removeRunFile(runDir: string, name: string): void {
  const [folder, base] = split(name);
  withinRun(runDir, folder, (path) => rmSync(`${path}/${base}`, { force: true }));
}

/** Calls with a path that names the same folder whatever the run does meanwhile; null if the folder does not exist. */
export function withinRun<T>(runDir: string, folder: string, work: (path: string) => T): T | null {
  const open: number[] = [];
  let path = runDir;
  try {
    for (const name of folder.split("/").filter(Boolean)) {
      const next = openFolder(`${path}/${name}`);
      if (next === null) return null;
      open.push(next);
      path = hasProc ? `/proc/self/fd/${next}` : `${path}/${name}`;
    }
    return work(path);
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}

function openFolder(path: string): number | null {
  try {
    return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    // A link is reported as ENOTDIR if a folder is expected, else as ELOOP.
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(code)) return null;
    throw error;
  }
}

function split(name: string): readonly [string, string] {
  const at = name.lastIndexOf("/");
  return [name.slice(0, Math.max(at, 0)), name.slice(at + 1)];
}
