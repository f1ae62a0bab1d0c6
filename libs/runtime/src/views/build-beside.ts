/**
 * Rebuilds a view beside its live tables, and then swaps them. Readers do not wait: the live tables are updated and
 * read as before until one transaction replaces them by the new ones, at the same or a later position.
 *
 *   preparing ──empty tables beside, a cursor of their own──► folding ──as far as the live ones──► exchanged
 *
 * The new tables' cursor is stored, so a rebuild continues after a restart; replicas fold into the same tables, each
 * page once. A rebuild of another version, or of a log that has lost events since, starts over. It stops if a newer
 * version has swapped the tables meanwhile.
 */
import { isFullPage, type StoredEvent } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";
import type { Pool, PoolClient } from "pg";
import type { LogHistory } from "../history/log-history.ts";
import { runtimeLimits } from "../limits.ts";
import type { EventFeed } from "../history/event-feed.ts";
import { applyEvents } from "./apply-events.ts";
import { applyPage } from "./apply-page.ts";
import { inTransaction } from "./transaction.ts";
import type { ViewSpec } from "./view-spec.ts";
import {
  beginningOf,
  besideName,
  besideSlot,
  cursorAt,
  isOfTheLog,
  liveSlot,
  readCursor,
  type ViewCursor,
  writeCursor,
} from "./view-tables.ts";

/** A newer version of the view has replaced the tables. */
export class Superseded extends Fault {
  constructor({ schema, view, version }: ViewSpec, by: number) {
    super(
      "view_superseded",
      `the tables of ${schema}.${view} are of version ${by}, and this process builds version ${version}: it no longer updates or reads them. Stop it, or start the newer program`,
      { retry: "later" },
    );
  }
}

export class BesideBuild {
  readonly #spec: ViewSpec;
  readonly #pool: Pool;
  readonly #feed: EventFeed;
  #position = 0;

  constructor(spec: ViewSpec, pool: Pool, feed: EventFeed) {
    this.#spec = spec;
    this.#pool = pool;
    this.#feed = feed;
  }

  /** The position of the new tables. */
  get position(): number {
    return this.#position;
  }

  /** Returns whether a rebuild of this version has begun and not ended. */
  static async isUnderWay(pool: Pool, spec: ViewSpec): Promise<boolean> {
    const cursor = await readCursor(pool, spec, besideSlot(spec), "");
    return cursor?.version === spec.version;
  }

