import { statfsSync } from "node:fs";
import { limits } from "../limits.ts";

/** The free space for this process on the file system of a folder. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** The size of the file system of a folder, of which other users may have a part. */
export function sizeBytes(folder: string): number {
  const { blocks, bsize } = statfsSync(folder);
  return blocks * bsize;
}

/** Whether the file system of a folder has less room than the agent leaves to others. */
export function isDiskLow(folder: string): boolean {
  const { bavail, blocks } = statfsSync(folder);
  return bavail < blocks * limits.diskFloorShare;
}
