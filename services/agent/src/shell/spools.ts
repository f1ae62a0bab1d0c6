import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { names } from "../state/layout.ts";
import type { Run } from "./run.ts";

const blockBytes = 512;

/** Returns the space that the lines and reports of runs take on the disk; nothing of a run that has delivered all. */
export function spoolsOf(runs: Iterable<Pick<Run, "folder" | "isDelivered">>) {
  const bytes = { lines: 0, reports: 0 };
  for (const { folder, isDelivered } of runs) {
    if (isDelivered) continue;
    bytes.lines += bytesIn(join(folder.path, names.output));
    bytes.reports += bytesOf(join(folder.runDir, "spool", "reports.ndjson"));
  }
  return bytes;
}

function bytesIn(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + bytesOf(join(folder, name)), 0);
  } catch {
    return 0; // The run was removed meanwhile.
  }
}

/** The blocks that a file has, since the program of a run may give its file any size. */
function bytesOf(path: string): number {
  return (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * blockBytes;
}
