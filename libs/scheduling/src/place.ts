/**
 * A placement pass: which of what waits gets which slots now.
 *
 * Priorities are looked at from the lowest number; within one, by arrival, and what fits is placed even when an earlier
 * one of the same priority does not fit. As soon as something of a priority does not fit, everything of worse priority
 * waits: it could only take what that one is waiting for. Runs with and without slots do not wait for each other. This
 * is Determined's priority scheduler without preemption. A large run can therefore starve behind small ones of its own
 * priority; a better priority is what helps it.
 *
 * The pass leaves the pool as it was: what it takes to see what still fits it gives back. The grants take effect when
 * they are recorded and folded in.
 */
import type { Grant } from "./demand.ts";
import { fit } from "./fit.ts";
import { schedulingLimits } from "./limits.ts";
import type { Pool } from "./pool.ts";
import type { Kind } from "./queue.ts";

export function place(
  pool: Pool,
  grantsMax: number = schedulingLimits.grantsPerPassMax,
): readonly Grant[] {
  const grants: Grant[] = [];
  try {
    placeKind(pool, "slotless", grants, grantsMax);
    placeKind(pool, "slotted", grants, grantsMax);
  } finally {
    for (const { id, shares } of grants) {
      for (const { agent } of shares) pool.agents.release(agent, id);
    }
  }
  return grants;
}

function placeKind(pool: Pool, kind: Kind, grants: Grant[], grantsMax: number): void {
  for (const priority of pool.queue.priorities(kind)) {
    const walk = pool.queue.walk(kind, priority);
    let somethingWaits = false;
    for (let next = walk.next(); next !== null; next = walk.next()) {
      if (grants.length >= grantsMax) return;
      const shares = fit(pool.agents, next.demand);
      if (shares === null) {
        somethingWaits = true;
        next.close();
        continue;
      }
      const { id } = next.demand;
      for (const { agent, slots } of shares) pool.agents.hold(agent, id, slots);
      grants.push({ id, shares });
      next.take();
    }
    if (somethingWaits) return;
  }
}
