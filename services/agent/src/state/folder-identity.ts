/**
 * The identity of this agent beside others of its name (agent.proto, "The holder of a name"). The id was drawn once,
 * and a copy of the folder has the same one. The place is the kernel's identification of the folder, which no copy
 * shares while the machine is up. The start is later than every earlier start in the folder, whatever the clock says.
 */
import { createHash, randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { boot, hasProc } from "@trainyard/kernel/process-identity";
import { names, readRecord, writeRecord } from "./layout.ts";

export type FolderIdentity = {
  readonly folder: string;
  readonly place: string;
  readonly startedMs: number;
};

type FolderRecord = { readonly id: string; readonly startedMs: number };

/** Records this start; only the holder of the folder's lock may call it. */
export function beginStart(path: string, nowMs: number): FolderIdentity {
  const standing = readRecord<FolderRecord>(path, names.folder);
  const id = standing?.id ?? randomUUID();
  const startedMs = Math.max(nowMs, (standing?.startedMs ?? 0) + 1);
  try {
    writeRecord(path, names.folder, { id, startedMs });
  } catch (error) {
    // The agent must start on a full disk too, to adopt its runs; the next start is later by the clock.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOSPC" && code !== "EDQUOT") throw error;
  }
  return { folder: id, place: placeOf(path), startedMs };
}

function placeOf(path: string): string {
  // Without a boot id of the kernel, every start has a place of its own.
  if (!hasProc) return randomUUID();
  const { dev, ino } = statSync(path, { bigint: true });
  return createHash("sha256").update(`${boot} ${dev} ${ino}`).digest("hex").slice(0, 32);
}
