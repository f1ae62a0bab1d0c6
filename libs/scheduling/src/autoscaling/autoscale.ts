/**
 * One autoscaling decision of a pool: how many machines to launch, and which to terminate. The function is pure: a
 * driver carries the decision out and passes the marks to the next call.
 *
 * A pool with `compat: determined` wants as many agents as Determined's arithmetic says. Other pools use `planAgents`,
 * and idle agents that a waiting run or a reservation counts on are kept.
 */
import { determinedNewAgents } from "../determined/desired-agents.ts";
import { queueOf } from "../determined/pass.ts";
import type { Offer } from "../offer.ts";
import type { Pool } from "../pool.ts";
import { agentsToLaunch, type Ending, type FleetLimits, instancesToEnd } from "./decide.ts";
import { type Instance, type InstanceLimits, judgeInstances, type Marks } from "./instances.ts";
import { planAgents } from "./plan.ts";

export type AutoscalingInput = {
  readonly pool: Pool;
  readonly limits: FleetLimits & InstanceLimits;
  /** The offer of an agent that autoscaling starts. */
  readonly newAgent: Offer;
  /** The pool's instances; an instance has the id of its agent. */
  readonly instances: readonly Instance[];
  readonly marks: Marks;
  readonly nowMs: number;
};

export type AutoscalingDecision = {
  readonly launch: number;
  readonly end: readonly Ending[];
  readonly marks: Marks;
};

export function autoscale(input: AutoscalingInput): AutoscalingDecision {
  const { limits, instances, nowMs } = input;
  const judged = judgeInstances(instances, input.marks, limits, nowMs);
  const starting = judged.starting.length;
  const alive = instances.length - judged.stopped.length - judged.longDisconnected.length;
  const { wanted, kept } = wantedOf(input, starting, limits.agentsMax - alive);
  const longIdle = judged.longIdle.filter((id) => !kept.has(id));
  const end = instancesToEnd(instances, { ...judged, longIdle }, limits);
  const left = instances.length - end.length;
  const launch = agentsToLaunch(limits, { instances: left, starting, wanted });
  return { launch, end, marks: judged.marks };
}

/** The new agents to have, those that are starting included, and the idle agents to keep. */
function wantedOf({ pool, newAgent }: AutoscalingInput, starting: number, newAgentsMax: number) {
  if (pool.settings.compat === "determined") {
    const { tasks, jobs } = queueOf(pool);
    const size = {
      slotsPerAgent: newAgent.slots.length,
      slotlessPerAgent: pool.settings.slotlessPerAgent,
    };
    return { wanted: determinedNewAgents(tasks, jobs, size), kept: new Set<string>() };
  }
  const { newAgents, inUse } = planAgents({ pool, starting, newAgentsMax, newAgent });
  const reserved = pool.kept?.shares.map(({ agent }) => agent) ?? [];
  return { wanted: newAgents + starting, kept: new Set([...inUse, ...reserved]) };
}
