/**
 * The state of the use of a run, in its folder. Its times are the host's uptime, which no agent and no date can change,
 * so that they count in this boot only. No run outlives a boot.
 */
import { boot } from "@trainyard/kernel/process-identity";
import { isDiskFull, names, readRecord, writeRecord } from "../state/layout.ts";
import type { UseState } from "./use-rule.ts";

type IdleRecord = UseState & { readonly boot: string };

/** The uptime of the host in milliseconds: that of the kernel's clock that never goes back. */
export const hostUptimeMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

export function readUse(folder: string): UseState | null {
  const record = readRecord<IdleRecord>(folder, names.idle);
  if (record === null || record.boot !== boot) return null;
  const { usedMs, held, silentMs } = record;
  return { usedMs, held, silentMs };
}

/** Returns false if the disk is full: then a restart of the agent finds an older state. */
export function writeUse(folder: string, state: UseState): boolean {
  try {
    writeRecord(folder, names.idle, { ...state, boot } satisfies IdleRecord);
    return true;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return false;
  }
}
