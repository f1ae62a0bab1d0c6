/**
 * The agents and slots that one set of conditions admits, indexed by free slots. A view is updated when it is read: it
 * visits the agents that have changed since its last update (`seen` is a position in the pool's list of changes). A
 * change of an agent therefore costs the same however many views exist.
 */
import { AgentIndex, type Capacity, type Entry, type Sizes } from "./agent-index.ts";
import {
  admitsAgent,
  admitsSlot,
  asksForDevices,
  type Conditions,
  preferenceOf,
} from "./constraints.ts";
import { schedulingLimits } from "./limits.ts";
import type { Offer } from "./offer.ts";

/** An agent with the holders of its slots. */
export type ViewedAgent = Offer & {
  readonly ordinal: number;
  /** Whether the agent has joined, is neither disconnected nor draining, and is not blocked. */
  readonly takesWork: boolean;
  /** Whether the agent was removed, or is temporarily ignored (`PoolAgents.without`). */
  readonly hidden: boolean;
  readonly disabled: ReadonlySet<string>;
  /** Slots that processes hold which cannot be killed, so that no one knows when they become free. */
  readonly stuck: ReadonlySet<string>;
  /** The number of holders of each slot. */
  readonly held: ReadonlyMap<string, number>;
  readonly slotless: number;
};

/** Agents by the number of preferred labels that they have, the most first; a single index without preferred labels. */
export type Tiers = readonly AgentIndex[];

export class View {
  readonly conditions: Conditions;
  seen = -1;
  /** The groups of agents by the value of `sameLabel`; without that condition, one group under the empty text. */
  readonly #groups = new Map<string, Tiers>();
  readonly #indexOf = new Map<number, AgentIndex>();

  constructor(conditions: Conditions) {
    this.conditions = conditions;
  }

  level(agent: ViewedAgent): void {
    const { ordinal } = agent;
    const entry = entryOf(this.conditions, agent);
    const index = entry === null ? null : this.#indexFor(agent.labels);
    const before = this.#indexOf.get(ordinal);
    if (before !== undefined && before !== index) before.set(ordinal, null);
    if (index === null) {
      this.#indexOf.delete(ordinal);
      return;
    }
    if (before !== index) this.#indexOf.set(ordinal, index);
    index.set(ordinal, entry);
  }

  get groups(): Iterable<readonly [value: string, tiers: Tiers]> {
    return this.#groups;
  }

  /** The sizes of all agents that take work, in every group. */
  get present(): Capacity {
    return this.#sum(({ present }) => present.capacity);
  }

  get known(): Capacity {
    return this.#sum(({ known }) => known.capacity);
  }

  get freeSlots(): number {
    return this.#indexes().reduce((sum, { freeSlots }) => sum + freeSlots, 0);
  }

  /** The most free slots on one agent; -1 if no agent takes work. */
  get mostFree(): number {
    return this.#indexes().reduce((most, { mostFree }) => Math.max(most, mostFree), -1);
  }

  /** The most slots on one agent, whether it takes work or not. */
  get largest(): number {
    return this.#indexes().reduce((most, { known }) => Math.max(most, known.largest), 0);
  }

  #sum(of: (index: AgentIndex) => Capacity): Capacity {
    let [agents, slots] = [0, 0];
    for (const index of this.#indexes()) {
      const capacity = of(index);
      agents += capacity.agents;
      slots += capacity.slots;
    }
    return { agents, slots };
  }

  #indexes(): readonly AgentIndex[] {
    return [...this.#groups.values()].flat();
  }

  #indexFor(labels: Offer["labels"]): AgentIndex | null {
    const { sameLabel, preferred } = this.conditions;
    const group = sameLabel === "" ? "" : valueOf(labels, sameLabel);
    // An agent without the label is in no group; it takes only runs on a single agent, which are placed without groups.
    if (group === null) return null;
    let tiers = this.#groups.get(group);
    if (tiers === undefined) {
      tiers = Array.from({ length: preferred.length + 1 }, () => new AgentIndex());
      this.#groups.set(group, tiers);
    }
    return tiers[preferred.length - preferenceOf(this.conditions, labels)] ?? null;
  }
}

/** Whether the agents could hold this many slots if they were empty; `of` selects the sizes to consider. */
export function couldTake(
  { alone, together }: { readonly alone: View; readonly together: View },
  { slots, singleAgent }: { readonly slots: number; readonly singleAgent: boolean },
  of: (index: AgentIndex) => Sizes,
): boolean {
  for (const [, tiers] of alone.groups) {
    for (const tier of tiers) {
      if (slots === 0 ? of(tier).capacity.agents > 0 : of(tier).largest >= slots) return true;
    }
  }
  if (slots === 0 || singleAgent) return false;
  for (const [, tiers] of together.groups) if (mostSlots(tiers, of) >= slots) return true;
  return false;
}

/** The most slots that one run could have on these agents, since a run has a limited number of agents. */
export function mostSlots(tiers: Tiers, of: (index: AgentIndex) => Sizes): number {
  const counts = tiers.flatMap((tier) => [...of(tier).counts]).sort(([a], [b]) => b - a);
  let left: number = schedulingLimits.nodesPerAllocationMax;
  let slots = 0;
  for (const [size, agents] of counts) {
    const taken = Math.min(left, agents);
    slots += taken * size;
    left -= taken;
  }
  return slots;
}

/** Returns the agent's entry; null if the conditions do not admit the agent or any of its slots. */
function entryOf(conditions: Conditions, agent: ViewedAgent): Entry | null {
  if (agent.hidden || !admitsAgent(conditions, agent.labels)) return null;
  const byDevice = asksForDevices(conditions);
  const { held, disabled, stuck } = agent;
  let [size, usable, free, taken] = [0, 0, 0, byDevice ? 0 : held.size];
  for (const slot of agent.slots) {
    if (byDevice && !admitsSlot(conditions, slot)) continue;
    size += 1;
    const isEnabled = !disabled.has(slot.id);
    if (isEnabled && !stuck.has(slot.id)) usable += 1;
    if (held.has(slot.id)) taken += 1;
    else if (isEnabled) free += 1;
  }
  if (byDevice && size === 0) return null;
  const { slotless, takesWork } = agent;
  return { size, usable, free, whole: taken === 0 ? free : 0, slotless, takesWork };
}

/** Returns the agent's first free slots that the conditions admit, in the agent's order. */
export function freeSlotsOf(
  conditions: Conditions,
  { slots, held, disabled }: ViewedAgent,
  count: number,
): readonly string[] {
  const free: string[] = [];
  for (const slot of slots) {
    if (free.length === count) break;
    if (held.has(slot.id) || disabled.has(slot.id) || !admitsSlot(conditions, slot)) continue;
    free.push(slot.id);
  }
  return free;
}

export function valueOf(labels: Offer["labels"], label: string): string | null {
  return Object.hasOwn(labels, label) ? (labels[label] ?? null) : null;
}
