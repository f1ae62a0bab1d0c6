/** The right to read an event. */
import type { ExperimentFacts } from "./filter.ts";
import type { LeavingEvent } from "./leaving-event.ts";

/** The token by which a program reads. */
export type EventReader = { readonly owner: string; readonly tokenId: string };

/** Whether the reader may see the event. Until there are teams, every token of a user may read everything. */
export function mayRead(
  _reader: EventReader,
  _event: LeavingEvent,
  _facts: ExperimentFacts | undefined,
): boolean {
  return true;
}
