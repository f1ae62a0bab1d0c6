/**
 * Decides which uploads of ended runs make progress. An uploader asks for a plan every minute, and only data in the
 * store counts. An upload progresses when the store has more of the checkpoint's objects, or more of the requested
 * files than at the last request for the same files: requesting other files is not progress. After a restart the next
 * two plans restore the state.
 */
import { createHash } from "node:crypto";
import type { Clock } from "@trainyard/kernel";
import { registryLimits } from "../limits.ts";

/** The upload state of one checkpoint. `missing` has the missing bytes by requested files. */
type Seen = {
  readonly listedBytes: number;
  readonly missing: Map<string, number>;
  readonly toldAtMs: number;
};

export type UploadSeen = {
  /** The bytes of all objects of the checkpoint. */
  readonly listedBytes: number;
  /** The requested files. */
  readonly page: unknown;
  readonly missingBytes: number;
};

export class UploadProgress {
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Reports whether to record progress. */
  isNews(checkpoint: string, { listedBytes, page, missingBytes }: UploadSeen): boolean {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#seen.get(checkpoint);
    const name = createHash("sha256").update(JSON.stringify(page)).digest("base64");
    const missingBefore = before?.missing.get(name) ?? missingBytes;
    const hasMore =
      before !== undefined && (listedBytes > before.listedBytes || missingBytes < missingBefore);
    const isNews = hasMore && nowMs - before.toldAtMs >= registryLimits.uploadToldMs;
    const missing = before?.missing ?? new Map<string, number>();
    remember(
      missing,
      registryLimits.pagesRememberedMax,
      name,
      Math.min(missingBytes, missingBefore),
    );
    remember(this.#seen, registryLimits.verificationsRememberedMax, checkpoint, {
      listedBytes: Math.max(listedBytes, before?.listedBytes ?? 0),
      missing,
      toldAtMs: isNews ? nowMs : (before?.toldAtMs ?? Number.NEGATIVE_INFINITY),
    });
    return isNews;
  }
}

/** Stores a value and evicts the oldest beyond the maximum. */
function remember<Value>(all: Map<string, Value>, most: number, name: string, value: Value): void {
  all.delete(name);
  all.set(name, value);
  const [oldest] = all.keys();
  if (all.size > most && oldest !== undefined) all.delete(oldest);
}
