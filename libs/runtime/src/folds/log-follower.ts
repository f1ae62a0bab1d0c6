/**
 * Updates a replica's cached folds with the log's events, in order. A fold that is not cached is read from the log on
 * demand, so following begins at the log's end. After a rewind, all cached folds belong to another history: they are
 * dropped, and following begins at the end again.
 */
import type { Bus } from "@trainyard/bus";
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { type Clock, Fault, retrying } from "@trainyard/kernel";
import { LogRewound } from "../history/log-history.ts";
import { PositionWaiters } from "../history/position-waiters.ts";
import { RewindReports } from "../hold/rewind-reports.ts";
import { runtimeLimits } from "../limits.ts";
import { EventFeed } from "../history/event-feed.ts";
import type { Logger } from "../logging.ts";
import type { FoldCache } from "./fold-cache.ts";

type LogFollowerDeps = {
  /** The service that follows the log. */
  readonly name: string;
  readonly stack: AsyncDisposableStack;
  readonly log: EventLog;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with the position after which following begins, before it does; again after a rewind. */
  readonly begun?: (position: number) => Promise<void>;
  /** Called for each event, after the folds. */
  readonly observed?: (event: StoredEvent) => void;
};

export class LogFollower {
  readonly #cache: FoldCache;
  readonly #deps: LogFollowerDeps;
  readonly #feed: EventFeed;
  readonly #waiters: PositionWaiters;
  readonly #reports: RewindReports;
  #position = 0;

  private constructor(cache: FoldCache, deps: LogFollowerDeps, feed: EventFeed) {
    this.#cache = cache;
    this.#deps = deps;
    this.#feed = feed;
    this.#waiters = new PositionWaiters(deps.clock);
    this.#reports = new RewindReports(deps);
  }

  /** Opens a follower, whose feed closes with the stack. */
  static async open(cache: FoldCache, deps: LogFollowerDeps): Promise<LogFollower> {
    const { stack, log, bus, clock, logger } = deps;
    const feed = stack.use(await EventFeed.open(log, bus, clock, logger));
    return new LogFollower(cache, deps, feed);
  }

  /** The position up to which cached folds are current. */
  get position(): number {
    return this.#position;
  }

  /** Follows the log until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    let begun = false;
    const failed = (error: unknown, waitMs: number): void => {
      logger.warn({ err: error, waitMs }, "following_retried");
      if (!(error instanceof LogRewound)) return;
      this.#reports.noticed(error, signal);
      begun = false;
      this.#position = 0;
      this.#cache.clear();
    };
    const retry = { policy: runtimeLimits.retry, clock, signal, failed };
    while (!signal.aborted) {
      await retrying(retry, async () => {
        if (!begun) this.#position = await this.#begin();
        begun = true;
        await this.#step(signal);
      });
    }
    await this.#reports.over();
  }

  async #begin(): Promise<number> {
    const position = await this.#deps.log.head();
    await this.#deps.begun?.(position);
    return position;
  }

  async #step(signal: AbortSignal): Promise<void> {
    this.#waiters.reached(this.#position);
    for (const event of await this.#feed.next(this.#position, signal)) {
      this.#observe(event);
      this.#position = event.position;
    }
    this.#waiters.reached(this.#position);
  }

  #observe(event: StoredEvent): void {
    try {
      this.#cache.observe(event);
    } catch (error) {
      // The event cannot be decoded here; a reader of its stream reads it again and gets the reason.
      this.#deps.logger.warn({ err: error, position: event.position }, "event_not_followed");
      this.#cache.forget(event.stream);
    }
    this.#deps.observed?.(event);
  }

  /**
   * Resolves when this replica has applied all events up to the position; throws a Fault `behind` after the given time.
   */
  async reach(position: number, withinMs: number): Promise<void> {
    if (position <= this.#position) return;
    const reached = this.#waiters.until(position, withinMs, () => {
      const detail = `this replica has read the log up to position ${this.#position}, not yet up to ${position}`;
      return new Fault("behind", detail, { retry: "later" });
    });
    this.#feed.nudge();
    await reached;
  }
}
