/** Jobs take turns: the job with the fewest placed runs goes next. No run is preempted. */
import { placeOf } from "../queue.ts";
import { agedPriority } from "./ageing.ts";
import type { Policy } from "./policy.ts";

export const roundRobin: Policy = {
  byJob: true,
  open: ({ settings, standing, nowMs }) => ({
    rankOf: (demand) => [
      standing.runsOf(demand.job),
      agedPriority(demand, settings.ageingMs, nowMs),
      placeOf(demand),
      demand.arrival,
    ],
    victimsFor: () => [],
    rightOf: () => "",
    shareOf: () => null,
  }),
};
