import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf, idOf } from "@trainyard/kernel";
import { type FoldCache, foldOf, type Logger } from "@trainyard/runtime";
import { limits } from "../limits.ts";
import { searches } from "./searches.ts";

/** Saves a search each time its stream has grown by so much. A snapshot that fails is one that the next makes up for. */
export function saveSnapshots(cache: FoldCache, logger: Logger): (event: StoredEvent) => void {
  return (event) => {
    if (categoryOf(event.stream) !== "search") return;
    if (event.version % everyEvents(event.version) !== 0) return;
    cache.saveSnapshot(foldOf(searches), idOf(event.stream)).catch((error: unknown) => {
      logger.warn({ err: error, stream: event.stream }, "snapshot_not_saved");
    });
  };
}

/** The state of a large search takes its time to be written: it is saved when it has grown by an eighth at least. */
function everyEvents(version: number): number {
  let every: number = limits.snapshotEveryEvents;
  while (every * 16 <= version) every *= 2;
  return every;
}
