/**
 * The agents of a pool and who holds their slots, indexed by how much is free.
 *
 * Invariants: a slot is free when no holder has it, it is not disabled, and its agent is present (joined, not away, not
 * draining) and not blocked; an agent that is not present, or blocked, is in no index, and whoever holds slots there goes on holding them.
 * Mutable: a fold drives it, and a placement pass takes and gives back.
 */
import { OrdinalGroups } from "./ordinals.ts";

type Agent = {
  readonly ordinal: number;
  readonly id: string;
  slots: readonly string[];
  present: boolean;
  block: Block | null;
  readonly disabled: Set<string>;
  readonly holders: Map<string, readonly string[]>;
  /** How many hold each slot: an agent that returns may report what the fold had given to another. */
  readonly held: Map<string, number>;
  free: number;
  slotless: number;
  indexed: { readonly free: number; readonly slotless: number; readonly whole: number } | null;
};

/** Why an agent that is present gets nothing, in words. */
export type Block = {
  readonly kind: "low_disk" | "distrusted" | "protocol";
  readonly detail: string;
};

export type Capacity = { readonly agents: number; readonly slots: number };

export class PoolAgents {
  readonly #byId = new Map<string, Agent>();
  readonly #byOrdinal: Agent[] = [];
  readonly #byFree = new OrdinalGroups();
  readonly #bySlotless = new OrdinalGroups();
  readonly #wholeBySize = new OrdinalGroups();
  #freeSlots = 0;
  #blocks = 0;
  #present: Capacity = { agents: 0, slots: 0 };
  #known: Capacity = { agents: 0, slots: 0 };

