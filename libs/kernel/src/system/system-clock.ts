import type { Clock } from "../time.ts";

/** The machine's clocks; all other code receives a Clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  timer(afterMs, callback) {
    const handle = setTimeout(callback, afterMs);
    return { [Symbol.dispose]: () => clearTimeout(handle) };
  },
};
