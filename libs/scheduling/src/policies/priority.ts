/**
 * Lower priority numbers go first, within one the earlier place. With preemption a run may stop runs of worse priority,
 * the worst and newest first; never of its own. Ageing moves a run forward in the queue only: it gives no right to stop
 * another run, so with preemption it counts within a priority only: a run that went before a better one because of its
 * age would be stopped for that one in the next pass, and so on.
 */
import { placeOf } from "../queue.ts";
import { agedPriority } from "./ageing.ts";
import type { Policy } from "./policy.ts";

export const priority: Policy = {
  byJob: false,
  open: ({ settings, placed, standing, nowMs, agents }) => ({
    rankOf: (demand) => [
      settings.preemption ? demand.priority : 0,
      agedPriority(demand, settings.ageingMs, nowMs),
      placeOf(demand),
      demand.arrival,
    ],
    *victimsFor(demand) {
      if (!settings.preemption) return;
      // Most pools have nothing worse: then no run is looked at.
      if (agents.freeSlots + placed.evictableSlots(demand.priority) < demand.slots) return;
      for (const run of placed.evictable(demand.priority)) {
        if (run.demand.slots > 0 && !standing.isStopping(run)) yield run;
      }
    },
    rightOf: (demand) => String(demand.priority),
    shareOf: () => null,
  }),
};
