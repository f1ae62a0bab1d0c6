import { type Constraints, conditionsOf } from "./constraints.ts";
import { schedulingLimits } from "./limits.ts";

/** A run that waits for slots or holds them. */
export type Demand = {
  readonly id: string;
  /** The id of the experiment: its runs share `weight`, `maxSlots` and their place in the queue. */
  readonly job: string;
  readonly workspace: string;
  /** Whether the run may be stopped to make room for another; it writes a checkpoint and continues later. */
  readonly preemptible: boolean;
  readonly weight: number;
  /** The most slots that all runs of the job hold together; null for no limit. */
  readonly maxSlots: number | null;
  /** The run is stopped this long after its start; null for no limit. */
  readonly timeLimitMs: number | null;
  /** The number of earlier runs of the trial that were stopped to make room for others. */
  readonly preemptions?: number;
  /** The time that the run has to write a checkpoint when it is preempted. */
  readonly preemptionTimeoutMs: number;
  readonly constraints?: Constraints;
  /** The number of slots; a run with 0 takes no slot and runs beside others. */
  readonly slots: number;
  /** The run's priority; lower numbers are placed first. */
  readonly priority: number;
  /** Whether all slots must be on one agent. */
  readonly singleAgent: boolean;
  /** The log position at which the run was queued. */
  readonly arrival: number;
  /** The place of the job among jobs of equal priority: the arrival of its first run, or where a person moved it. */
  readonly place?: number;
  /** The time of arrival; a run without it does not age. */
  readonly queuedAtMs?: number;
  /** Ids of agents where the last tries failed: the run goes there only if no other agent could hold it. */
  readonly avoid?: readonly string[];
  /** The time at which `avoid` ends, on the clock of the passes; a run without it avoids the agents for good. */
  readonly avoidUntilMs?: number;
};

/** Recorded weights may exceed the limits: 0 stays 0, others are clamped to the limits. */
export function withBoundedWeight(demand: Demand): Demand {
  const { weightMin, weightMax } = schedulingLimits;
  const { weight } = demand;
  if (weight === 0 || (weight >= weightMin && weight <= weightMax)) return demand;
  return { ...demand, weight: weight > 0 ? Math.min(Math.max(weight, weightMin), weightMax) : 0 };
}

/** Returns a key: of two demands with the same key, both fit or neither does. */
export function shapeOf({ slots, singleAgent, avoid = [], constraints }: Demand): string {
  return `${slots}/${singleAgent}/${avoid.join(" ")}${conditionsOf(constraints).shape}`;
}

/** The part of an allocation on one agent. The order of a grant's placements is the order of node ranks. */
export type Share = { readonly agent: string; readonly slots: readonly string[] };

export type Grant = {
  readonly id: string;
  readonly shares: readonly Share[];
  /** The number of its slots beyond its workspace's quota: the run is stopped when other runs need them. */
  readonly borrowed: number;
  /** Set if the run passed the first run of the queue and the log must record it. */
  readonly passed?: Passed;
};

/** The first run of the queue, which had no room when a later run was started. */
export type Passed = {
  readonly id: string;
  /**
   * Whether the later run got slots that are reserved for the first one: it is stopped once the first one then fits.
   */
  readonly onItsSlots: boolean;
  /** The reservation of the first run, if it is not yet recorded. */
  readonly reserved: readonly Share[];
};

/** A run to stop, and the run that needs its slots. */
export type Stop = { readonly id: string; readonly by: string };

/** Slots that are reserved for the first run without room. */
export type Reservation = {
  readonly id: string;
  readonly slots: number;
  readonly agents: readonly string[];
};

/** The result of a placement pass. */
export type Pass = {
  readonly grants: readonly Grant[];
  readonly stops: readonly Stop[];
  readonly reservation: Reservation | null;
  /**
   * The next time at which ageing changes the order of the queue, a run may make room, or one no longer avoids agents;
   * null for never.
   */
  readonly againAtMs: number | null;
};
