/**
 * A place in the log for programs outside: a position and the id of the event there, as one text. An id of another
 * history, or ahead of the log, is recognised by its event.
 */
import type { EventLog } from "@trainyard/event-log";
import { type Rejection, reject } from "@trainyard/kernel";

export type EventPlace = {
  readonly position: number;
  /** The id of the event at the position; empty if unknown, and at position 0. */
  readonly event: string;
};

export const logBeginning: EventPlace = { position: 0, event: "" };

export function placeText({ position, event }: EventPlace): string {
  return event === "" ? String(position) : `${position}:${event}`;
}

/** Returns the place of an id or of a bare position; the empty text is the beginning of the log. */
export function readPlace(text: string): EventPlace | Rejection {
  if (text === "") return logBeginning;
  const [, position, event = ""] = /^(\d{1,15})(?::([0-9a-f-]{36}))?$/.exec(text) ?? [];
  if (position === undefined) {
    return reject(
      "invalid_request",
      `${JSON.stringify(text)} is not an id of an event stream or a log position`,
    );
  }
  return { position: Number(position), event };
}

/** Returns the whole place, or `position_unknown` if the log does not have it. */
export async function checkedPlace(
  log: Pick<EventLog, "readAll">,
  place: EventPlace,
): Promise<EventPlace | Rejection> {
  if (place.position === 0) return logBeginning;
  const [event] = await log.readAll(place.position - 1, 1);
  const isThere = event?.position === place.position;
  if (!isThere) {
    const detail = `the log ends before position ${place.position}: it was restored from a backup, or the position is of another cluster`;
    return reject("position_unknown", detail);
  }
  if (place.event !== "" && place.event !== event.id) {
    const detail = `the log has another event at position ${place.position} than ${place.event}: it was restored from a backup, or the position is of another cluster`;
    return reject("position_unknown", detail);
  }
  return { position: place.position, event: event.id };
}
