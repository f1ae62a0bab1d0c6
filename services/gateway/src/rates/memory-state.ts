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

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async take(key: string, rate: Rate): Promise<Taken> {
    const now = Math.floor(this.#clock.monotonicMs() * 1_000);
    const taken = takeToken(rate, this.#fullAt.get(key) ?? 0, now);
    this.#fullAt.set(key, now + taken.fullInMicros);
    return taken;
  }
}
