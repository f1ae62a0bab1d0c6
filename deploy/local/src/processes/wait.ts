import { setTimeout as delay } from "node:timers/promises";
import { limits } from "../limits.ts";

/** Waits until a condition that nothing announces holds; false when it did not within the limit. */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  limitMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const start = performance.now();
  for (;;) {
    if (await holds()) return true;
    const waitedMs = performance.now() - start;
    if (waitedMs >= limitMs || signal?.aborted === true) return false;
    const gapMs = Math.max(limits.pollMs, waitedMs * limits.pollShare);
    await delay(Math.min(gapMs, limits.pollLastMs));
  }
}

/** Resolves after a time, or as soon as the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
