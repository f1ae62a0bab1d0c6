import { pause } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { limits } from "../limits.ts";

/** Polls a condition until it is true; returns false if it is not within the limit. */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  limitMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const start = systemClock.monotonicMs();
  for (;;) {
    if (await holds()) return true;
    const waitedMs = systemClock.monotonicMs() - start;
    if (waitedMs >= limitMs || signal?.aborted === true) return false;
    const gapMs = Math.max(limits.pollMs, waitedMs * limits.pollShare);
    await pause(systemClock, Math.min(gapMs, limits.pollLastMs), signal);
  }
}
