import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf, idOf } from "@trainyard/kernel";
import { type FoldCache, foldOf, type Logger } from "@trainyard/runtime";
import { limits } from "../limits.ts";
import { searches } from "./searches.ts";

/** Saves a search each time its stream has grown by so much. A snapshot that fails is one that the next makes up for. */
export function saveSnapshots(cache: FoldCache, logger: Logger): (event: StoredEvent) => void {
  return (event) => {
    if (categoryOf(event.stream) !== "search") return;
    if (event.version % limits.snapshotEveryEvents !== 0) return;
    cache.saveSnapshot(foldOf(searches), idOf(event.stream)).catch((error: unknown) => {
      logger.warn({ err: error, stream: event.stream }, "snapshot_not_saved");
    });
  };
}
