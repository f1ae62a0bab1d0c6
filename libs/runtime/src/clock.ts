import type { Clock } from "@trainyard/kernel";

/** The machine's clocks. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  timer(afterMs, callback) {
    const handle = setTimeout(callback, afterMs);
    return { [Symbol.dispose]: () => clearTimeout(handle) };
  },
};

/** Resolves after `ms`, or at once when the signal aborts; never rejects. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = (): void => {
      timer[Symbol.dispose]();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.timer(ms, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}