  /** Rebuilds and swaps the tables; returns false when the signal aborts before the swap. */
  async run(signal: AbortSignal): Promise<boolean> {
    let cursor = await this.#prepare();
    const history = this.#feed.history();
    while (!signal.aborted) {
      this.#position = cursor.position;
      const events = await history.after(cursor.position, runtimeLimits.pageEvents);
      if (events.length > 0) {
        const applied = await applyPage(
          this.#pool,
          this.#spec,
          besideSlot(this.#spec),
          { row: cursor, passed: cursor.position },
          events,
        );
        // A replica may have swapped the tables, or started over.
        const last = applied.events.at(-1);
        if (applied.outcome === "moved" || last === undefined) return this.#moved();
        cursor = cursorAt(last, this.#spec.version);
        if (applied.events.length < events.length) continue;
      }
      if (history.isAtEnd && (await this.#exchange(history))) return true;
    }
    return false;
  }

  /**
   * Returns where to continue: from the beginning with empty tables, unless a rebuild of this version and log exists.
   */
  async #prepare(): Promise<ViewCursor> {
    const [spec, slot] = [this.#spec, besideSlot(this.#spec)];
    const known = await readCursor(this.#pool, spec, slot, "");
    const event = known === null ? null : await this.#feed.at(known.position);
    return inTransaction(this.#pool, async (client) => {
      await client.query("select pg_advisory_xact_lock(hashtext($1))", [`view ${slot.key}`]);
      const found = await readCursor(client, spec, slot, "for update");
      const sameAsKnown = found?.position === known?.position && found?.eventId === known?.eventId;
      if (found?.version === spec.version && sameAsKnown && isOfTheLog(found, event)) return found;
      for (const { name } of spec.tables) {
        await client.query(`drop table if exists ${slot.table(name)}`);
        await client.query(
          `create table ${slot.table(name)} (like ${spec.schema}.${name} including all)`,
        );
      }
      await client.query(`delete from ${slot.setAside} where view = $1`, [slot.key]);
      const beginning = beginningOf(spec.version);
      await writeCursor(client, spec, slot, beginning);
      return beginning;
    });
  }

  /** Returns true if another replica has swapped the tables; false if the rebuild must start over. */
  async #moved(): Promise<boolean> {
    const live = await readCursor(this.#pool, this.#spec, liveSlot(this.#spec), "");
    if (live !== null && live.version > this.#spec.version) {
      throw new Superseded(this.#spec, live.version);
    }
    if (!(await BesideBuild.isUnderWay(this.#pool, this.#spec))) return true;
    throw new Fault("view_moved", `another process builds ${this.#spec.view} too`, {
      retry: "now",
    });
  }

  /** Replaces the live tables by the new ones when at most a page is missing; returns false if more is. */
  async #exchange(history: LogHistory): Promise<boolean> {
    const spec = this.#spec;
    const [live, beside] = [liveSlot(spec), besideSlot(spec)];
    // The new tables must be from the log's current history: the last event that was read is checked once more.
    await history.confirm();
    return inTransaction(this.#pool, async (client) => {
      // The lock on this row makes the live view's next page wait.
      const old = await readCursor(client, spec, live, "for update");
      const built = await readCursor(client, spec, beside, "for update");
      if (built === null || built.version !== spec.version) return this.#moved();
      if (old !== null && old.version > spec.version) throw new Superseded(spec, old.version);
      const missing = await this.#missing(built, old);
      if (missing === null) return false;
      await applyEvents(client, spec, beside, missing);
      const last = missing.at(-1);
      await this.#rename(client, last === undefined ? built : cursorAt(last, spec.version));
      return true;
    });
  }

  /** Returns the events that the live tables have and the new ones lack; null if they are more than a page. */
  async #missing(
    built: ViewCursor,
    old: ViewCursor | null,
  ): Promise<readonly StoredEvent[] | null> {
    const count = (old?.position ?? 0) - built.position;
    if (count <= 0) return [];
    if (count > runtimeLimits.verifyPageEvents) return null;
    const events = await this.#feed.page(built.position, count);
    if (events.length < count && isFullPage(events, count)) return null;
    // Live tables beyond the log's end belong to a lost history, so the new tables need not reach them.
    return events;
  }

  async #rename(client: PoolClient, reached: ViewCursor): Promise<void> {
    const spec = this.#spec;
    const [live, beside] = [liveSlot(spec), besideSlot(spec)];
    for (const { name } of spec.tables) {
      await client.query(`drop table ${live.table(name)}`);
      await client.query(`alter table ${beside.table(name)} rename to ${name}`);
    }
    await client.query(`delete from ${live.setAside} where view = $1`, [live.key]);
    await client.query(`update ${live.setAside} set view = $1 where view = $2`, [
      live.key,
      beside.key,
    ]);
    await client.query(`delete from ${spec.schema}.view_cursor where view = $1`, [beside.key]);
    await writeCursor(client, spec, live, reached);
  }
}

/** Drops an unfinished rebuild, because its tables belong to a history that the log has lost. */
export async function dropBeside(client: PoolClient, spec: ViewSpec): Promise<void> {
  const slot = besideSlot(spec);
  await client.query(`delete from ${spec.schema}.view_cursor where view = $1`, [slot.key]);
  await client.query(`delete from ${slot.setAside} where view = $1`, [slot.key]);
  for (const { name } of spec.tables) {
    await client.query(`drop table if exists ${spec.schema}.${besideName(name)}`);
  }
}
