/**
 * Saved folds name the last event that is in them, so that one of another history (the log was restored from a backup,
 * or failed over with loss) is not gone on from. The event's id is the first key of the text, which is a JSON object:
 * formats need not know of it, and a text without it is one of an older version, of which only the place is looked at.
 */
import type { StoredEvent } from "@trainyard/event-log";
import { assert } from "@trainyard/kernel";

const eventKey = /^\{"event":"([0-9a-f-]{36})",/;

export function withEvent(text: string, eventId: string): string {
  if (eventId === "") return text;
  assert(text.startsWith('{"'), "a saved fold is the text of a JSON object with a key");
  return `{"event":"${eventId}",${text.slice(1)}`;
}

/** The text as the fold's format wrote it. */
export function withoutEvent(body: string): string {
  return body.replace(eventKey, "{");
}

/** Whether a fold was saved from the log that has this event, or none, where its last one should be. */
export function isOfThisLog(body: string, event: StoredEvent | undefined): boolean {
  const saved = eventKey.exec(body)?.[1];
  return event !== undefined && (saved === undefined || saved === event.id);
}

/** The sentence about a saved fold of another history. */
export function ofAnotherHistory(what: string, at: number): string {
  return `the saved fold of ${what} ends with an event that the log does not have at ${at}: the log went back after it was saved, so it is rebuilt`;
}
