import type { Rate, Taken } from "./token-bucket.ts";

/**
 * The port of short-lived state that the replicas of the gateway may share. Losing all of it costs only accuracy, and
 * its keys are digests.
 */
export interface SharedState {
  /** Takes a token from the bucket of a key, in one step for all who share it. A bucket without calls is full. */
  take(key: string, rate: Rate): Promise<Taken>;
}
