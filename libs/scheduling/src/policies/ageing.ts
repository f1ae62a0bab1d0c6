import type { Demand } from "../demand.ts";
import { schedulingLimits } from "../limits.ts";

/**
 * Ageing improves the priority of a waiting run by one after each period. Periods begin with those of the clock, so
 * that runs that were queued in the same period age together: the order among them never changes. Ageing never
 * preempts.
 */
export function agedPriority(demand: Demand, ageingMs: number, nowMs: number): number {
  return aged(demand, periodsOf(demand, ageingMs, nowMs));
}

/** The next time at which the run's priority improves; null for never. */
export function nextAgeingMs(demand: Demand, ageingMs: number, nowMs: number): number | null {
  if (ageingMs <= 0 || demand.queuedAtMs === undefined) return null;
  const periods = periodsOf(demand, ageingMs, nowMs);
  if (aged(demand, periods) <= schedulingLimits.bestPriority) return null;
  return (agesFrom(demand.queuedAtMs, ageingMs) + periods + 1) * ageingMs;
}

/** The first full period of a run that was queued at this time. */
export function agesFrom(queuedAtMs: number, ageingMs: number): number {
  return Math.ceil(queuedAtMs / ageingMs);
}

function aged({ priority }: Demand, periods: number): number {
  if (periods === 0) return priority;
  return Math.max(Math.min(priority, schedulingLimits.bestPriority), priority - periods);
}

function periodsOf({ queuedAtMs }: Demand, ageingMs: number, nowMs: number): number {
  if (ageingMs <= 0 || queuedAtMs === undefined) return 0;
  return Math.max(0, Math.floor(nowMs / ageingMs) - agesFrom(queuedAtMs, ageingMs));
}
