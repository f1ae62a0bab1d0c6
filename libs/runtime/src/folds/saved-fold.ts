/**
 * Saved folds name their last event, so that a fold of another history (the log was restored from a backup, or failed
 * over with loss) is not continued. The event's id is the first key of the text, a JSON object, so formats need not
 * know it.
 */
import type { StoredEvent } from "@trainyard/event-log";
import { assert } from "@trainyard/kernel";

const eventKey = /^\{"event":"([0-9a-f-]{36})",/;

export function withEvent(text: string, eventId: string): string {
  assert(text.startsWith('{"'), "a saved fold is the text of a JSON object with a key");
  return `{"event":"${eventId}",${text.slice(1)}`;
}

/** Returns the text as the fold's format wrote it. */
export function withoutEvent(body: string): string {
  return body.replace(eventKey, "{");
}

/** Returns whether the fold's last event is the given event of the log. */
export function isOfThisLog(body: string, event: StoredEvent | undefined): boolean {
  return event !== undefined && eventKey.exec(body)?.[1] === event.id;
}

/** Returns the message about a saved fold of another history. */
export function ofAnotherHistory(what: string, at: number): string {
  return `the saved fold of ${what} ends with an event that the log does not have at ${at}: the log went back after it was saved, so it is rebuilt`;
}
