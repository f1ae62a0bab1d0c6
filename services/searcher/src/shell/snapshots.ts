import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf, idOf } from "@trainyard/kernel";
import type { FoldCache, Logger } from "@trainyard/runtime";
import { limits } from "../limits.ts";
import { searches } from "../streams.ts";

/** Saves a search each time its stream has grown by so much. A snapshot that fails is one that the next makes up for. */
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
 * The state of a large search takes its time to be written, in which nothing is decided: as long as it takes to fold it. It
 * is saved when it has grown by a quarter at least, so that what is decided waits for that a few times less often, and
 * whoever takes over folds half of the search at most.
 */
function everyEvents(version: number): number {
  let every: number = limits.snapshotEveryEvents;
  while (every * 4 <= version) every *= 2;
  return every;
}
