import type { Demand } from "../demand.ts";
import { schedulingLimits } from "../limits.ts";

/** The priority with which it waits: better by one after each period. Ageing never preempts. */
export function agedPriority(demand: Demand, ageingMs: number, nowMs: number): number {
  const periods = periodsOf(demand, ageingMs, nowMs);
  return periods === 0
    ? demand.priority
    : Math.max(Math.min(demand.priority, schedulingLimits.bestPriority), demand.priority - periods);
}

/** The time at which its priority becomes better; null for never. */
export function nextAgeingMs(demand: Demand, ageingMs: number, nowMs: number): number | null {
  if (ageingMs <= 0 || demand.queuedAtMs === undefined) return null;
  if (agedPriority(demand, ageingMs, nowMs) <= schedulingLimits.bestPriority) return null;
  return demand.queuedAtMs + (periodsOf(demand, ageingMs, nowMs) + 1) * ageingMs;
}

function periodsOf({ queuedAtMs }: Demand, ageingMs: number, nowMs: number): number {
  if (ageingMs <= 0 || queuedAtMs === undefined) return 0;
  return Math.max(0, Math.floor((nowMs - queuedAtMs) / ageingMs));
}
