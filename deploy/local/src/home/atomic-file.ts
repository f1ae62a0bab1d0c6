import { randomUUID } from "node:crypto";
import {
  closeSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { ClusterError, errorCode, errorText } from "../cluster-error.ts";

/**
 * Replaces a file atomically: a reader sees the old text or the new one. The mode is 0600 by default. With `durable`
 * the file also survives a power cut, at the price of two fsyncs.
 */
export function writeAtomically(
  path: string,
  text: string,
  options: {
    readonly mode?: number;
    readonly durable?: boolean;
    readonly owner?: { readonly uid: number; readonly gid: number } | null;
  } = {},
): void {
  const draft = `${path}.${randomUUID()}.new`;
  const file = openSync(draft, "wx", options.mode ?? 0o600);
  try {
    writeFileSync(file, text);
    if (options.owner != null) fchownSync(file, options.owner.uid, options.owner.gid);
    if (options.durable === true) fsyncSync(file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  if (options.durable === true) fsyncFolder(dirname(path));
}

function fsyncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

export function writeJson(path: string, value: unknown, options: { durable?: boolean } = {}): void {
  writeAtomically(path, `${JSON.stringify(value, null, 2)}\n`, options);
}

export function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Null when the file does not exist; throws an error with its path when it is not JSON. */
export function readJson(path: string): unknown {
  const text = readText(path);
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ClusterError("broken_file", `${path} is not readable JSON (${errorText(error)})`, {
      cause: error,
    });
  }
}
