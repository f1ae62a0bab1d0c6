import type { AnyEvent } from "@trainyard/contracts";
import type { Report } from "../invariants.ts";

/**
 * The rule of placements: a slot belongs to one allocation at a time, and a slot of a lost agent to none until it is
 * known to be clear.
 */
export class PlacementRules {
  readonly #holders = new Map<string, string>();
  readonly #slotsOf = new Map<string, readonly { agent: string; slots: readonly string[] }[]>();
  readonly #lost = new Set<string>();

  see(id: string, event: AnyEvent, report: Report): void {
    switch (event.type) {
      case "AllocationGranted":
        this.#slotsOf.set(id, event.data.placements);
        for (const { agent, slots } of event.data.placements) {
          if (this.#lost.has(agent)) report(`${agent} is lost`);
          for (const slot of slots) this.#take(`${agent}/${slot}`, id, report);
        }
        break;
      case "AllocationEnded":
        for (const { agent, slots } of this.#slotsOf.get(id) ?? []) {
          if (!this.#lost.has(agent)) this.#free(agent, slots, id);
        }
        break;
      case "SlotsCleared":
        for (const slot of event.data.slots) this.#holders.delete(`${id}/${slot}`);
        break;
      case "AgentLost":
        this.#lost.add(id);
        break;
      case "AgentReturned":
        this.#lost.delete(id);
        for (const key of this.#holders.keys()) {
          if (key.startsWith(`${id}/`)) this.#holders.delete(key);
        }
        for (const { allocation, slots } of event.data.occupations) {
          for (const slot of slots) this.#holders.set(`${id}/${slot}`, allocation);
        }
        break;
      default:
    }
  }

  #take(slot: string, id: string, report: Report): void {
    const other = this.#holders.get(slot);
    if (other !== undefined) report(`${slot} is ${other}'s`);
    this.#holders.set(slot, id);
  }

  #free(agent: string, slots: readonly string[], id: string): void {
    for (const slot of slots) {
      if (this.#holders.get(`${agent}/${slot}`) === id) this.#holders.delete(`${agent}/${slot}`);
    }
  }
}
