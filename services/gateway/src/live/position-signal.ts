import type { StoredEvent } from "@trainyard/event-log";

/** Wakes those who wait for the next event of a stream, or of the log. */
export class PositionSignal {
  readonly #waiting = new Map<string, AbortController>();

  /**
   * Returns a signal that aborts at the next event of the stream, or of any for "*". Call it before reading the state.
   */
  next(stream: string): AbortSignal {
    const known = this.#waiting.get(stream);
    if (known !== undefined) return known.signal;
    const controller = new AbortController();
    this.#waiting.set(stream, controller);
    return controller.signal;
  }

  notify(events: readonly StoredEvent[]): void {
    if (events.length === 0) return;
    for (const stream of new Set(["*", ...events.map((event) => event.stream)])) {
      this.#waiting.get(stream)?.abort();
      this.#waiting.delete(stream);
    }
  }
}
