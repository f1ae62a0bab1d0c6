/**
 * Jobs take turns: the job with the fewest placed runs goes next; of several, the one of the best priority, then the
 * one whose latest turn is longest ago. So a wave of free slots continues where the previous one ended. No run is
 * preempted.
 */
import { placeOf } from "../queue.ts";
import { agedPriority } from "./ageing.ts";
import type { Policy } from "./policy.ts";

export const roundRobin: Policy = {
  byJob: true,
  open: ({ settings, standing, jobs, nowMs }) => ({
    rankOf: (demand) => [
      standing.runsOf(demand.job),
      agedPriority(demand, settings.ageingMs, nowMs),
      standing.latestGrantOf(demand.job),
      jobs.get(demand.job)?.turn ?? 0,
      placeOf(demand),
      demand.arrival,
    ],
    victimsFor: () => [],
    rightOf: () => "",
    shareOf: () => null,
  }),
};
