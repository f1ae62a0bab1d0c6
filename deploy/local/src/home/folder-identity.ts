import { statSync } from "node:fs";

/** The device and inode of a folder: a copy has another identity, a renamed folder keeps its own. Null without folder. */
export function folderIdentity(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
