/**
 * Time that passes when a test says so. Timers fire in the order of their due times, each after everything that the one
 * before it set in motion in this process is idle.
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

  /** Lets time pass, and rest after each timer. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await atRest();
    while (await this.step(untilMs));
    this.#elapsedMs = untilMs;
    await atRest();
  }

  /** Lets the next timer fire, whenever it is due, and rest after it. False when there is none until then. */
  async step(untilMs: number = Number.POSITIVE_INFINITY): Promise<boolean> {
    const next = this.#next(untilMs);
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
    next.callback();
    await atRest();
    return true;
  }

  /** Time continues while nothing runs, as for a process that was stopped: timers fire late, at the next `advance`. */
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

/** Resolves when promises and immediates of this process have run out; files and sockets are not waited for. */
export async function atRest(): Promise<void> {
  for (let turn = 0; turn < restTurns; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** Microtasks run out within one turn; a few more let immediates that set others off follow. */
const restTurns = 4;
