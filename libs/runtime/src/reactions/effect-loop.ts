/**
 * A level-triggered effect: looks at what the state asks for, does it, and looks again when it is woken, when something
 * falls due, or after a fault. It remembers nothing itself, so a crash at any point is a repeat.
 */
import { type Clock, isFault, pause, retrying } from "@trainyard/kernel";
import { endsTerm } from "../work/ends-term.ts";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";

export class EffectLoop {
  readonly #name: string;
  /** Does what is to be done, and gives the milliseconds until something else falls due; null when nothing will. */
  readonly #step: (signal: AbortSignal) => Promise<number | null>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #woken = false;
  #stopWaiting: () => void = () => {};

  constructor(
    name: string,
    deps: { readonly clock: Clock; readonly logger: Logger },
    step: (signal: AbortSignal) => Promise<number | null>,
  ) {
    this.#name = name;
    this.#step = step;
    this.#clock = deps.clock;
    this.#logger = deps.logger;
  }

  /** There may be something to do. */
  wake(): void {
    this.#woken = true;
    this.#stopWaiting();
  }

  /** Runs until the signal aborts. Throws errors that end the term. */
  async run(signal: AbortSignal): Promise<void> {
    const failed = (error: unknown, waitMs: number): void => {
      if (endsTerm(error)) throw error;
      this.#tell(error, waitMs);
    };
    const retry = { policy: runtimeLimits.effectRetry, clock: this.#clock, signal, failed };
    while (!signal.aborted) {
      // Being woken does not shorten the wait after a failure: a fault of the world is not hammered at.
      const waitMs = await retrying(retry, () => {
        this.#woken = false;
        return this.#step(signal);
      });
      if (waitMs !== undefined) await this.#rest(waitMs, signal);
    }
  }

  #tell(error: unknown, waitMs: number): void {
    const fields = { err: error, effect: this.#name, waitMs };
    if (isFault(error)) this.#logger.warn(fields, "effect_retried");
    else this.#logger.error(fields, "effect_failed");
  }

  async #rest(waitMs: number | null, signal: AbortSignal): Promise<void> {
    if (this.#woken || signal.aborted) return;
    const waiting = new AbortController();
    const stop = (): void => waiting.abort();
    this.#stopWaiting = stop;
    signal.addEventListener("abort", stop, { once: true });
    // A timer's delay is 32 bits wide; a longer wait looks once in between.
    await pause(this.#clock, Math.min(waitMs ?? 0x7fffffff, 0x7fffffff), waiting.signal);
    signal.removeEventListener("abort", stop);
    this.#stopWaiting = () => {};
  }
}