  /** Joins an agent, or changes what it offers. */
  join(id: string, slots: readonly string[], present: boolean): void {
    const known = this.#byId.get(id);
    const agent = known ?? newAgent(id, this.#byOrdinal.length);
    if (known === undefined) {
      this.#byId.set(id, agent);
      this.#byOrdinal.push(agent);
      this.#known = { agents: this.#known.agents + 1, slots: this.#known.slots };
    }
    this.#change(agent, () => {
      this.#known = {
        agents: this.#known.agents,
        slots: this.#known.slots - agent.slots.length + slots.length,
      };
      agent.slots = [...slots];
      agent.present = present;
    });
  }

  /** One that is present and blocked takes no work; null lifts it. */
  setBlock(id: string, block: Block | null): void {
    const agent = this.#byId.get(id);
    if (agent === undefined) return;
    this.#blocks += (block === null ? 0 : 1) - (agent.block === null ? 0 : 1);
    this.#change(agent, () => {
      agent.block = block;
    });
  }

  /** Those that would take work if nothing blocked them. */
  get blocked(): readonly { readonly slots: number; readonly block: Block }[] {
    if (this.#blocks === 0) return [];
    return this.#byOrdinal.flatMap(({ present, block, slots }) =>
      present && block !== null ? [{ slots: slots.length, block }] : [],
    );
  }

  /** What the work finds while these take none. */
  without<T>(ids: readonly string[], work: () => T): T {
    const left = ids.filter((id) => this.#byId.get(id)?.present === true);
    for (const id of left) this.#setPresent(id, false);
    try {
      return work();
    } finally {
      for (const id of left) this.#setPresent(id, true);
    }
  }

  /** Whether those that take work could take this if they were empty. */
  couldHold({ slots, singleAgent }: { slots: number; singleAgent: boolean }): boolean {
    if (slots === 0) return this.#present.agents > 0;
    if (!singleAgent) return this.#present.slots >= slots;
    return this.#byOrdinal.some((agent) => agent.indexed !== null && agent.slots.length >= slots);
  }

  setSlotDisabled(id: string, slot: string, disabled: boolean): void {
    const agent = this.#byId.get(id);
    if (agent === undefined) return;
    this.#change(agent, () => {
      if (disabled) agent.disabled.add(slot);
      else agent.disabled.delete(slot);
    });
  }

  /** The holder has these slots there, and no others; none at all for a run of no slots. */
  hold(id: string, holder: string, slots: readonly string[]): void {
    const agent = this.#byId.get(id);
    if (agent === undefined) return;
    this.#change(agent, () => {
      drop(agent, holder);
      agent.holders.set(holder, slots);
      if (slots.length === 0) agent.slotless += 1;
      for (const slot of slots) agent.held.set(slot, (agent.held.get(slot) ?? 0) + 1);
    });
  }

  release(id: string, holder: string): void {
    const agent = this.#byId.get(id);
    if (agent !== undefined) this.#change(agent, () => drop(agent, holder));
  }

  /** All agents that ever joined, and their slots. */
  get known(): Capacity {
    return this.#known;
  }

  /** Those that take work now. */
  get present(): Capacity {
    return this.#present;
  }

  get freeSlots(): number {
    return this.#freeSlots;
  }

  /** The most slots that one present agent has free; -1 without agents. */
  get mostFree(): number {
    return this.#byFree.highest;
  }

  /** The most slots that one agent has, present or not. */
  get largest(): number {
    let largest = 0;
    for (const agent of this.#byOrdinal) largest = Math.max(largest, agent.slots.length);
    return largest;
  }

  /** Of the agents with at least this many free slots one with the fewest, the earliest joined first. */
  tightest(slots: number): string | undefined {
    return this.#idOf(this.#byFree.firstFrom(slots));
  }

  /** The agent with the fewest runs of no slots, if it has fewer than the limit. */
  leastSlotless(below: number): string | undefined {
    const ordinal = this.#bySlotless.firstFrom(0);
    const agent = ordinal === undefined ? undefined : this.#byOrdinal[ordinal];
    return agent !== undefined && agent.slotless < below ? agent.id : undefined;
  }

  /** Agents of which no slot is taken, by their size, the largest first. */
  wholeSizes(): readonly number[] {
    return this.#wholeBySize.descending();
  }

  wholeOf(size: number, count: number): readonly string[] {
    return this.#wholeBySize
      .members(size)
      .slice(0, count)
      .flatMap((ordinal) => this.#idOf(ordinal) ?? []);
  }

  wholeCount(size: number): number {
    return this.#wholeBySize.members(size).length;
  }

  /** Agents with free slots, those with the most first. */
  *byMostFree(): Generator<{ readonly id: string; readonly free: number }> {
    for (const free of this.#byFree.descending()) {
      if (free === 0) return;
      for (const ordinal of this.#byFree.members(free)) {
        const id = this.#idOf(ordinal);
        if (id !== undefined) yield { id, free };
      }
    }
  }

  /** The first free slots of an agent, in its own order. */
  freeOf(id: string, count: number): readonly string[] {
    const agent = this.#byId.get(id);
    if (agent === undefined || agent.indexed === null) return [];
    const free: string[] = [];
    for (const slot of agent.slots) {
      if (free.length === count) break;
      if (!agent.held.has(slot) && !agent.disabled.has(slot)) free.push(slot);
    }
    return free;
  }

  #setPresent(id: string, present: boolean): void {
    const agent = this.#byId.get(id);
    if (agent !== undefined) this.#change(agent, () => (agent.present = present));
  }

  #idOf(ordinal: number | undefined): string | undefined {
    return ordinal === undefined ? undefined : this.#byOrdinal[ordinal]?.id;
  }

  #change(agent: Agent, change: () => void): void {
    this.#unindex(agent);
    change();
    agent.free = 0;
    for (const slot of agent.slots) {
      if (!agent.held.has(slot) && !agent.disabled.has(slot)) agent.free += 1;
    }
    this.#index(agent);
  }

  #unindex(agent: Agent): void {
    if (agent.indexed === null) return;
    const { free, slotless, whole } = agent.indexed;
    this.#byFree.remove(free, agent.ordinal);
    this.#bySlotless.remove(slotless, agent.ordinal);
    if (whole > 0) this.#wholeBySize.remove(whole, agent.ordinal);
    this.#freeSlots -= free;
    this.#present = {
      agents: this.#present.agents - 1,
      slots: this.#present.slots - agent.slots.length,
    };
    agent.indexed = null;
  }

  #index(agent: Agent): void {
    if (!agent.present || agent.block !== null) return;
    const whole = agent.held.size === 0 ? agent.free : 0;
    agent.indexed = { free: agent.free, slotless: agent.slotless, whole };
    this.#byFree.add(agent.free, agent.ordinal);
    this.#bySlotless.add(agent.slotless, agent.ordinal);
    if (whole > 0) this.#wholeBySize.add(whole, agent.ordinal);
    this.#freeSlots += agent.free;
    this.#present = {
      agents: this.#present.agents + 1,
      slots: this.#present.slots + agent.slots.length,
    };
  }
}

function newAgent(id: string, ordinal: number): Agent {
  return {
    ordinal,
    id,
    slots: [],
    present: false,
    block: null,
    disabled: new Set(),
    holders: new Map(),
    held: new Map(),
    free: 0,
    slotless: 0,
    indexed: null,
  };
}

function drop(agent: Agent, holder: string): void {
  const slots = agent.holders.get(holder);
  if (slots === undefined) return;
  agent.holders.delete(holder);
  if (slots.length === 0) agent.slotless -= 1;
  for (const slot of slots) {
    const count = (agent.held.get(slot) ?? 0) - 1;
    if (count > 0) agent.held.set(slot, count);
    else agent.held.delete(slot);
  }
}
