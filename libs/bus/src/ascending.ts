import type { StoredEvent } from "@trainyard/event-log";
import { assert } from "@trainyard/kernel";

export function assertAscending(events: readonly StoredEvent[]): void {
  let previous = 0;
  for (const event of events) {
    assert(event.position > previous, "events are published in position order");
    previous = event.position;
  }
}
