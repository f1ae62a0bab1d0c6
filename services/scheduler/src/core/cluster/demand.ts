import type { Demand } from "@trainyard/scheduling";
import { limits } from "../../limits.ts";
import type { Allocation } from "./state.ts";

/** Returns at least a millisecond, because a stop with a grace of 0 never becomes a kill, and at most a day. */
export function preemptionTimeoutOf(resources: Allocation["resources"]): number {
  const { preemptionTimeoutMs = limits.preemptionTimeoutMs } = resources;
  return Math.min(Math.max(1, preemptionTimeoutMs), limits.preemptionTimeoutMaxMs);
}

/** The request of an allocation to its pool. */
export function demandOf(allocation: Allocation): Demand {
  const { id, job, workspace, preemptible, arrival, queuedAtMs, avoid, resources } = allocation;
  const { slots, priority, weight, singleAgent, constraints } = resources;
  return {
    id,
    job,
    workspace,
    preemptible,
    slots,
    priority,
    weight,
    maxSlots: resources.maxSlots ?? null,
    timeLimitMs: resources.timeLimitMs ?? null,
    preemptionTimeoutMs: preemptionTimeoutOf(resources),
    singleAgent,
    arrival,
    queuedAtMs,
    avoid,
    ...(constraints === undefined ? {} : { constraints }),
  };
}
