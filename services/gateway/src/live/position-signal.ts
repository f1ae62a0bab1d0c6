import type { StoredEvent } from "@trainyard/event-log";

/** A wait for the next event of a stream. It ends when it is disposed. */
export type NextEvent = Disposable & {
  /** Aborts at the event. */
  readonly signal: AbortSignal;
};

/** Wakes those who wait for the next event of a stream. */
export class PositionSignal {
  /** The streams that somebody waits for, each with the number of those who do. */
  readonly #waiting = new Map<string, { readonly moved: AbortController; waiters: number }>();

  /** Begins to wait for the next event of the stream. Call it before reading the state. */
  next(stream: string): NextEvent {
    const waiting = this.#waiting.get(stream) ?? { moved: new AbortController(), waiters: 0 };
    this.#waiting.set(stream, waiting);
    waiting.waiters += 1;
    return {
      signal: waiting.moved.signal,
      [Symbol.dispose]: () => {
        waiting.waiters -= 1;
        if (waiting.waiters === 0 && this.#waiting.get(stream) === waiting) {
          this.#waiting.delete(stream);
        }
      },
    };
  }

  /** Calls `wake` at each event of the stream until it is disposed. */
  each(stream: string, wake: () => void): Disposable {
    let next = this.next(stream);
    const moved = (): void => {
      next = this.next(stream);
      next.signal.addEventListener("abort", moved);
      wake();
    };
    next.signal.addEventListener("abort", moved);
    return {
      [Symbol.dispose]: () => {
        next.signal.removeEventListener("abort", moved);
        next[Symbol.dispose]();
      },
    };
  }

  notify(events: readonly StoredEvent[]): void {
    for (const stream of new Set(events.map((event) => event.stream))) {
      const waiting = this.#waiting.get(stream);
      // Removed first: a waiter that is woken may begin to wait again.
      this.#waiting.delete(stream);
      waiting?.moved.abort();
    }
  }

  /** The number of streams that somebody waits for. */
  get streams(): number {
    return this.#waiting.size;
  }
}
