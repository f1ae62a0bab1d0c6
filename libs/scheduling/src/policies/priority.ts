/**
 * Runs with a lower priority number go first, within a priority the run with the earlier place. With preemption a run
 * may stop runs of worse priority, the worst first and within a priority in turn, but never runs of its own priority.
 *
 * Ageing moves a run forward in the queue but gives it no right to stop another run. With preemption, ageing counts
 * only within a priority: otherwise an aged run would start before a better one, which would stop it in the next pass,
 * again and again.
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
    *victimsFor(demand, exempt) {
      if (!settings.preemption) return;
      // Most pools lack enough slots of worse runs; this check avoids visiting those runs.
      if (agents.freeSlots + placed.evictableSlots(demand.priority) < demand.slots) return;
      for (const run of placed.evictable(demand.priority)) {
        if (standing.mayStop(run, exempt)) yield run;
      }
    },
    rightOf: (demand) => String(demand.priority),
    shareOf: () => null,
  }),
};
