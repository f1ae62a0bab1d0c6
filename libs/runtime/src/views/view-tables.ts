/**
 * The stored state of a view besides its rows: the cursor, and the streams that are set aside, in two tables that the
 * migrations of the service create. It exists for the live tables, and during a rebuild also for the new ones.
 */
import type { StoredEvent } from "@trainyard/event-log";
import type { Pool, PoolClient } from "pg";
import type { TableNames, ViewSpec } from "./view-spec.ts";

export type Queryable = Pick<Pool | PoolClient, "query">;

/** The position of the rows, the last applied event, and the version of the code that folds them. */
export type ViewCursor = {
  readonly position: number;
  readonly commitId: string;
  /** Empty at the position 0. */
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
  return {
    position: Number(row.position),
    commitId: row.commit_id,
    eventId: row.event,
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
    [key, position, commitId, eventId, version],
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
  return one.eventId === other.eventId && one.commitId === other.commitId;
}
