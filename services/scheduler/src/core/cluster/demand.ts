import type { Demand } from "@trainyard/scheduling";
import { limits } from "../../limits.ts";
import type { Allocation } from "./state.ts";

/** What an allocation asks of its pool. */
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
    preemptionTimeoutMs: resources.preemptionTimeoutMs ?? limits.preemptionTimeoutMs,
    singleAgent,
    arrival,
    queuedAtMs,
    avoid,
    ...(constraints === undefined ? {} : { constraints }),
  };
}
