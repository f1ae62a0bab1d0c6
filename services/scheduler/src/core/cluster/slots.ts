import type { PoolAgents } from "@trainyard/scheduling";
import type { Agent, Allocation } from "./state.ts";

/** Updates a pool's view of an agent's slots: the disabled ones, and those that ghosts hold. */
export function levelSlots(
  agents: PoolAgents,
  { id, slotsOut, ghosts }: Agent,
  slotsOutBefore: Agent["slotsOut"],
): void {
  for (const slot of new Set([...Object.keys(slotsOutBefore), ...Object.keys(slotsOut)])) {
    agents.setSlotDisabled(id, slot, slotsOut[slot] !== undefined);
  }
  for (const [ghost, held] of Object.entries(ghosts)) agents.hold(id, ghostHolder(ghost), held);
}

/**
 * A distinct name for the holder of a ghost's slots: after a rewind of the log, an allocation may be placed on an agent
 * that still runs it, on the same slots.
 */
export function ghostHolder(allocation: string): string {
  return `ghost ${allocation}`;
}

/** Processes that cannot be killed hold their run's slots for an unknown time. */
export function levelStuck(agents: PoolAgents, agent: Agent): void {
  const left = Object.keys(agent.left).filter((allocation) => isLeft(agent, allocation));
  const holders = left.flatMap((allocation) => [allocation, ghostHolder(allocation)]);
  const shares = holders.flatMap((holder) => agents.sharesOf(holder));
  const here = shares.filter((share) => share.agent === agent.id);
  agents.setStuck(
    agent.id,
    here.flatMap(({ slots }) => slots),
  );
}

/** True if the agent reports processes of the allocation that cannot be killed. */
export function isLeft(agent: Agent, allocation: string): boolean {
  return (agent.left[allocation] ?? "") !== "";
}

/** True if some runs on the agent have to end. */
export function isDraining({ out, slotsOut, status }: Agent): boolean {
  if (status === "removed") return false;
  return out?.state === "draining" || Object.values(slotsOut).some(drains);
}

export function drains({ state }: Agent["slotsOut"][string]): boolean {
  return state === "draining";
}

/** The slots granted to an allocation on an agent; null if it is not placed there. */
export function slotsOn(
  allocation: Allocation | undefined,
  agent: string,
): readonly string[] | null {
  const here = allocation?.grant?.placements.filter((one) => one.agent === agent) ?? [];
  return here.length === 0 ? null : here.flatMap(({ slots }) => slots);
}
