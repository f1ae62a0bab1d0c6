import { setTimeout as delay } from "node:timers/promises";
import { limits } from "./limits.ts";

/** Waits until a condition that nothing announces holds; false when it did not within the limit. */
export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  limitMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const end = performance.now() + limitMs;
  for (;;) {
    if (await holds()) return true;
    if (performance.now() >= end || signal?.aborted === true) return false;
    await delay(limits.pollMs);
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
