import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf, idOf } from "@trainyard/kernel";
import type { FoldCache, Logger } from "@trainyard/runtime";
import { limits } from "../limits.ts";
import { searches } from "../streams.ts";

/**
 * Returns a function that saves a search whenever its stream has grown enough. After a failed save, the next one makes
 * up for it.
 */
export function saveSnapshots(cache: FoldCache, logger: Logger): (event: StoredEvent) => void {
  return (event) => {
    if (categoryOf(event.stream) !== "search") return;
    if (event.version % everyEvents(event.version) !== 0) return;
    cache.saveSnapshot(searches, idOf(event.stream)).catch((error: unknown) => {
      logger.warn({ err: error, stream: event.stream }, "snapshot_not_saved");
    });
  };
}

/**
 * Returns the growth between two snapshots of a search. Encoding a large state blocks decisions, so the growth is at
 * least 25 %; a takeover replays at most half of the stream.
 */
function everyEvents(version: number): number {
  let every: number = limits.snapshotEveryEvents;
  while (every * 4 <= version) every *= 2;
  return every;
}
