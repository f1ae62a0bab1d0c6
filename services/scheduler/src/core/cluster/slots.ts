import type { PoolAgents } from "@trainyard/scheduling";
import type { Agent } from "./state.ts";

/** Brings what a pool knows of an agent's slots level with the agent: those that are disabled, and those that ghosts hold. */
export function levelSlots(
  agents: PoolAgents,
  { id, disabled, ghosts }: Agent,
  disabledBefore: readonly string[],
): void {
  for (const slot of new Set([...disabledBefore, ...disabled])) {
    agents.setSlotDisabled(id, slot, disabled.includes(slot));
  }
  for (const [ghost, held] of Object.entries(ghosts)) agents.hold(id, ghost, held);
}

export function withSlot({ disabled }: Agent, slot: string, isDisabled: boolean): Partial<Agent> {
  const others = disabled.filter((other) => other !== slot);
  return { disabled: isDisabled ? [...others, slot] : others };
}
