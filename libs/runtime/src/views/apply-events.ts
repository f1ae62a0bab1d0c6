/**
 * Applies events to a view's tables within the caller's transaction.
 *
 * An event that can never be applied is set aside: the page is halved until the event is found, its stream is recorded
 * with the reason, and the view continues. Later events of that stream are skipped too: rows that end before the event
 * are from a real state, but rows that lack an event in the middle are not. Rebuilding the view applies all of them
 * again. A failure of the database or the network is not an event's fault: it is thrown, and the page is repeated.
 */
import type { StoredEvent } from "@trainyard/event-log";
import { isFault } from "@trainyard/kernel";
import pg, { type PoolClient } from "pg";
import { runtimeLimits } from "../limits.ts";
import { isDatabaseSlow } from "../table-fault.ts";
import type { ViewSpec } from "./view-spec.ts";
import type { Queryable, ViewSlot } from "./view-tables.ts";

/** A stream whose events a view has stopped applying. */
export type SetAside = {
  readonly stream: string;
  /** The position of the first event that could not be applied. */
  readonly position: number;
  readonly type: string;
  readonly reason: string;
  /** The number of later events of the stream. */
  readonly waiting: number;
  readonly atMs: number;
};

export async function readSetAside(
  client: Queryable,
  { key, setAside }: ViewSlot,
): Promise<readonly SetAside[]> {
  type Row = Omit<SetAside, "position" | "atMs"> & { position: string; at_ms: string };
  const { rows } = await client.query<Row>(
    `select stream, position, type, reason, waiting,
       floor(extract(epoch from set_aside_at) * 1000) as at_ms
     from ${setAside} where view = $1 order by position limit $2`,
    [key, runtimeLimits.setAsideShownMax],
  );
  return rows.map(({ at_ms, position, ...row }) => ({
    ...row,
    position: Number(position),
    atMs: Number(at_ms),
  }));
}

/**
 * The fast path applies all events at once. If it throws, the transaction is aborted. `someAreSetAside` is true if
 * unknown.
 */
export async function applyEvents(
  client: PoolClient,
  spec: ViewSpec,
  slot: ViewSlot,
  events: readonly StoredEvent[],
  someAreSetAside = true,
): Promise<void> {
  const applied = someAreSetAside ? await withoutSetAside(client, slot, events) : events;
  if (applied.length > 0) await spec.apply(client, applied, slot.table);
}

/** The slow path, for a page on which the fast path failed; returns the events that were set aside. */
export async function applyCarefully(
  client: PoolClient,
  spec: ViewSpec,
  slot: ViewSlot,
  events: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> {
  const found: StoredEvent[] = [];
  const halve = async (page: readonly StoredEvent[]): Promise<void> => {
    const rest = page.filter(({ stream }) => found.every((first) => first.stream !== stream));
    if (rest.length === 0) return;
    const error = await attempt(client, () => spec.apply(client, rest, slot.table));
    if (error === null) return;
    const [first] = rest;
    if (rest.length > 1 || first === undefined) {
      const half = Math.ceil(rest.length / 2);
      await halve(rest.slice(0, half));
      await halve(rest.slice(half));
      return;
    }
    found.push(first);
    if (found.length > runtimeLimits.setAsideAtOnceMax) throw error.cause;
    await client.query(
      `insert into ${slot.setAside} (view, stream, position, type, reason)
       values ($1, $2, $3, $4, $5)`,
      [slot.key, first.stream, first.position, first.type, reasonOf(error.cause)],
    );
  };
  await halve(await withoutSetAside(client, slot, events));
  if (found.length > 0) await countWaiting(client, slot, events, found);
  return found;
}

/** Returns the events of streams that are not set aside, and counts the other events. */
async function withoutSetAside(
  client: PoolClient,
  slot: ViewSlot,
  events: readonly StoredEvent[],
): Promise<readonly StoredEvent[]> {
  const { rows } = await client.query<{ stream: string }>(
    `select stream from ${slot.setAside} where view = $1`,
    [slot.key],
  );
  if (rows.length === 0) return events;
  const streams = new Set(rows.map(({ stream }) => stream));
  const waiting = events.filter(({ stream }) => streams.has(stream));
  if (waiting.length > 0) await addWaiting(client, slot, waiting);
  return events.filter(({ stream }) => !streams.has(stream));
}

/** Counts the later events of streams that this page has set aside. */
async function countWaiting(
  client: PoolClient,
  slot: ViewSlot,
  events: readonly StoredEvent[],
  found: readonly StoredEvent[],
): Promise<void> {
  const firstOf = new Map(found.map(({ stream, position }) => [stream, position]));
  await addWaiting(
    client,
    slot,
    events.filter(({ stream, position }) => position > (firstOf.get(stream) ?? position)),
  );
}

async function addWaiting(
  client: PoolClient,
  { key, setAside }: ViewSlot,
  events: readonly StoredEvent[],
): Promise<void> {
  await client.query(
    `update ${setAside} s set waiting = s.waiting + more.count
     from (select stream, count(*) from unnest($2::text[]) stream group by stream) more
     where s.view = $1 and s.stream = more.stream`,
    [key, events.map(({ stream }) => stream)],
  );
}

/** Returns null after success, otherwise the error, rolled back. Throws errors that are not an event's fault. */
async function attempt(
  client: PoolClient,
  act: () => Promise<void>,
): Promise<{ readonly cause: unknown } | null> {
  await client.query("savepoint attempt");
  try {
    await act();
    await client.query("release savepoint attempt");
    return null;
  } catch (cause) {
    // If even the rollback fails, the connection is broken.
    await client.query("rollback to savepoint attempt").catch(() => {
      throw cause;
    });
    if (isOfTheWorld(cause)) throw cause;
    return { cause };
  }
}

/**
 * The SQLSTATEs that are not an event's fault: connections (08), permissions and missing tables (42), transactions that
 * the server undid (40), its resources (53, 54), and a server that is stopping, read-only or slow (25, 55, 57, 58).
 */
const worldStates = /^(?:08|25|40|42|53|54|55|57|58)/;

export function isOfTheWorld(error: unknown): boolean {
  if (isFault(error)) return error.retry !== "never";
  if (error instanceof pg.DatabaseError) return worldStates.test(error.code ?? "");
  return isDatabaseSlow(error);
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // PostgreSQL's text type cannot contain NUL.
  return text.replaceAll("\0", "").slice(0, runtimeLimits.setAsideReasonCharacters) || "no reason";
}
