/**
 * A read model's loop: folds the log into tables, moving its cursor in the transaction that changes the rows. Several
 * replicas may fold into the same tables: each page starts from the cursor's row, which it locks, so that an event is
 * applied once.
 *
 * The cursor stores position and commit id. Where the log has another commit at that position, or none, the tables and
 * the log are not of one history (one of them was restored from a backup): a rewind. It is reported as an error, the
 * tables are emptied and folded again from 0. It is looked for at start, and whenever the cursor's row is not where this
 * process left it. No epoch is kept beside the position: nobody outside goes on from a view's position, but from the log's.
 */
import type { StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { Fault, limits } from "@trainyard/kernel";
import type { Pool, PoolClient } from "pg";
import { pause } from "../clock.ts";
import type { EventFeed } from "../reactions/event-feed.ts";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../service/logging.ts";
import { inTransaction } from "./transaction.ts";

/** The name that a table of the view goes by in SQL: the live one's, or that of one that is folded beside it. */
export type TableNames = (table: string) => string;

export type ViewTable = {
  readonly name: string;
  /**
   * A condition on rows that may be missing in the live table although the log has them: work lists whose rows go when
   * the work is done.
   */
  readonly mayBeGone?: string;
};

export type ViewSpec = {
  readonly schema: string;
  readonly view: string;
  /** All that `apply` writes to, each with a primary key; nothing else writes to them. */
  readonly tables: readonly ViewTable[];
  /** Changes the rows for events in order, within the given transaction, in tables of the given names. */
  readonly apply: (
    client: PoolClient,
    events: readonly StoredEvent[],
    table: TableNames,
  ) => Promise<void>;
  /** After the commit. */
  readonly after?: (events: readonly StoredEvent[]) => void;
};

/** How far the rows have come, and the commit that was last there. */
export type ViewCursor = { readonly position: number; readonly commitId: string };

const beginning: ViewCursor = { position: 0, commitId: "00000000-0000-0000-0000-000000000000" };

export class View {
  readonly spec: ViewSpec;
  readonly pool: Pool;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #waiting = new Set<{ readonly position: number; readonly resolve: () => void }>();
  /** Where the rows are as far as this process knows; null when that must be looked up. */
  #cursor: ViewCursor | null = null;
  #position = 0;
  /** What the log held when the rows were begun with; null until that was asked. */
  #goal: number | null = null;
  #caughtUpOnce = false;
  #feed: EventFeed | null = null;

  constructor(spec: ViewSpec, pool: Pool, clock: Clock, logger: Logger) {
    this.spec = spec;
    this.pool = pool;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The log position that the rows reflect. */
  get position(): number {
    return this.#position;
  }

  /**
   * Whether the rows have had, since this process began with them, all that the log held then. False again while they are
   * folded again from 0.
   */
  get caughtUpOnce(): boolean {
    return this.#caughtUpOnce;
  }

  /** How many events of the log the rows do not have yet; null before the view runs. Throws a Fault where the log is away. */
  async lag(): Promise<number | null> {
    if (this.#feed === null) return null;
    return Math.max(0, (await this.#feed.head()) - this.#position);
  }

  /** Follows the log until the signal aborts. */
  async run(feed: EventFeed, signal: AbortSignal): Promise<void> {
    this.#feed = feed;
    this.#cursor = null;
    this.#goal = null;
    while (!signal.aborted) {
      await this.#persist(async () => {
        const cursor = this.#cursor ?? (await this.#resume(feed));
        if (this.#cursor === null) this.#reached(cursor);
        const events = await feed.next(cursor.position, signal);
        if (events.length > 0) await this.#applyPage(cursor, events);
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
        this.#logger.warn({ err: error, view: this.spec.view, waitMs }, "view_retried");
        await pause(this.#clock, waitMs, signal);
        waitMs = Math.min(waitMs * 2, runtimeLimits.retryLastMs);
        // A server that went away may come back as it was some time ago.
        this.#cursor = null;
      }
    }
  }

  /** Where to go on; from the beginning after a rewind. */
  async #resume(feed: EventFeed): Promise<ViewCursor> {
    const { schema, view } = this.spec;
    this.#goal ??= await feed.head();
    await this.pool.query(
      `insert into ${schema}.view_cursor (view, position, commit_id) values ($1, $2, $3)
       on conflict do nothing`,
      [view, beginning.position, beginning.commitId],
    );
    const cursor = await readCursor(this.pool, this.spec, "");
    if (cursor === null || cursor.position === 0) return beginning;
    const event = await feed.at(cursor.position);
    if (event?.commitId === cursor.commitId) return cursor;
    this.#logger.error(
      {
        view: `${schema}.${view}`,
        position: cursor.position,
        commitOfView: cursor.commitId,
        commitOfLog: event?.commitId ?? null,
      },
      "view_rewound",
    );
    await this.#empty(cursor);
    this.#goal = await feed.head();
    this.#caughtUpOnce = false;
    return beginning;
  }

  async #empty(expected: ViewCursor): Promise<void> {
    const { schema, view, tables } = this.spec;
    await inTransaction(this.pool, async (client) => {
      const found = await readCursor(client, this.spec, "for update");
      // A replica may have emptied them already, and come further.
      if (found?.position !== expected.position || found.commitId !== expected.commitId) {
        throw new Fault("view_moved", `the cursor of ${schema}.${view} moved`, { retry: "now" });
      }
      for (const { name } of tables) await client.query(`truncate ${schema}.${name}`);
      await this.#moveCursor(client, beginning);
    });
  }

  async #applyPage(from: ViewCursor, events: readonly StoredEvent[]): Promise<void> {
    const last = events[events.length - 1];
    if (last === undefined) return;
    const reached = await inTransaction(this.pool, async (client) => {
      const found = await readCursor(client, this.spec, "for update");
      const fresh = found === null ? null : freshFrom(from, found, events);
      if (fresh === null) return false;
      if (fresh.length === 0) return true;
      await this.spec.apply(client, fresh, (table) => `${this.spec.schema}.${table}`);
      await this.#moveCursor(client, last);
      return true;
    });
    this.#cursor = null;
    if (!reached) return;
    this.#reached(last);
    this.spec.after?.(events);
  }

  async #moveCursor(client: PoolClient, { position, commitId }: ViewCursor): Promise<void> {
    const { schema, view } = this.spec;
    await client.query(
      `update ${schema}.view_cursor set position = $2, commit_id = $3 where view = $1`,
      [view, position, commitId],
    );
  }

  #reached({ position, commitId }: ViewCursor): void {
    this.#cursor = { position, commitId };
    this.#position = position;
    if (this.#goal !== null && position >= this.#goal) this.#caughtUpOnce = true;
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

/** The events that the rows do not have yet; null when the rows are of another history than these events. */
function freshFrom(
  from: ViewCursor,
  found: ViewCursor,
  events: readonly StoredEvent[],
): readonly StoredEvent[] | null {
  if (found.position < from.position) return null;
  if (found.position === from.position) return found.commitId === from.commitId ? events : null;
  // Another replica came further: within these events, or beyond them.
  const index = events.findIndex(({ position }) => position === found.position);
  if (index < 0) return [];
  return events[index]?.commitId === found.commitId ? events.slice(index + 1) : null;
}

/** The cursor's row; null when there is none. */
export async function readCursor(
  client: Pick<Pool | PoolClient, "query">,
  { schema, view }: ViewSpec,
  lock: "" | "for update",
): Promise<ViewCursor | null> {
  const { rows } = await client.query<{ position: string; commit_id: string }>(
    `select position, commit_id from ${schema}.view_cursor where view = $1 ${lock}`,
    [view],
  );
  const row = rows[0];
  return row === undefined ? null : { position: Number(row.position), commitId: row.commit_id };
}
