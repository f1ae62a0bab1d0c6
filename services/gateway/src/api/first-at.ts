/** Times never decrease along the log or a stream, so the first event of a time is found by binary search. */
import type { EventLog, StoredEvent } from "@trainyard/event-log";

/** A sequence of events, numbered from 1 to `last`. */
export type Numbered = {
  readonly last: number;
  readonly read: (after: number, limit: number) => Promise<readonly StoredEvent[]>;
};

/** Returns the number of the first event at `timeMs` or later; last + 1 if none is. */
export async function firstAt({ last, read }: Numbered, timeMs: number): Promise<number> {
  let [earlier, later] = [0, last + 1];
  while (later - earlier > 1) {
    const middle = Math.floor((earlier + later) / 2);
    const [event] = await read(middle - 1, 1);
    if (event !== undefined && event.timeMs < timeMs) earlier = middle;
    else later = middle;
  }
  return later;
}

/** Returns the position of the log's first event at `timeMs` or later; one beyond the log's end if none is. */
export async function firstAtOrAfter(
  log: Pick<EventLog, "head" | "readAll">,
  timeMs: number,
): Promise<number> {
  return firstAt(
    { last: await log.head(), read: (after, limit) => log.readAll(after, limit) },
    timeMs,
  );
}
