import type { Clock } from "@trainyard/kernel";

/** A clock that moves only while someone waits for it, by `times` the wait. */
export class QuickClock implements Clock {
  #elapsedMs = 0;
  readonly #times: number;

  constructor(times = 1) {
    this.#times = times;
  }

  nowMs = (): number => this.#elapsedMs;
  monotonicMs = (): number => this.#elapsedMs;

  timer(afterMs: number, callback: () => void): Disposable {
    const timer = setImmediate(() => {
      this.#elapsedMs += this.#times * afterMs;
      callback();
    });
    return { [Symbol.dispose]: () => clearImmediate(timer) };
  }
}
