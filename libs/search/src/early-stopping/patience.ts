/**
 * How long a trial has trained without an improvement. During the grace, values count but patience does not run out.
 */
import type { NoImprovementPolicy } from "@trainyard/experiment-config";
import { WORST } from "./ranked.ts";

export type Patience = {
  /** The ranked value of the last improvement, at first that of the first report, and the time of it. */
  readonly best: number;
  readonly at: number;
  /** The number of reports since the last improvement. */
  readonly reports: number;
};

export function waited(
  policy: NoImprovementPolicy,
  before: Patience | null,
  time: number,
  value: number,
): Patience {
  const best = before?.best ?? WORST;
  const delta =
    best >= WORST ? 0 : Math.max(policy.min_delta, policy.min_delta_relative * Math.abs(best));
  if (value < best - delta) return { best: value, at: time, reports: 0 };
  const reports = time < policy.grace ? 0 : (before?.reports ?? 0) + 1;
  return { best, at: before?.at ?? time, reports };
}

/** The time since the last improvement, or since the end of the grace if that is later. */
export function timeWaited(policy: NoImprovementPolicy, { at }: Patience, time: number): number {
  return time - Math.max(at, policy.grace);
}

export function isOver(policy: NoImprovementPolicy, patience: Patience, time: number): boolean {
  if (time < policy.grace) return false;
  if (policy.patience !== null) return patience.reports >= policy.patience;
  return (
    policy.patience_time !== null && timeWaited(policy, patience, time) >= policy.patience_time
  );
}
