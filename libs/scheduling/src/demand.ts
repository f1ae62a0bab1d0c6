import { type Constraints, conditionsOf } from "./constraints.ts";
import { schedulingLimits } from "./limits.ts";

/** A run that waits for a place, or has one. */
export type Demand = {
  readonly id: string;
  /** The experiment: its runs share weight, `maxSlots` and a place in the queue. */
  readonly job: string;
  readonly workspace: string;
  /** It may be stopped to make room for another one: it writes a checkpoint and continues later. */
  readonly preemptible: boolean;
  readonly weight: number;
  /** The most slots that all runs of its job hold together; null for no limit. */
  readonly maxSlots: number | null;
  /** It is stopped this long after its start; null for no limit. */
  readonly timeLimitMs: number | null;
  /** The time it has to write a checkpoint when it makes room for others. */
  readonly preemptionTimeoutMs: number;
  readonly constraints?: Constraints;
  /** 0 runs beside others and takes none. */
  readonly slots: number;
  /** Lower is placed first. */
  readonly priority: number;
  /** All slots on one agent, or none. */
  readonly singleAgent: boolean;
  /** Rises with every arrival: the log position at which it was queued. */
  readonly arrival: number;
  /** Where it is among those of its priority, on the scale of arrivals; its arrival unless a user has moved its job. */
  readonly place?: number;
  /** The time of its arrival; one without it does not age. */
  readonly queuedAtMs?: number;
  /** Agents where its launches failed: it is placed there only if no other agent can take it. */
  readonly avoid?: readonly string[];
};

/** Recorded weights may be beyond the limits: 0 stays none, others become the nearest that is allowed. */
export function withBoundedWeight(demand: Demand): Demand {
  const { weightMin, weightMax } = schedulingLimits;
  const { weight } = demand;
  if (weight === 0 || (weight >= weightMin && weight <= weightMax)) return demand;
  return { ...demand, weight: weight > 0 ? Math.min(Math.max(weight, weightMin), weightMax) : 0 };
}

/** Demands that are equal in this fit or do not fit together. */
export function shapeOf({ slots, singleAgent, avoid = [], constraints }: Demand): string {
  return `${slots}/${singleAgent}/${avoid.join(" ")}${conditionsOf(constraints).shape}`;
}

/** The part of an allocation on one agent. The order of a grant's placements is the order of node ranks. */
export type Share = { readonly agent: string; readonly slots: readonly string[] };

export type Grant = {
  readonly id: string;
  readonly shares: readonly Share[];
  /** So many of its slots are beyond the quota of its workspace: it is stopped when others need them. */
  readonly borrowed: number;
  /** Set if it passed the first run of the queue, and that is to be known later. */
  readonly passed?: Passed;
};

/** The first run of the queue, which had no place when another one got one. */
export type Passed = {
  readonly id: string;
  /** It got slots that are reserved for that run: it is stopped as soon as that one fits without it. */
  readonly onItsSlots: boolean;
  /** The reservation for that run, if the record does not have it yet. */
  readonly reserved: readonly Share[];
};

/** A run that has to make room for another one. */
export type Stop = { readonly id: string; readonly by: string };

/** Slots that are kept for the first run that has no place. */
export type Reservation = {
  readonly id: string;
  readonly slots: number;
  readonly agents: readonly string[];
};

/** The outcome of a placement pass. */
export type Pass = {
  readonly grants: readonly Grant[];
  readonly stops: readonly Stop[];
  readonly reservation: Reservation | null;
  /** The time at which the order of the queue changes without any event; null for never. */
  readonly againAtMs: number | null;
};
