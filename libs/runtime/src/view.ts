/**
 * A read model's loop: folds the log into tables, moving its cursor in the transaction that changes the rows. The cursor
 * stores position and commit id, so that a restored log that is behind, or another's, is seen as a rewind.
 */
import type { StoredEvent } from "@trainyard/event-log";
import { Fault, limits } from "@trainyard/kernel";
import type { Clock } from "@trainyard/kernel";
import type { Pool, PoolClient } from "pg";
import { pause } from "./clock.ts";
import type { EventFeed } from "./event-feed.ts";
import { runtimeLimits } from "./limits.ts";
import type { Logger } from "./logging.ts";

export type ViewSpec = {
  readonly schema: string;
  readonly view: string;
  /** Changes the rows for events in order, within the given transaction. */
  readonly apply: (client: PoolClient, events: readonly StoredEvent[]) => Promise<void>;
  /** After the commit. */
  readonly after?: (events: readonly StoredEvent[]) => void;
};

export class View {
  readonly #spec: ViewSpec;
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #waiting = new Set<{ readonly position: number; readonly resolve: () => void }>();
  #position = 0;
  #feed: EventFeed | null = null;

  constructor(spec: ViewSpec, pool: Pool, clock: Clock, logger: Logger) {
    this.#spec = spec;
    this.#pool = pool;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The log position that the rows reflect. */
  get position(): number {
    return this.#position;
  }

  /** Follows the log until the signal aborts. */
  async run(feed: EventFeed, signal: AbortSignal): Promise<void> {
    this.#feed = feed;
    await this.#persist(async () => {
      this.#position = await this.#readCursor();
    }, signal);
    while (!signal.aborted) {
      await this.#persist(async () => {
        const events = await feed.next(this.#position, signal);
        if (events.length > 0) await this.#applyPage(events);
      }, signal);
    }
  }

  /** Tries until it worked: rows are only ever behind, never wrong. */
  async #persist(step: () => Promise<void>, signal: AbortSignal): Promise<void> {
    let waitMs: number = runtimeLimits.retryFirstMs;
    while (!signal.aborted) {
      try {
        await step();
        return;
      } catch (error) {
        this.#logger.warn({ err: error, view: this.#spec.view, waitMs }, "view_retried");
        await pause(this.#clock, waitMs, signal);
        waitMs = Math.min(waitMs * 2, runtimeLimits.retryLastMs);
      }
    }
  }

  async #readCursor(): Promise<number> {
    const { schema, view } = this.#spec;
    const { rows } = await this.#pool.query<{ position: string }>(
      `select position from ${schema}.view_cursor where view = $1`,
      [view],
    );
    return Number(rows[0]?.position ?? 0);
  }

  async #applyPage(events: readonly StoredEvent[]): Promise<void> {
    const { schema, view } = this.#spec;
    const last = events[events.length - 1];
    if (last === undefined) return;
    const client = await this.#pool.connect();
    try {
      await client.query("begin");
      await this.#spec.apply(client, events);
      await client.query(
        `insert into ${schema}.view_cursor (view, position, commit_id) values ($1, $2, $3)
         on conflict (view) do update set position = excluded.position, commit_id = excluded.commit_id`,
        [view, last.position, last.commitId],
      );
      await client.query("commit");
    } catch (error) {
      await client.query("rollback").catch(() => {}); // The connection may be what failed.
      throw error;
    } finally {
      client.release();
    }
    this.#position = last.position;
    this.#wake();
    this.#spec.after?.(events);
  }

  #wake(): void {
    for (const waiter of this.#waiting) {
      if (waiter.position > this.#position) continue;
      this.#waiting.delete(waiter);
      waiter.resolve();
    }
  }

  /** Resolves when the rows reflect the position; a Fault `view_behind` after the limit. */
  async reach(position: number, withinMs: number = limits.readYourWritesMs): Promise<void> {
    if (position <= this.#position) return;
    await new Promise<void>((resolve, reject) => {
      const waiter = {
        position,
        resolve: () => {
          timer[Symbol.dispose]();
          resolve();
        },
      };
      const timer = this.#clock.timer(withinMs, () => {
        this.#waiting.delete(waiter);
        reject(
          new Fault("view_behind", `this answer would be older than position ${position}`, {
            retry: "later",
          }),
        );
      });
      this.#waiting.add(waiter);
      this.#feed?.nudge();
    });
  }
}
