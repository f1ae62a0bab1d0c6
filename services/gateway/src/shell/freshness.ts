/**
 * How far the read model is behind the log, as time. Until it has caught up once, after a start or while it is folded
 * again from the beginning, nothing is answered from it and the gateway is not ready: lists would be empty, and every
 * token unknown. Later it may fall behind: then reads are refused beyond a limit, and everything else continues.
 */
import { type Clock, pause } from "@trainyard/kernel";
import { type Logger, type View } from "@trainyard/runtime";
import { gatewayLimits } from "../limits.ts";

export class Freshness {
  readonly #view: Pick<View, "position" | "caughtUpOnce" | "lag">;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Where the log ended at some time; the next end is looked at when the read model has reached this one. */
  #goal = { position: 0, atMs: 0 };
  #head = 0;
  #told = false;

  constructor(view: Pick<View, "position" | "caughtUpOnce" | "lag">, clock: Clock, logger: Logger) {
    this.#view = view;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Age of the log position that the read model has not reached yet; 0 when it keeps up. */
  get behindMs(): number {
    const { position, atMs } = this.#goal;
    return this.#view.position >= position ? 0 : this.#clock.monotonicMs() - atMs;
  }

  /** Null once the read model has caught up, else why the gateway is not ready. */
  unready(): string | null {
    if (this.#view.caughtUpOnce) return null;
    return `the read model is being built from the log (${this.#progress()}); runs continue in the meantime: try again later`;
  }

  /** Null where the read model may be read, else why not. */
  unreadable(): string | null {
    const unready = this.unready();
    if (unready !== null) return unready;
    if (this.behindMs <= gatewayLimits.readLagMsMax) return null;
    const seconds = Math.round(this.behindMs / 1000);
    return `the read model is ${seconds} s behind the log (${this.#progress()}); runs continue in the meantime: try again later`;
  }

  #progress(): string {
    const { position } = this.#view;
    const head = Math.max(this.#head, position);
    const percent = head === 0 ? 0 : Math.floor((100 * position) / head);
    return `${position} of ${head} events, ${percent} %`;
  }

  /** Looks at the log's end now and then, until the signal aborts; says so when reads begin and end to be refused. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look().catch((error: unknown) => {
        // The read itself fails when the database is away.
        this.#logger.debug({ err: error }, "lag_unknown");
      });
      await pause(this.#clock, gatewayLimits.lagCheckMs, signal);
    }
  }

  async #look(): Promise<void> {
    const atMs = this.#clock.monotonicMs();
    const lag = await this.#view.lag();
    if (lag === null) return;
    this.#head = this.#view.position + lag;
    const goal = this.#goal.position;
    // After a rewind of the log its earlier end is no goal any more.
    const isGone = this.#head < goal;
    if (this.#view.position >= goal || isGone) this.#goal = { position: this.#head, atMs };
    const lags = this.behindMs > gatewayLimits.readLagMsMax;
    if (lags === this.#told) return;
    this.#told = lags;
    const state = { position: this.#view.position, head: this.#head, behindMs: this.behindMs };
    if (lags) this.#logger.error(state, "read_model_lags");
    else this.#logger.info(state, "read_model_caught_up");
  }
}
