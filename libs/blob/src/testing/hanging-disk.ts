import type { Clock } from "@trainyard/kernel";
import { ProcessDisk } from "../process-disk.ts";

/** Opens a disk on which each root whose path contains "hanging" hangs, and all others answer. */
export function openHangingDisk(clock: Clock): ProcessDisk {
  return new ProcessDisk(clock, new URL("./hanging-worker.ts", import.meta.url));
}
