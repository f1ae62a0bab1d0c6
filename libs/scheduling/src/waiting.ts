import type { Demand } from "./demand.ts";
import type { Pool } from "./pool.ts";
import { placeOf } from "./queue.ts";

/** Returns all waiting runs by priority, place and arrival, whatever the pool's policy. */
export function waitingDemands({ queue }: Pool): readonly Demand[] {
  const demands: Demand[] = [];
  for (const lane of [...queue.lanes("slotted"), ...queue.lanes("slotless")]) {
    for (let next = lane.from(0); next !== null; next = lane.from(next.index + 1)) {
      demands.push(next.demand);
    }
  }
  return demands.sort(
    (a, b) => a.priority - b.priority || placeOf(a) - placeOf(b) || a.arrival - b.arrival,
  );
}
