import type { Clock, Fault } from "@trainyard/kernel";

type Waiter = { readonly position: number; readonly resolve: () => void };

/** Callers that wait until a follower of the log has reached a position. */
export class PositionWaiters {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiter>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get someWait(): boolean {
    return this.#waiting.size > 0;
  }

  /** Resolves with the first `reached` position at or beyond the given one; rejects with the fault after `withinMs`. */
  until(position: number, withinMs: number, late: () => Fault): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = {
        position,
        resolve: () => {
          this.#waiting.delete(waiter);
          timer[Symbol.dispose]();
          resolve();
        },
      };
      const timer = this.#clock.timer(withinMs, () => {
        this.#waiting.delete(waiter);
        reject(late());
      });
      this.#waiting.add(waiter);
    });
  }

  reached(position: number): void {
    for (const waiter of this.#waiting) if (waiter.position <= position) waiter.resolve();
  }
}
