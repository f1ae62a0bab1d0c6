import { type Demand, schedulingLimits } from "@trainyard/scheduling";
import { limits } from "../../limits.ts";
import type { Allocation } from "./state.ts";

/** Returns at least a millisecond, because a stop with a grace of 0 never becomes a kill, and at most a day. */
export function preemptionTimeoutOf(resources: Allocation["resources"]): number {
  const { preemptionTimeoutMs = limits.preemptionTimeoutMs } = resources;
  return Math.min(Math.max(1, preemptionTimeoutMs), limits.preemptionTimeoutMaxMs);
}

/** The agents where its task failed, and the time from which the run may go there again. */
function avoidance({ avoid, notBeforeMs }: Allocation): Pick<Demand, "avoid" | "avoidUntilMs"> {
  if (avoid.length === 0) return {};
  return { avoid, avoidUntilMs: notBeforeMs + schedulingLimits.avoidMs };
}

/** The request of an allocation to its pool. */
export function demandOf(allocation: Allocation): Demand {
  const { id, job, workspace, preemptible, arrival, queuedAtMs, preemptions, resources } =
    allocation;
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
    preemptions,
    ...avoidance(allocation),
    ...(constraints === undefined ? {} : { constraints }),
  };
}
