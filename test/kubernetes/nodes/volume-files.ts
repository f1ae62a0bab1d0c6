/**
 * Files that change together: each version of a volume's content has a folder of its own, and one link names the
 * newest. A reader sees either all old files or all new ones. Source: docs, "ConfigMaps" (mounted ConfigMaps are
 * updated automatically), "Secrets" (hidden files and the folder `..data` in a listing of a mounted volume).
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

export type VolumeFile = {
  readonly path: string;
  readonly bytes: Buffer;
  readonly mode: number;
  readonly uid?: number;
};

const link = "..data";

/** Writes the files, unless the folder has exactly them. The group, if given, may read them. */
export function writeFiles(
  folder: string,
  files: readonly VolumeFile[],
  group: number | null,
): void {
  const version = `..${digestOf(files)}`;
  const at = join(folder, link);
  const old = existsSync(at) ? readlinkSync(at) : null;
  if (old === version) return;
  mkdirSync(join(folder, version), { recursive: true });
  for (const file of files) writeOne(join(folder, version), file, group);
  symlinkSync(version, `${at}_tmp`);
  renameSync(`${at}_tmp`, at);
  const names = new Set(files.map(({ path }) => path.split("/")[0] ?? ""));
  for (const name of readdirSync(folder)) {
    if (!name.startsWith("..") && !names.has(name)) rmSync(join(folder, name));
  }
  for (const name of names) {
    if (!existsSync(join(folder, name))) symlinkSync(join(link, name), join(folder, name));
  }
  if (old !== null) rmSync(join(folder, old), { recursive: true });
}

function writeOne(
  folder: string,
  { path, bytes, mode, uid = 0 }: VolumeFile,
  group: number | null,
): void {
  const at = join(folder, path);
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, bytes);
  chownSync(at, uid, group ?? 0);
  chmodSync(at, group === null ? mode : mode | 0o440);
}

function digestOf(files: readonly VolumeFile[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes, mode, uid = 0 } of files) {
    hash.update(`${path}\0${mode}\0${uid}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest("hex").slice(0, 16);
}
