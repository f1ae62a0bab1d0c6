import type { Demand } from "../demand.ts";

/** The demand of a preemptible run for one slot of any kind. */
export const exampleDemand: Demand = {
  id: "1.1#1",
  job: "1",
  workspace: "",
  preemptible: true,
  slots: 1,
  priority: 42,
  weight: 1,
  maxSlots: null,
  timeLimitMs: null,
  preemptionTimeoutMs: 60_000,
  singleAgent: false,
  arrival: 1,
};
