import type { Clock } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";

/** The time between two lines that say the same. */
const repeatMs = 60_000;

/**
 * Logs that Redis went away and that it is back, each at most once a minute: one that is slower than calls wait comes
 * and goes all the time. What has changed meanwhile is logged at the end of the minute, if it is still so.
 */
export class RedisLines implements Disposable {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #isAway = false;
  #why: unknown;
  #isAwayToldMs = Number.NEGATIVE_INFINITY;
  #isBackToldMs = Number.NEGATIVE_INFINITY;
  #isAwayTold = false;
  #later: Disposable | null = null;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  away(error: unknown): void {
    this.#isAway = true;
    this.#why = error;
    this.#look();
  }

  back(): void {
    this.#isAway = false;
    this.#look();
  }

  [Symbol.dispose](): void {
    this.#later?.[Symbol.dispose]();
  }

  #look(): void {
    this.#later?.[Symbol.dispose]();
    if (this.#isAway === this.#isAwayTold) return;
    const nowMs = this.#clock.monotonicMs();
    const toldMs = this.#isAway ? this.#isAwayToldMs : this.#isBackToldMs;
    if (nowMs < toldMs + repeatMs) {
      this.#later = this.#clock.timer(toldMs + repeatMs - nowMs, () => this.#look());
      return;
    }
    this.#isAwayTold = this.#isAway;
    if (this.#isAway) {
      this.#isAwayToldMs = nowMs;
      const why = this.#why instanceof Error ? this.#why.message : String(this.#why);
      const meanwhile = "this gateway counts calls for itself until Redis answers";
      this.#logger.warn({ why: `${why}; ${meanwhile}` }, "redis_away");
    } else {
      this.#isBackToldMs = nowMs;
      this.#logger.info({}, "redis_is_back");
    }
  }
}
