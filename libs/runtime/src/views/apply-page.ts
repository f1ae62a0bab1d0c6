/** Applies one page of events, in one transaction with the cursor's move. */
import type { StoredEvent } from "@trainyard/event-log";
import type { Pool, PoolClient } from "pg";
import { isDatabaseSlow } from "../table-fault.ts";
import { applyCarefully, applyEvents, isOfTheWorld } from "./apply-events.ts";
import { inTransaction, withoutTimeLimits } from "./transaction.ts";
import type { ViewSpec } from "./view-spec.ts";
import {
  cursorAt,
  type FoundCursor,
  isSame,
  readCursor,
  type ViewCursor,
  type ViewSlot,
  writeCursor,
} from "./view-tables.ts";

export type Applied = {
  /** "moved": the cursor is neither at the page's beginning nor at a later position of the same history. */
  readonly outcome: "applied" | "moved";
  /** The events of the page up to the rows' new position. */
  readonly events: readonly StoredEvent[];
  readonly setAside: readonly StoredEvent[];
};

/** The beginning of a page. */
export type PageStart = {
  /** The cursor's row as this process knows it. */
  readonly row: ViewCursor;
  /** Events between the row's position and this one do not concern the view. */
  readonly passed: number;
};

/**
 * Applies the events of a page behind `from.passed` that the rows do not have. Of a page that takes longer than a
 * statement may, only the first half is applied: repeated as a whole, it would fail again, and the view would stand
 * still. A single event has all the time that it needs.
 */
export async function applyPage(
  pool: Pool,
  spec: ViewSpec,
  slot: ViewSlot,
  from: PageStart,
  events: readonly StoredEvent[],
): Promise<Applied> {
  try {
    return await applyWhole(pool, spec, slot, from, events);
  } catch (error) {
    if (!isDatabaseSlow(error)) throw error;
  }
  const first = events.slice(0, Math.ceil(events.length / 2));
  if (first.length < events.length) return applyPage(pool, spec, slot, from, first);
  return withoutTimeLimits(pool, (patient) => applyWhole(patient, spec, slot, from, events));
}

/** A page that fails because of an event is halved until the event is found. */
async function applyWhole(
  pool: Pool,
  spec: ViewSpec,
  slot: ViewSlot,
  from: PageStart,
  events: readonly StoredEvent[],
): Promise<Applied> {
  const attempt = (
    apply: (
      client: PoolClient,
      fresh: readonly StoredEvent[],
      found: FoundCursor,
    ) => Promise<readonly StoredEvent[]>,
  ): Promise<Applied> =>
    inTransaction(pool, async (client) => {
      const found = await readCursor(client, spec, slot, "for update");
      if (found === null) return { outcome: "moved", events: [], setAside: [] };
      const fresh = freshFrom(from, found, events);
      if (fresh === null) return { outcome: "moved", events: [], setAside: [] };
      const last = fresh.at(-1);
      if (last === undefined) return { outcome: "applied", events, setAside: [] };
      const concerned = fresh.filter((event) => concerns(spec, event));
      const setAside = await apply(client, concerned, found);
      await writeCursor(client, spec, slot, cursorAt(last, spec.version));
      return { outcome: "applied", events, setAside };
    });
  try {
    return await attempt(async (client, fresh, { someAreSetAside }) => {
      await applyEvents(client, spec, slot, fresh, someAreSetAside);
      return [];
    });
  } catch (error) {
    if (isOfTheWorld(error)) throw error;
    return attempt((client, fresh) => applyCarefully(client, spec, slot, fresh));
  }
}

/** An event on which `concerns` throws counts as relevant, and the view then sets it aside. */
export function concerns(spec: ViewSpec, event: StoredEvent): boolean {
  try {
    return spec.concerns(event);
  } catch {
    return true;
  }
}

/** Returns the events that the rows do not have yet; null if the rows belong to another history or version. */
function freshFrom(
  { row, passed }: PageStart,
  found: ViewCursor,
  events: readonly StoredEvent[],
): readonly StoredEvent[] | null {
  if (found.version !== row.version || found.position < row.position) return null;
  if (found.position === row.position) return isSame(found, row) ? events : null;
  // Another replica has moved the cursor: to a skipped event, an event of this page, or a later one.
  if (found.position <= passed) return null;
  const index = events.findIndex(({ position }) => position === found.position);
  const there = events[index];
  if (there === undefined) return [];
  return isSame(found, cursorAt(there, found.version)) ? events.slice(index + 1) : null;
}
