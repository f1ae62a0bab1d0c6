/** One page of events, in a transaction with the cursor's move. */
import type { StoredEvent } from "@trainyard/event-log";
import type { Pool, PoolClient } from "pg";
import { applyCarefully, applyEvents, isOfTheWorld } from "./apply-events.ts";
import { inTransaction } from "./transaction.ts";
import type { ViewSpec } from "./view-spec.ts";
import {
  cursorAt,
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

/** Applies what the rows do not have of a page that begins behind `from`. A page that fails for one of its events is halved. */
export async function applyPage(
  pool: Pool,
  spec: ViewSpec,
  slot: ViewSlot,
  from: ViewCursor,
  events: readonly StoredEvent[],
): Promise<Applied> {
  const attempt = (
    apply: (client: PoolClient, fresh: readonly StoredEvent[]) => Promise<readonly StoredEvent[]>,
  ): Promise<Applied> =>
    inTransaction(pool, async (client) => {
      const found = await readCursor(client, spec, slot, "for update");
      const fresh = found === null ? null : freshFrom(from, found, events);
      if (fresh === null) return { outcome: "moved", setAside: [] };
      const last = fresh.at(-1);
      if (last === undefined) return { outcome: "applied", setAside: [] };
      const setAside = await apply(client, fresh);
      await writeCursor(client, spec, slot, cursorAt(last, spec.version));
      return { outcome: "applied", setAside };
    });
  try {
    return await attempt(async (client, fresh) => {
      await applyEvents(client, spec, slot, fresh);
      return [];
    });
  } catch (error) {
    if (isOfTheWorld(error)) throw error;
    return attempt((client, fresh) => applyCarefully(client, spec, slot, fresh));
  }
}

/** The events that the rows do not have yet; null when the rows are of another history, or version, than these events. */
function freshFrom(
  from: ViewCursor,
  found: ViewCursor,
  events: readonly StoredEvent[],
): readonly StoredEvent[] | null {
  if (found.version !== from.version || found.position < from.position) return null;
  if (found.position === from.position) return isSame(found, from) ? events : null;
  // Another replica came further: within these events, or beyond them.
  const index = events.findIndex(({ position }) => position === found.position);
  const there = events[index];
  if (there === undefined) return [];
  return isSame(found, cursorAt(there, found.version)) ? events.slice(index + 1) : null;
}
