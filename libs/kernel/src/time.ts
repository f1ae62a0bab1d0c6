/// <reference lib="esnext.disposable" preserve="true" />
/** The port of time: wall time for display, monotonic time for durations. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. May jump. */
  nowMs(): number;
  /** Milliseconds since an arbitrary start. Never goes back. */
  monotonicMs(): number;
  /** Calls back once after at least `afterMs`, unless disposed of before. */
  timer(afterMs: number, callback: () => void): Disposable;
}

/** The part of an AbortSignal that pure code uses. */
export interface Signal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Resolves after `ms`, or at once when the signal aborts; never rejects. */
export function pause(clock: Clock, ms: number, signal?: Signal): Promise<void> {
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
    signal?.addEventListener("abort", done);
  });
}

/**
 * Resolves when the work has ended, successfully or not, or when the time is over while the work continues. Never
 * rejects.
 */
export async function atMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>();
  // The published client runs where `using` is no syntax yet: Node 22 and older browsers.
  const timer = clock.timer(Math.max(0, ms), over.resolve);
  try {
    await Promise.race([over.promise, work.catch(() => {})]);
  } finally {
    timer[Symbol.dispose]();
  }
}
