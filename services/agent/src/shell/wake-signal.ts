import { type Clock, pause } from "@trainyard/kernel";

/**
 * Lets loops sleep until a change is signalled, or a timeout. A signal without a sleeper is kept for the next sleep.
 */
export class WakeSignal {
  readonly #clock: Clock;
  #pending = false;
  #stopWaiting: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly wake = (): void => {
    this.#pending = true;
    this.#stopWaiting();
  };

  async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#pending && !signal.aborted) {
      const waiting = new AbortController();
      this.#stopWaiting = () => waiting.abort();
      signal.addEventListener("abort", this.wake, { once: true });
      await pause(this.#clock, timeoutMs, waiting.signal);
      signal.removeEventListener("abort", this.wake);
    }
    this.#stopWaiting = () => {};
    this.#pending = false;
  }
}
