import type { Clock } from "@trainyard/kernel";

type Timer = { readonly atMs: number; readonly order: number; readonly callback: () => void };

/** Time that passes only when told to: a simulated hour costs as much as what happens in it. */
export class VirtualClock implements Clock {
  readonly #startMs: number;
  #elapsedMs = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  constructor(startMs = 1_700_000_000_000) {
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  timer(afterMs: number, callback: () => void): Disposable {
    this.#order += 1;
    const timer = { atMs: this.#elapsedMs + Math.max(0, afterMs), order: this.#order, callback };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /** Lets the next timer fire, and everything that follows from it happen. False when there is none. */
  async step(): Promise<boolean> {
    const next = this.#next();
    if (next === null) return false;
    this.#timers.delete(next);
    this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs);
    next.callback();
    await this.settle();
    return true;
  }

  /** Everything in the simulated world waits for microtasks or for this clock: when the loop turns, it all has happened. */
  async settle(): Promise<void> {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }

  #next(): Timer | null {
    let next: Timer | null = null;
    for (const timer of this.#timers) {
      if (
        next === null ||
        timer.atMs < next.atMs ||
        (timer.atMs === next.atMs && timer.order < next.order)
      ) {
        next = timer;
      }
    }
    return next;
  }
}
