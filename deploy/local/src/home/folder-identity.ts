import { statSync } from "node:fs";

/**
 * The device and inode of a folder: a copy has others, and a renamed folder keeps its own. Null if there is no folder.
 */
export function folderIdentity(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
