/** Cursors of loops that read the log without reactions. Like the cursors of views they name the last event. */
import type { EventLog, SomeStreams, StoredEvent } from "@trainyard/event-log";
import type { KnownEvent } from "./log-history.ts";

/** Returns the log's event at a position; null at 0 and beyond the log's end. */
export async function eventAt(
  log: Pick<EventLog, "readAll">,
  position: number,
): Promise<KnownEvent | null> {
  if (position === 0) return null;
  const [event] = await log.readAll(position - 1, 1);
  return event?.position === position ? { position, id: event.id } : null;
}

/** Returns where a loop continues: 0 without a cursor, and if the cursor belongs to another history than the log's. */
export async function positionInLog(
  log: Pick<EventLog, "readAll">,
  cursor: KnownEvent | undefined,
): Promise<number> {
  if (cursor === undefined || cursor.position === 0) return 0;
  const there = await eventAt(log, cursor.position);
  return there?.id === cursor.id ? cursor.position : 0;
}

/**
 * Reads the events of some streams up to a position, or to an earlier one if the log's page ends there. Returns null if
 * the log does not reach it.
 */
export async function readSomeTo(
  log: Pick<EventLog, "readAll" | "readSome">,
  streams: SomeStreams,
  from: number,
  to: number,
): Promise<{ readonly events: readonly StoredEvent[]; readonly last: KnownEvent } | null> {
  // The id is read before the events: a log that goes back meanwhile then lacks the cursor's event.
  const last = to > from ? await eventAt(log, to) : null;
  if (last === null) return null;
  const { events, scannedTo } = await log.readSome(streams, from, to - from);
  return scannedTo < to ? readSomeTo(log, streams, from, scannedTo) : { events, last };
}
