import type { PoolAgents } from "@trainyard/scheduling";
import type { Agent } from "./state.ts";

/**
 * Brings what a pool knows of an agent's slots level with the agent: those that are disabled, and those that ghosts
 * hold.
 */
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
 * A name of its own: where the log went back, an allocation may get a place on an agent that runs it still, on the
 * slots that it had before.
 */
export function ghostHolder(allocation: string): string {
  return `ghost ${allocation}`;
}

/** The processes of a run that cannot be killed hold its slots, and nobody knows until when. */
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

/** Whether the agent says that processes of it cannot be killed. */
export function isLeft(agent: Agent, allocation: string): boolean {
  return (agent.left[allocation] ?? "") !== "";
}

/** Whether runs there have to end. */
export function isDraining({ out, slotsOut, status }: Agent): boolean {
  if (status === "removed") return false;
  return out?.state === "draining" || Object.values(slotsOut).some(drains);
}

export function drains({ state }: Agent["slotsOut"][string]): boolean {
  return state === "draining";
}
