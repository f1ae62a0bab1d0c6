/** One page of events, in a transaction with the cursor's move. */
import type { StoredEvent } from "@trainyard/event-log";
import type { Pool, PoolClient } from "pg";
import { applyCarefully, applyEvents, isOfTheWorld } from "./apply-events.ts";
import { inTransaction } from "./transaction.ts";
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
  /** moved: the cursor is not where the page begins, nor further within this history. */
  readonly outcome: "applied" | "moved";
  readonly setAside: readonly StoredEvent[];
};

/** Where a page begins. */
export type PageStart = {
  /** The cursor's row as this process knows it. */
  readonly row: ViewCursor;
  /** The events behind the row's position up to here do not concern the view. */
  readonly passed: number;
};

/**
 * Applies what the rows do not have of a page that begins behind `from.passed`. A page that fails for one of its events
 * is halved.
 */
export async function applyPage(
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
      if (found === null) return { outcome: "moved", setAside: [] };
      const fresh = freshFrom(from, found, events);
      if (fresh === null) return { outcome: "moved", setAside: [] };
      const last = fresh.at(-1);
      if (last === undefined) return { outcome: "applied", setAside: [] };
      const concerned = fresh.filter((event) => concerns(spec, event));
      const setAside = await apply(client, concerned, found);
      await writeCursor(client, spec, slot, cursorAt(last, spec.version));
      return { outcome: "applied", setAside };
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

/** An event that cannot be looked at concerns the view, which then sets it aside. */
export function concerns(spec: ViewSpec, event: StoredEvent): boolean {
  try {
    return spec.concerns(event);
  } catch {
    return true;
  }
}

/**
 * The events that the rows do not have yet; null when the rows are of another history, or version, than these events.
 */
function freshFrom(
  { row, passed }: PageStart,
  found: ViewCursor,
  events: readonly StoredEvent[],
): readonly StoredEvent[] | null {
  if (found.version !== row.version || found.position < row.position) return null;
  if (found.position === row.position) return isSame(found, row) ? events : null;
  // Another replica came further: among the events that were passed, within these, or beyond them.
  if (found.position <= passed) return null;
  const index = events.findIndex(({ position }) => position === found.position);
  const there = events[index];
  if (there === undefined) return [];
  return isSame(found, cursorAt(there, found.version)) ? events.slice(index + 1) : null;
}
