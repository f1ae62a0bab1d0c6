/** Carries out drains of users: asks the runs on drained agents or slots to stop, and records the end of the drain. */
import { StopMode, StopWhy } from "@trainyard/contracts/events";
import { type Out, slotOut } from "../agent/use.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { drains } from "../cluster/slots.ts";
import type { Agent, Allocation } from "../cluster/state.ts";
import type { Decision } from "./decision.ts";
import type { Observed } from "./observed.ts";

export function drainDecisions(cluster: Cluster, observed: Observed): readonly Decision[] {
  return [...cluster.draining].flatMap((id) => {
    const agent = cluster.agents.get(id);
    return agent === undefined
      ? []
      : [...stopsOn(cluster, agent), ...endOfDrain(cluster, observed, agent)];
  });
}

/**
 * A drain ends only when all checkpoints of the agent's ended runs are stored: people switch a drained host off. The
 * agent's last report counts too, since it may name checkpoints that no event has recorded yet.
 */
function endOfDrain(
  cluster: Cluster,
  observed: Observed,
  { id, out, ghosts, undelivered }: Agent,
): readonly Decision[] {
  if (out?.state !== "draining") return [];
  if (cluster.placedOn(id).size > 0 || Object.keys(ghosts).length > 0) return [];
  if (undelivered !== null || observed.agent(id)?.report.undelivered !== undefined) return [];
  return [{ on: "agent", id, origin: null, command: { kind: "note_drained" } }];
}

function stopsOn(cluster: Cluster, agent: Agent): readonly Decision[] {
  return [...cluster.placedOn(agent.id)].flatMap((run): readonly Decision[] => {
    const allocation = cluster.allocations.get(run);
    if (allocation === undefined) return [];
    const stops = drainsOf(agent, allocation).filter((drain) => isShorter(drain, allocation));
    const [drain] = stops.toSorted((a, b) => graceOf(a) - graceOf(b));
    if (drain === undefined) return [];
    const graceMs = drain.deadlineMs ?? 0;
    const command = { kind: "stop", mode: StopMode.GRACEFUL, why: StopWhy.DRAIN, graceMs } as const;
    return [{ on: "allocation", id: allocation.id, origin: allocation.origin, command }];
  });
}

/** The drains that concern a run: the one of its agent, and those of its slots there. */
function drainsOf({ id, out, slotsOut }: Agent, { grant }: Allocation): readonly Out[] {
  const here = grant?.placements.filter(({ agent }) => agent === id) ?? [];
  const slots = here.flatMap((placement) => placement.slots);
  const ofSlots = slots.flatMap((slot) => slotOut(slotsOut, slot) ?? []).filter(drains);
  return out?.state === "draining" ? [out, ...ofSlots] : ofSlots;
}

/** A run that was asked to stop is asked again only with less time. */
function isShorter(drain: Out, { stop }: Allocation): boolean {
  if (stop === null) return true;
  return !stop.kill && graceOf(drain) < (stop.graceMs ?? Number.POSITIVE_INFINITY);
}

function graceOf({ deadlineMs }: Out): number {
  return deadlineMs ?? Number.POSITIVE_INFINITY;
}
