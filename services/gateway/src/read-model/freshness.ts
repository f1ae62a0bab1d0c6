/**
 * The lag of the read model behind the log, as time. Until the read model has caught up once, after a start or during a
 * rebuild, it answers no reads and the gateway is not ready: lists would be empty, and every token unknown. Later,
 * reads are refused while the lag is above a limit, and all other calls continue.
 */
import { type Clock, pause } from "@trainyard/kernel";
import { type Logger, type View } from "@trainyard/runtime";
import { readModelLimits } from "./limits.ts";

export class Freshness {
  readonly #view: Pick<View, "position" | "caughtUpOnce" | "lag">;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** The end of the log at some time. The next end is read when the read model has reached this one. */
  #goal = { position: 0, atMs: 0 };
  #head = 0;
  #told = false;

  constructor(view: Pick<View, "position" | "caughtUpOnce" | "lag">, clock: Clock, logger: Logger) {
    this.#view = view;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The age of the log's end that the read model has not reached; 0 without a lag. */
  get behindMs(): number {
    const { position, atMs } = this.#goal;
    return this.#view.position >= position ? 0 : this.#clock.monotonicMs() - atMs;
  }

  /** Returns why the gateway is not ready; null once the read model has caught up. */
  unready(): string | null {
    if (this.#view.caughtUpOnce) return null;
    return `the read model is being built from the log (${this.#progress()}); runs continue in the meantime: try again later`;
  }

  /** Returns why the read model must not be read; null if it may be. */
  unreadable(): string | null {
    const unready = this.unready();
    if (unready !== null) return unready;
    if (this.behindMs <= readModelLimits.readLagMsMax) return null;
    const seconds = Math.round(this.behindMs / 1000);
    return `the read model is ${seconds} s behind the log (${this.#progress()}); runs continue in the meantime: try again later`;
  }

  #progress(): string {
    const { position } = this.#view;
    const head = Math.max(this.#head, position);
    const percent = head === 0 ? 0 : Math.floor((100 * position) / head);
    return `${position} of ${head} events, ${percent} %`;
  }

  /** Measures the lag at intervals until the signal aborts, and logs when reads start and stop to be refused. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look().catch((error: unknown) => {
        // While the database is unavailable, the reads themselves fail and report it.
        this.#logger.debug({ err: error }, "lag_unknown");
      });
      await pause(this.#clock, readModelLimits.lagCheckMs, signal);
    }
  }

  async #look(): Promise<void> {
    const atMs = this.#clock.monotonicMs();
    const lag = await this.#view.lag();
    if (lag === null) return;
    this.#head = this.#view.position + lag;
    const goal = this.#goal.position;
    // After a rewind the log's former end can never be reached.
    const isGone = this.#head < goal;
    if (this.#view.position >= goal || isGone) this.#goal = { position: this.#head, atMs };
    const lags = this.behindMs > readModelLimits.readLagMsMax;
    if (lags === this.#told) return;
    this.#told = lags;
    const state = { position: this.#view.position, head: this.#head, behindMs: this.behindMs };
    if (lags) this.#logger.error(state, "read_model_lags");
    else this.#logger.info(state, "read_model_caught_up");
  }
}
