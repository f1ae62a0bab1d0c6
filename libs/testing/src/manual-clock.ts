/**
 * A clock that advances when a test decides. Timers fire in the order of their due times, each after the work that the
 * previous one started in this process has ended.
 */
import type { Clock } from "@trainyard/kernel";

type Timer = { readonly dueMs: number; readonly order: number; readonly callback: () => void };

export class ManualClock implements Clock {
  #elapsedMs = 0;
  #timers = new Set<Timer>();
  #order = 0;
  readonly #startMs: number;

  constructor(startMs: number = 1_700_000_000_000) {
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
    const timer = { dueMs: this.#elapsedMs + Math.max(0, afterMs), order: this.#order, callback };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /** Advances the time, and waits after each timer until its work has ended. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await atRest();
    while (await this.step(untilMs));
    this.#elapsedMs = untilMs;
    await atRest();
  }

  /** Fires the next timer and waits until its work has ended. Returns false if no timer is due until then. */
  async step(untilMs: number = Number.POSITIVE_INFINITY): Promise<boolean> {
    const next = this.#next(untilMs);
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
    next.callback();
    await atRest();
    return true;
  }

  /** Advances the time without running timers, like for a suspended process: they fire late, at the next `advance`. */
  skip(ms: number): void {
    this.#elapsedMs += ms;
  }

  #next(untilMs: number): Timer | undefined {
    let best: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > untilMs) continue;
      const earlier =
        best === undefined ||
        timer.dueMs < best.dueMs ||
        (timer.dueMs === best.dueMs && timer.order < best.order);
      if (earlier) best = timer;
    }
    return best;
  }
}

/** Resolves when this process has no more promises and immediates to run; files and sockets are not waited for. */
export async function atRest(): Promise<void> {
  for (let turn = 0; turn < restTurns; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** Microtasks end within one turn; further turns allow for immediates that start others. */
const restTurns = 4;
