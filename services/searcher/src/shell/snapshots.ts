import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf, idOf } from "@trainyard/kernel";
import type { FoldCache, Logger } from "@trainyard/runtime";
import { limits } from "../limits.ts";
import { searches } from "../streams.ts";

/** Saves a search whenever its stream has grown enough. A failed save is made up for by the next. */
export function saveSnapshots(cache: FoldCache, logger: Logger): (event: StoredEvent) => void {
  return (event) => {
    if (categoryOf(event.stream) !== "search") return;
    if (event.version % everyEvents(event.version) !== 0) return;
    cache.saveSnapshot(searches, idOf(event.stream)).catch((error: unknown) => {
      logger.warn({ err: error, stream: event.stream }, "snapshot_not_saved");
    });
  };
}

/** Encoding a large state blocks deciding, so it is saved only after 25 % growth; a takeover replays at most half. */
function everyEvents(version: number): number {
  let every: number = limits.snapshotEveryEvents;
  while (every * 4 <= version) every *= 2;
  return every;
}
