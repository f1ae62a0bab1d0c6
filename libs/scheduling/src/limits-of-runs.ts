/** The limits of a run besides free slots: the `maxSlots` of its job, and the quota of its workspace. */
import type { Demand } from "./demand.ts";
import type { PlacedRun, PlacedRuns } from "./placed.ts";
import type { Quota } from "./settings.ts";
import type { Standing } from "./standing.ts";

export type Limit =
  | { readonly kind: "max_slots"; readonly held: number; readonly slots: number }
  | {
      readonly kind: "quota";
      readonly held: number;
      readonly quota: Quota;
      /**
       * The number of slots beyond the quota if the run may borrow slots that no other run needs; null if it may not
       * borrow.
       */
      readonly borrows: number | null;
    };

/** Returns the limit that the run would exceed, or null. A run without slots exceeds none. */
export function limitOf(
  demand: Demand,
  { quotas }: { readonly quotas: ReadonlyMap<string, Quota> },
  standing: Standing,
): Limit | null {
  const { slots, job, workspace, maxSlots, preemptible } = demand;
  if (slots === 0) return null;
  if (maxSlots !== null) {
    const held = standing.slotsOf(job);
    if (held + slots > maxSlots) return { kind: "max_slots", held, slots: maxSlots };
  }
  const quota = quotas.get(workspace);
  if (quota === undefined) return null;
  const held = standing.slotsOfWorkspace(workspace);
  const beyond = held + slots - quota.slots;
  if (beyond <= 0) return null;
  const borrows = quota.borrow && preemptible ? Math.min(slots, beyond) : null;
  return { kind: "quota", held, quota, borrows };
}

/** The preemptible runs on slots beyond their workspace's quota, in turn: those that are exempt, or the others. */
export function* loans(
  { quotas }: { readonly quotas: readonly Quota[] },
  placed: PlacedRuns,
  standing: Standing,
  exempt: boolean,
): Generator<PlacedRun> {
  for (const { workspace, slots } of quotas) {
    let beyond = standing.stayingSlotsOfWorkspace(workspace) - slots;
    if (beyond <= 0) continue;
    for (const run of placed.runsOfWorkspace(workspace)) {
      if (beyond <= 0) break;
      if (!standing.mayStop(run, exempt)) continue;
      beyond -= run.demand.slots;
      yield run;
    }
  }
}
