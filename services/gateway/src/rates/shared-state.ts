import type { Rate, Taken } from "./token-bucket.ts";

/**
 * The port of short-lived state that the replicas of the gateway may share. Losing all of it costs only accuracy and
 * time, and its keys are digests.
 */
export interface SharedState {
  /** Takes a token from the bucket of a key, in one step for all who share it. A bucket without calls is full. */
  take(key: string, rate: Rate): Promise<Taken>;
  /** Returns the bytes that were put under a key; null if there are none any more. */
  get(key: string): Promise<Uint8Array | null>;
  /** Keeps bytes under a key for a time, or shorter if room is short. */
  put(key: string, bytes: Uint8Array, keptMs: number): Promise<void>;
}
