/**
 * A read model's loop: it folds the log into tables and moves its cursor in the transaction that changes the rows.
 * Several replicas may fold into the same tables: each page locks the cursor's row and starts from it, so that an event
 * is applied once. Pages without relevant events do not move the row, up to a maximum number of events.
 *
 * The cursor stores position, commit and event. If the log has another event at that position, or none, the tables and
 * the log have different histories, because one of them was restored from a backup: a rewind. The view reports an
 * error, empties the tables and folds again from 0. It checks for a rewind at the start, when another process has moved
 * the cursor's row, and when the feed reports a rewind. The cursor needs no epoch, because clients continue from the
 * log's positions, never from a view's.
 *
 * The cursor's row also has the version of the view that made the tables. Older tables are rebuilt, and a process that
 * is older than the tables stops. An event that cannot be applied is set aside, and the view continues.
 */
import { isFullPage, type StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { Fault, limits, pause, retrying } from "@trainyard/kernel";
import type { Pool } from "pg";
import { LogRewound } from "../history/log-history.ts";
import { PositionWaiters } from "../history/position-waiters.ts";
import type { EventFeed } from "../history/event-feed.ts";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";
import { readSetAside, type SetAside } from "./apply-events.ts";
import { applyPage, concerns } from "./apply-page.ts";
import { BesideBuild, dropBeside, Superseded } from "./build-beside.ts";
import { inTransaction } from "./transaction.ts";
import type { ViewSpec } from "./view-spec.ts";
import {
  beginningOf,
  cursorAt,
  isOfTheLog,
  isSame,
  liveSlot,
  readCursor,
  type ViewCursor,
  writeCursor,
} from "./view-tables.ts";

/** The state of a view for an operator. */
export type ViewState = {
  readonly version: number;
  readonly position: number;
  /** The number of the log's events that the rows lack. */
  readonly lag: number;
  readonly caughtUpOnce: boolean;
  /** The position of the rebuild; null without one. */
  readonly buildingAt: number | null;
  readonly setAside: readonly SetAside[];
};

export class View {
  readonly spec: ViewSpec;
  readonly pool: Pool;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #waiters: PositionWaiters;
  /** The position of the rows as this process knows it; null if it must be read. */
  #cursor: ViewCursor | null = null;
  /** The cursor's row, which is behind `#cursor` by irrelevant events only. */
  #row: ViewCursor | null = null;
  #rowSeenMs = Number.NEGATIVE_INFINITY;
  #appliedMs = Number.NEGATIVE_INFINITY;
  #endRest: () => void = () => {};
  #position = 0;
  /** The end of the log when this process began to fold; null until it is known. */
  #goal: number | null = null;
  #caughtUpOnce = false;
  #feed: EventFeed | null = null;
  #superseded: Superseded | null = null;
  #building: { readonly build: BesideBuild; readonly done: Promise<boolean> } | null = null;
  #buildAsked = false;
  #wakeBuilder: () => void = () => {};

  constructor(spec: ViewSpec, pool: Pool, clock: Clock, logger: Logger) {
    this.spec = spec;
    this.pool = pool;
    this.#clock = clock;
    this.#logger = logger;
    this.#waiters = new PositionWaiters(clock);
  }

  /** The log position that the rows reflect. */
  get position(): number {
    return this.#position;
  }

  /**
   * Whether the rows have reached the log's end as of this process's start. False again during a fold from 0, and when
   * the tables belong to a newer version.
   */
  get caughtUpOnce(): boolean {
    return this.#caughtUpOnce && this.#superseded === null;
  }

  /**
   * Returns how many events of the log the rows lack; null before the view runs. Throws a Fault if the log is
   * unavailable.
   */
  async lag(): Promise<number | null> {
    if (this.#feed === null) return null;
    return Math.max(0, (await this.#feed.head()) - this.#position);
  }

  async state(): Promise<ViewState> {
    return {
      version: this.spec.version,
      position: this.#position,
      lag: (await this.lag()) ?? 0,
      caughtUpOnce: this.caughtUpOnce,
      buildingAt: this.#building?.build.position ?? null,
      setAside: await this.setAside(),
    };
  }

  /** Returns the streams that are set aside, the earliest first. */
  setAside(): Promise<readonly SetAside[]> {
    return readSetAside(this.pool, liveSlot(this.spec));
  }

  /** Rebuilds the view beside the live tables, or continues a rebuild, and then swaps them. */
  rebuild(): void {
    this.#buildAsked = true;
    this.#wakeBuilder();
  }

  /** Follows the log until the signal aborts. */
  async run(feed: EventFeed, signal: AbortSignal): Promise<void> {
    this.#feed = feed;
    this.#cursor = null;
    this.#goal = null;
    await Promise.all([this.#follow(feed, signal), this.#buildWhenAsked(feed, signal)]);
  }

  async #follow(feed: EventFeed, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#persist(async () => {
        const cursor = this.#cursor ?? (await this.#resume(feed, signal));
        if (cursor === null) return;
        if (this.#cursor === null) this.#written(cursor);
        if (!this.#caughtUpOnce) await this.#lookForGoal(feed, cursor);
        await this.#rest(signal);
        const events = await feed.next(cursor.position, signal);
        if (events.length > 0) await this.#applyPage(cursor, events);
      }, signal);
    }
  }

  /** Collects single events and applies them together: a transaction costs more than an event's rows. */
  async #rest(signal: AbortSignal): Promise<void> {
    const restMs = this.#appliedMs + runtimeLimits.viewRestMs - this.#clock.monotonicMs();
    if (restMs <= 0 || !this.#caughtUpOnce || this.#waiters.someWait) return;
    const ended = new AbortController();
    this.#endRest = () => ended.abort();
    await pause(this.#clock, restMs, AbortSignal.any([signal, ended.signal]));
    this.#endRest = () => {};
  }

  /** Retries until it succeeds: rows may be late, but are never wrong. */
  async #persist(step: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const failed = (error: unknown, waitMs: number): void => {
      this.#failed(error, waitMs);
      // A server that was unavailable may come back from a backup.
      this.#cursor = null;
    };
    await retrying({ policy: runtimeLimits.retry, clock: this.#clock, signal, failed }, step);
  }

  #failed(error: unknown, waitMs: number): void {
    const fields = { err: error, view: `${this.spec.schema}.${this.spec.view}`, waitMs };
    if (error instanceof LogRewound) {
      // Tables in the log's database may have been restored with it, which the next read of the cursor's row detects.
      this.#logger.error(fields, "log_rewound");
      this.#beginAgain();
    } else if (error instanceof Superseded) {
      if (this.#superseded === null) this.#logger.error(fields, "view_superseded");
      this.#superseded = error;
    } else this.#logger.warn(fields, "view_retried");
  }

  /** The log may end before the goal after a rewind, which nothing else detects if the rows have not reached it. */
  async #lookForGoal(feed: EventFeed, cursor: ViewCursor): Promise<void> {
    this.#goal = Math.min(this.#goal ?? Number.POSITIVE_INFINITY, await feed.head());
    this.#reached(cursor);
  }

  /** The tables of a rebuild belong to another history. */
  #beginAgain(): void {
    this.#goal = null;
    this.#caughtUpOnce = false;
    this.spec.rewound?.();
  }

  /**
   * Returns where to continue: the beginning after a rewind. Null when the signal aborts before the tables have this
   * version.
   */
  async #resume(feed: EventFeed, signal: AbortSignal): Promise<ViewCursor | null> {
    const { spec, pool } = this;
    this.#goal ??= await feed.head();
    let cursor: ViewCursor | null = await readCursor(pool, spec, liveSlot(spec), "");
    if (cursor !== null && cursor.version < spec.version) {
      const view = `${spec.schema}.${spec.view}`;
      this.#logger.info({ view, from: cursor.version, to: spec.version }, "view_version_changed");
      if (!(await this.#build(feed, signal))) return null;
      cursor = await readCursor(pool, spec, liveSlot(spec), "");
    }
    if (cursor === null) {
      await pool.query(
        `insert into ${spec.schema}.view_cursor (view, position, commit_id, event, version)
         values ($1, 0, $2, '', $3) on conflict do nothing`,
        [spec.view, beginningOf(0).commitId, spec.version],
      );
      cursor = beginningOf(spec.version);
    }
    if (cursor.version > spec.version) throw new Superseded(spec, cursor.version);
    this.#superseded = null;
    const event = cursor.position === 0 ? null : await feed.at(cursor.position);
    if (isOfTheLog(cursor, event)) return cursor;
    this.#logger.error(
      {
        view: `${spec.schema}.${spec.view}`,
        position: cursor.position,
        commitOfView: cursor.commitId,
        commitOfLog: event?.commitId ?? null,
      },
      "view_rewound",
    );
    await this.#empty(cursor);
    this.#beginAgain();
    this.#goal = await feed.head();
    return beginningOf(spec.version);
  }

  async #empty(expected: ViewCursor): Promise<void> {
    const { spec } = this;
    const slot = liveSlot(spec);
    await inTransaction(this.pool, async (client) => {
      const found = await readCursor(client, spec, slot, "for update");
      // A replica may have emptied the tables already and be further.
      if (
        found?.position !== expected.position ||
        found.commitId !== expected.commitId ||
        found.eventId !== expected.eventId
      ) {
        throw new Fault("view_moved", `the cursor of ${spec.schema}.${spec.view} moved`, {
          retry: "now",
        });
      }
      for (const { name } of spec.tables) await client.query(`truncate ${slot.table(name)}`);
      await client.query(`delete from ${slot.setAside} where view = $1`, [slot.key]);
      await writeCursor(client, spec, slot, beginningOf(spec.version));
      await dropBeside(client, spec);
    });
  }

  async #applyPage(from: ViewCursor, events: readonly StoredEvent[]): Promise<void> {
    const last = events[events.length - 1];
    if (last === undefined) return;
    const { spec } = this;
    const row = this.#row ?? from;
    const concerned = events.filter((event) => concerns(spec, event));
    const behind = last.position - row.position;
    if (concerned.length === 0 && behind < runtimeLimits.lazyCursorEvents) {
      const isThere = await this.#isRowThere(row);
      this.#cursor = null;
      if (isThere) this.#reached(cursorAt(last, spec.version));
      return;
    }
    const start = { row, passed: from.position };
    const applied = await applyPage(this.pool, spec, liveSlot(spec), start, events);
    this.#cursor = null;
    const reached = applied.events.at(-1);
    if (applied.outcome === "moved" || reached === undefined) return;
    for (const { stream, position, type } of applied.setAside) {
      this.#tell({ stream, position, type }, "event_set_aside");
    }
    this.#written(cursorAt(reached, spec.version));
    const told = concerned.filter(({ position }) => position <= reached.position);
    if (told.length > 0) spec.after?.(told);
    if (!isFullPage(events, runtimeLimits.pageEvents)) this.#appliedMs = this.#clock.monotonicMs();
  }

  /** Checks from time to time that no other replica has emptied or rebuilt the tables. */
  async #isRowThere(row: ViewCursor): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#rowSeenMs < runtimeLimits.rowSeenMs) return true;
    const found = await readCursor(this.pool, this.spec, liveSlot(this.spec), "");
    const isThere =
      found !== null &&
      found.version === row.version &&
      (found.position > row.position || (found.position === row.position && isSame(found, row)));
    if (isThere) this.#rowSeenMs = nowMs;
    return isThere;
  }

  /** Logs one line per rare occurrence for an operator. */
  #tell(fields: Readonly<Record<string, unknown>>, what: string): void {
    this.#logger.error({ view: `${this.spec.schema}.${this.spec.view}`, ...fields }, what);
  }

  #build(feed: EventFeed, signal: AbortSignal): Promise<boolean> {
    if (this.#building !== null) return this.#building.done;
    const build = new BesideBuild(this.spec, this.pool, feed);
    const done = build.run(signal).finally(() => {
      this.#building = null;
    });
    this.#building = { build, done };
    return done;
  }

  /** Runs requested rebuilds, and one that an earlier process has begun. */
  async #buildWhenAsked(feed: EventFeed, signal: AbortSignal): Promise<void> {
    await this.#persist(async () => {
      if (await BesideBuild.isUnderWay(this.pool, this.spec)) this.#buildAsked = true;
    }, signal);
    signal.addEventListener("abort", () => this.#wakeBuilder(), { once: true });
    while (!signal.aborted) {
      if (this.#buildAsked) {
        await this.#persist(async () => {
          if (!(await this.#build(feed, signal))) return;
          this.#buildAsked = false;
          this.#logger.info({ view: `${this.spec.schema}.${this.spec.view}` }, "view_rebuilt");
          this.spec.after?.([]);
        }, signal);
      } else {
        await new Promise<void>((resolve) => {
          this.#wakeBuilder = resolve;
          if (signal.aborted || this.#buildAsked) resolve();
        });
      }
    }
  }

  #written(row: ViewCursor): void {
    this.#row = row;
    this.#rowSeenMs = this.#clock.monotonicMs();
    this.#reached(row);
  }

  #reached(cursor: ViewCursor): void {
    this.#cursor = cursor;
    this.#position = cursor.position;
    if (this.#goal !== null && cursor.position >= this.#goal) this.#caughtUpOnce = true;
    this.#waiters.reached(this.#position);
  }

  /** Resolves when the rows reflect the position; throws a Fault `view_behind` after the limit. */
  async reach(position: number, withinMs: number = limits.readYourWritesMs): Promise<void> {
    if (this.#superseded !== null) throw this.#superseded;
    if (position <= this.#position) return;
    const reached = this.#waiters.until(
      position,
      withinMs,
      () =>
        new Fault("view_behind", `this answer would be older than position ${position}`, {
          retry: "later",
        }),
    );
    this.#endRest();
    this.#feed?.nudge();
    await reached;
  }
}
