/**
 * Reads and writes in the folder that a training process may write. All in it is the process's own: in the place of a
 * file there may be anything, of any size, a pipe that nobody writes to, or a link to what never ends; in the place of
 * a folder a link to another run's, or to the system's, at any moment. So each folder below the run's is opened as a
 * folder and no link, and what is in it is reached through the open folder. Where the run has a user of its own only
 * that user's files count: a hard link gives any name to another's.
 *
 * Names are relative to the run's folder, with "/".
 */
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hasProc } from "@trainyard/kernel/process-identity";
import { ownerOfFolder } from "../users/run-folders.ts";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NONBLOCK, O_NOFOLLOW, O_DIRECTORY } = constants;

/** Null where there is no such file, a number where it has more bytes than that. */
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

/** A descriptor of a regular file, for the caller to close; null for anything else. */
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
    // Not there, a link, a socket, or not to be read by this user: nothing that the SDK has written.
    return null;
  }
  const status = fstatSync(file);
  if (status.isFile() && (uid === undefined || uid === status.uid)) return file;
  closeSync(file);
  return null;
}

/**
 * Replaced by rename, and the run's to read and replace. Throws where the folder is not there, or the draft's name is
 * taken.
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
  if (written === null) throw new Error(`${runDir} has no folder for ${name}`);
}

/** One that is not there counts as removed. */
export function removeRunFile(runDir: string, name: string): void {
  const [folder, base] = split(name);
  withinRun(runDir, folder, (path) => rmSync(`${path}/${base}`, { force: true }));
}

/** Calls with a path of a folder that stays the same whatever the run does meanwhile; null where there is none. */
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
    // A link is reported as ENOTDIR where a folder is asked for, or as ELOOP.
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(code)) return null;
    throw error;
  }
}

function split(name: string): readonly [string, string] {
  const at = name.lastIndexOf("/");
  return [name.slice(0, Math.max(at, 0)), name.slice(at + 1)];
}
