import {
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  truncateSync,
} from "node:fs";
import { limits } from "../limits.ts";

/**
 * Moves the content of a log aside once it is too large. The processes write into the file directly, with or without a
 * supervisor, so the file is copied and emptied rather than renamed; they append, so they continue at its start. Lines
 * written between the copy and the emptying are lost: these logs are for people, and no program depends on them.
 */
export function boundLog(path: string, bytesMax: number = limits.logBytesMax): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stat.size <= bytesMax) return;
  copyFileSync(path, `${path}.1`);
  truncateSync(path, 0);
}

const tailBytes = 64 * 1024;

/** The last lines of a log; empty when the file does not exist. */
export function lastLines(path: string, count: number = limits.quotedLogLines): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return [];
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const length = Math.min(size, tailBytes);
    const buffer = Buffer.alloc(length);
    readSync(file, buffer, 0, length, size - length);
    return buffer.toString("utf8").trimEnd().split("\n").slice(-count);
  } finally {
    closeSync(file);
  }
}
