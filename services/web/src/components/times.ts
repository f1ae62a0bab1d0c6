/** The times of an experiment or a trial: elapsed, in training, and left. */
import { duration } from "./format.ts";

type Ran = { readonly ranMs: number; readonly runningSinceMs?: number | undefined };
type Times = Ran & { readonly createdAtMs: number; readonly endedAtMs?: number | undefined };

/** Formats the rest in its largest unit, as "4m"; empty without an estimate, or if it is over. */
export function leftOf(
  { estimatedEndAtMs }: { readonly estimatedEndAtMs?: number | undefined },
  nowMs: number,
): string {
  const left = (estimatedEndAtMs ?? 0) - nowMs;
  // The seconds of an hour are no information in an estimate.
  return left <= 0 ? "" : (duration(Math.max(1_000, left)).split(" ", 1)[0] ?? "");
}

export function elapsedOf({ createdAtMs, endedAtMs }: Times, nowMs: number): string {
  return duration((endedAtMs ?? nowMs) - createdAtMs);
}

/** Formats the time in which a run trained. */
export function ranOf(times: Times, nowMs: number): string {
  return duration(ranMsOf(times, nowMs));
}

export function ranMsOf({ ranMs, runningSinceMs }: Ran, nowMs: number): number {
  return ranMs + (runningSinceMs === undefined ? 0 : Math.max(0, nowMs - runningSinceMs));
}
