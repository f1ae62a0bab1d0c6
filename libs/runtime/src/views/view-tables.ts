/**
 * The stored state of a view besides its rows: the cursor, and the streams that are set aside. It exists for the live
 * tables, and during a rebuild also for the new ones.
 */
import type { StoredEvent } from "@trainyard/event-log";
import type { Pool, PoolClient } from "pg";
import { within } from "./transaction.ts";
import type { TableNames, ViewSpec } from "./view-spec.ts";

export type Queryable = Pick<Pool | PoolClient, "query">;

/** The position of the rows, the last applied event, and the version of the code that folds them. */
export type ViewCursor = {
  readonly position: number;
  readonly commitId: string;
  /** Empty if an older version, which records only the commit, has moved the cursor. */
  readonly eventId: string;
  readonly version: number;
};

/** A cursor as stored in its row. */
export type FoundCursor = ViewCursor & { readonly someAreSetAside: boolean };

/** The names of one set of a view's tables. */
export type ViewSlot = {
  /** The key of the rows in `view_cursor` and `view_set_aside`. */
  readonly key: string;
  readonly table: TableNames;
  readonly setAside: string;
};

export const noCommit = "00000000-0000-0000-0000-000000000000";

export function liveSlot({ schema, view }: ViewSpec): ViewSlot {
  return { key: view, table: (name) => `${schema}.${name}`, setAside: `${schema}.view_set_aside` };
}

/** The names of the tables of a rebuild, which will replace the live ones. */
export function besideSlot({ schema, view }: ViewSpec): ViewSlot {
  return {
    key: `${view}/next`,
    table: (name) => `${schema}.${besideName(name)}`,
    setAside: `${schema}.view_set_aside`,
  };
}

export const besideName = (table: string): string => `${table}__next`;

/** Creates missing tables and columns for a view's state; the service's migrations create the cursor's table. */
export async function prepareTables(pool: Pool, { schema }: ViewSpec): Promise<void> {
  const { rows } = await pool.query<{ ready: boolean }>(
    "select to_regclass($1) is not null as ready",
    [`${schema}.view_set_aside`],
  );
  if (rows[0]?.ready === true) return;
  const client = await pool.connect();
  try {
    await within(client, async () => {
      // Replicas that start together wait for each other.
      await client.query("select pg_advisory_xact_lock(hashtext($1))", [`views of ${schema}`]);
      await client.query(
        `alter table ${schema}.view_cursor add column if not exists version integer not null default 1,
           add column if not exists event text not null default ''`,
      );
      await client.query(
        `create table if not exists ${schema}.view_set_aside (
           view text not null,
           stream text collate "C" not null,
           -- The first event of the stream that could not be applied; the later ones wait behind it.
           position bigint not null,
           type text not null,
           reason text not null,
           waiting integer not null default 0,
           set_aside_at timestamptz not null default now(),
           primary key (view, stream))`,
      );
    });
  } finally {
    client.release();
  }
}

/** Returns the cursor's row; null if absent. */
export async function readCursor(
  client: Queryable,
  { schema }: ViewSpec,
  { key, setAside }: ViewSlot,
  lock: "" | "for update",
): Promise<FoundCursor | null> {
  type Row = {
    position: string;
    commit_id: string;
    event: string;
    version: number;
    some_are_set_aside: boolean;
  };
  const { rows } = await client.query<Row>(
    `select position, commit_id, event, version,
       exists (select from ${setAside} s where s.view = $1) as some_are_set_aside
     from ${schema}.view_cursor where view = $1 ${lock}`,
    [key],
  );
  const row = rows[0];
  if (row === undefined) return null;
  // An older version moves position and commit without changing the event.
  const [at, eventId = ""] = row.event.split(" ");
  return {
    position: Number(row.position),
    commitId: row.commit_id,
    eventId: at === row.position ? eventId : "",
    version: row.version,
    someAreSetAside: row.some_are_set_aside,
  };
}

export const cursorAt = ({ position, commitId, id }: StoredEvent, version: number): ViewCursor => ({
  position,
  commitId,
  eventId: id,
  version,
});

export const beginningOf = (version: number): ViewCursor => ({
  position: 0,
  commitId: noCommit,
  eventId: "",
  version,
});

export async function writeCursor(
  client: Queryable,
  { schema }: ViewSpec,
  { key }: ViewSlot,
  { position, commitId, eventId, version }: ViewCursor,
): Promise<void> {
  await client.query(
    `insert into ${schema}.view_cursor (view, position, commit_id, event, version)
     values ($1, $2, $3, $4, $5) on conflict (view) do update set position = excluded.position,
       commit_id = excluded.commit_id, event = excluded.event, version = excluded.version`,
    [key, position, commitId, `${position} ${eventId}`, version],
  );
}

/** Returns whether the cursor names the log's event at its position. */
export function isOfTheLog(cursor: ViewCursor, event: StoredEvent | null): boolean {
  if (cursor.position === 0) return true;
  return event !== null && isSame(cursor, cursorAt(event, cursor.version));
}

/**
 * Returns whether two cursors at one position belong to the same history. The commit id is not enough: a reaction that
 * is repeated in a log that lost it has the same commit id, but other events.
 */
export function isSame(one: ViewCursor, other: ViewCursor): boolean {
  const sameEvent = one.eventId === "" || other.eventId === "" || one.eventId === other.eventId;
  return sameEvent && one.commitId === other.commitId;
}
