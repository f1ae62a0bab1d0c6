/** The results of attempts to deliver events to a webhook, and what follows from them. */
import { feedsLimits } from "../../limits.ts";

export type AttemptResult = {
  /** The status of the answer; absent if there was none. */
  readonly status?: number;
  /** The wait that the receiver asked for. */
  readonly retryAfterMs?: number;
};

export type Outcome =
  | { readonly state: "DELIVERED" | "FAILED" }
  | { readonly state: "WAITING"; readonly waitMs: number };

/** A redirect is a failure: a receiver could lead the request into a private network. */
export function isDelivered({ status }: AttemptResult): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/**
 * Decides about the next attempt. `failures` counts the failed attempts before this one, and `draw` is from 0 to 1. The
 * receiver may ask for a longer wait, but not for one that is longer than the longest of the schedule.
 */
export function outcomeOf(result: AttemptResult, failures: number, draw: number): Outcome {
  if (isDelivered(result)) return { state: "DELIVERED" };
  const { webhookWaitsMs, webhookWaitSpread: spread } = feedsLimits;
  const plannedMs = webhookWaitsMs[failures];
  if (plannedMs === undefined) return { state: "FAILED" };
  const askedMs = Math.min(result.retryAfterMs ?? 0, Math.max(...webhookWaitsMs));
  return { state: "WAITING", waitMs: Math.max(askedMs, plannedMs * (1 + spread * (2 * draw - 1))) };
}

/** A series of failures: the times of the first one and of the last one. */
export type Failing = { readonly sinceMs: number; readonly lastMs: number };

/**
 * Adds a failure to the series of failures since the last success. The failures of two times that are further apart
 * than any retry are two series, since nothing was tried between them.
 */
export function failingWith(failing: Failing | null, nowMs: number): Failing {
  const { webhookSeriesGapMs } = feedsLimits;
  const continues = failing !== null && nowMs - failing.lastMs <= webhookSeriesGapMs;
  return { sinceMs: continues ? failing.sinceMs : nowMs, lastMs: nowMs };
}

/** Returns why a webhook is disabled after a failure, in one sentence; null if it is not. */
export function disablingReason(result: AttemptResult, failing: Failing): string | null {
  const { webhookDisabledAfterMs } = feedsLimits;
  if (result.status === 410) return "the receiver answered 410: it wants no more events";
  if (failing.lastMs - failing.sinceMs < webhookDisabledAfterMs) return null;
  return "every delivery has failed for five days: see its list of deliveries";
}
