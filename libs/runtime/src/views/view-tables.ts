/**
 * The stored state of a view besides its rows: the cursor, and the streams that are set aside. A view has them for
 * its live tables, and while it is built anew a second time, for the tables beside them.
 */
import type { StoredEvent } from "@trainyard/event-log";
import type { Pool, PoolClient } from "pg";
import { within } from "./transaction.ts";
import type { TableNames, ViewSpec } from "./view-spec.ts";

export type Queryable = Pick<Pool | PoolClient, "query">;

/** How far the rows have come, the event that was last there, and the version of the code that folds them. */
export type ViewCursor = {
  readonly position: number;
  readonly commitId: string;
  /** Empty where an older version has moved the cursor, which knows the commit only. */
  readonly eventId: string;
  readonly version: number;
};

/** A cursor as its row has it. */
export type FoundCursor = ViewCursor & { readonly someAreSetAside: boolean };

/** The names of one set of a view's tables. */
export type ViewSlot = {
  /** The key of the rows of `view_cursor` and `view_set_aside`. */
  readonly key: string;
  readonly table: TableNames;
  readonly setAside: string;
};

export const noCommit = "00000000-0000-0000-0000-000000000000";

export function liveSlot({ schema, view }: ViewSpec): ViewSlot {
  return { key: view, table: (name) => `${schema}.${name}`, setAside: `${schema}.view_set_aside` };
}

/** Folded beside the live ones, to take their place. */
export function besideSlot({ schema, view }: ViewSpec): ViewSlot {
  return {
    key: `${view}/next`,
    table: (name) => `${schema}.${besideName(name)}`,
    setAside: `${schema}.view_set_aside`,
  };
}

export const besideName = (table: string): string => `${table}__next`;

/**
 * Makes what a view keeps besides its rows where it is not there yet: a service's own migrations made the cursor's
 * table.
 */
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

/** The cursor's row; null when there is none. */
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
  // An older version moves position and commit, and leaves the event where it was.
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

/** Whether the cursor names what the log has at its position. */
export function isOfTheLog(cursor: ViewCursor, event: StoredEvent | null): boolean {
  if (cursor.position === 0) return true;
  return event !== null && isSame(cursor, cursorAt(event, cursor.version));
}

/**
 * Whether two cursors at one position are of one history. A commit alone does not say so: a reaction that is repeated
 * in a log which lost it has the same commit id, and other events.
 */
export function isSame(one: ViewCursor, other: ViewCursor): boolean {
  const sameEvent = one.eventId === "" || other.eventId === "" || one.eventId === other.eventId;
  return sameEvent && one.commitId === other.commitId;
}
