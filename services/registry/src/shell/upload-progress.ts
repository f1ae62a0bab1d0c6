/**
 * Decides which uploads of ended runs move: an uploader asks for a plan every minute, and only what the store has
 * counts. An upload moves when the store has more of its checkpoint's objects, or more of the files that were asked for
 * than when the same ones were asked for before: to ask for others is no progress. What a restart forgets is seen again
 * with the next two plans.
 */
import { createHash } from "node:crypto";
import type { Clock } from "@trainyard/kernel";
import { registryLimits } from "../limits.ts";

/** The upload of one checkpoint. `missing`: bytes, by the files that were asked for. */
type Seen = {
  readonly listedBytes: number;
  readonly missing: Map<string, number>;
  readonly toldAtMs: number;
};

export type UploadSeen = {
  /** The bytes of all objects of the checkpoint. */
  readonly listedBytes: number;
  /** The files that were asked for. */
  readonly page: unknown;
  readonly missingBytes: number;
};

export class UploadProgress {
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether to record progress now. */
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

/** Keeps the newest. */
function remember<Value>(all: Map<string, Value>, most: number, name: string, value: Value): void {
  all.delete(name);
  all.set(name, value);
  const [oldest] = all.keys();
  if (all.size > most && oldest !== undefined) all.delete(oldest);
}
