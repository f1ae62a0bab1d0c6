/**
 * Reads what a training process may write. The folder is its own: in the place of a file there may be anything, of any size,
 * a pipe that nobody writes to, or a link to what never ends.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Null where there is no such file, a number where it has more bytes than that. */
export function readRunFile(path: string, bytesMax: number): Buffer | number | null {
  const file = openRunFile(path);
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
export function openRunFile(path: string): number | null {
  let file: number;
  try {
    // Opening a pipe waits for its other end unless it is told not to.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    // Not there, a link, a socket, or not to be read by this user: nothing that the SDK has written.
    return null;
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  return null;
}
