import type { Clock } from "@trainyard/kernel";
import { LRUCache } from "lru-cache";
import { rateLimits } from "./limits.ts";
import type { SharedState } from "./shared-state.ts";
import { type Rate, type Taken, takeToken } from "./token-bucket.ts";

/** The state of one replica. */
export class MemoryState implements SharedState {
  readonly #clock: Clock;
  /** The times at which buckets are full. */
  readonly #fullAt = new LRUCache<string, number>({ max: rateLimits.bucketsMax });
  readonly #kept: LRUCache<string, Uint8Array>;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#kept = new LRUCache({
      maxSize: rateLimits.keptBytesMax,
      maxEntrySize: rateLimits.keptOneBytesMax,
      sizeCalculation: (bytes) => Math.max(1, bytes.length),
      // The cache takes 0 for no time yet.
      perf: { now: () => clock.monotonicMs() + 1 },
      ttlResolution: 0,
    });
  }

  async take(key: string, rate: Rate): Promise<Taken> {
    const now = Math.floor(this.#clock.monotonicMs() * 1_000);
    const taken = takeToken(rate, this.#fullAt.get(key) ?? 0, now);
    this.#fullAt.set(key, now + taken.fullInMicros);
    return taken;
  }

  async get(key: string): Promise<Uint8Array | null> {
    return this.#kept.get(key) ?? null;
  }

  async put(key: string, bytes: Uint8Array, keptMs: number): Promise<void> {
    this.#kept.set(key, bytes, { ttl: keptMs });
  }
}
