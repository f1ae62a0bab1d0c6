/** The slots that a pass sets aside for waiting runs, and the reasons why runs get none. */
import type { Demand, Reservation, Share } from "./demand.ts";
import type { Limit } from "./limits-of-runs.ts";
import { endsByMs, limitAtMs, type PlacedRun } from "./placed.ts";
import type { Pool } from "./pool.ts";
import type { Lane } from "./queue.ts";
import { holdersIn } from "./room.ts";
import type { Trial } from "./trial.ts";

/** Slots that are set aside for a waiting run; of a claim with `isLent`, other runs may use the slots meanwhile. */
export type Claim = {
  readonly demand: Demand;
  readonly shares: readonly Share[];
  readonly isLent: boolean;
  /** The runs that must end before the run can start. */
  readonly blockers: readonly PlacedRun[];
  /** The time at which all blockers reach their time limits; infinite if one of them has no limit. */
  readonly startsAtMs: number;
  /** The latest time at which all blockers have ended. */
  readonly startsByMs: number;
};

/** The reason why the first run of a lane got no slots. */
export type Obstacle =
  | { readonly kind: "limit"; readonly limit: Limit }
  | { readonly kind: "claim"; readonly claim: Claim }
  /** The run would fit if no slots were claimed for the run `by`. */
  | { readonly kind: "reserved"; readonly by: string }
  | Exempt
  | { readonly kind: "full" };

/** Runs that would make room are exempt from preemption until a time. */
export type Exempt = {
  readonly kind: "exempt";
  readonly runs: readonly PlacedRun[];
  readonly untilMs: number;
};

export function claimOf(
  pool: Pool,
  demand: Demand,
  { shares, isLent, nowMs }: Pick<Claim, "shares" | "isLent"> & { readonly nowMs: number },
): Claim {
  const blockers = holdersIn(pool, shares);
  const latest = (of: (run: PlacedRun, nowMs: number) => number): number =>
    Math.max(nowMs, ...blockers.map((run) => of(run, nowMs)));
  const times = { startsAtMs: latest(limitAtMs), startsByMs: latest(endsByMs) };
  return { demand, shares, isLent, blockers, ...times };
}

/** Whether a run ahead, which waits without a reservation, would start on the slots that the claim waits for. */
export function goesToRunsAhead(
  trial: Trial,
  { isLent, blockers }: Claim,
  ahead: ReadonlyMap<Lane, Obstacle>,
  fits: (demand: Demand) => boolean,
): boolean {
  if (!isLent) return false;
  return trial.attempt(() => {
    for (const { demand } of blockers) trial.release(demand.id);
    const shapes = new Set<string>();
    return [...ahead].some(([{ shape, first }, { kind }]) => {
      if (kind !== "full" || first === undefined || shapes.has(shape)) return false;
      shapes.add(shape);
      return fits(first);
    });
  });
}

/** The name under which a claim holds its slots during a pass. */
export function holderOf({ id }: Demand): string {
  return `claim ${id}`;
}

export function reservationOf({ demand, shares }: Claim): Reservation {
  return { id: demand.id, slots: demand.slots, agents: shares.map(({ agent }) => agent) };
}
