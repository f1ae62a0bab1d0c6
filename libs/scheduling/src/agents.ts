/**
 * The agents of a pool and who holds their slots.
 *
 * Invariants: a slot is free when no holder has it, it is not disabled, and its agent is present (joined, not away, not
 * draining) and not blocked; an agent that is not present, or blocked, takes no work, and the runs that hold slots
 * there keep them. The pool is mutable: a fold changes it, and a placement pass takes slots and returns them.
 *
 * Questions about agents are answered by views (view.ts), one for each set of conditions: the view of all agents, and
 * those used most recently. Changes of agents are kept in a list, and a view applies the new ones before it answers.
 */
import type { Capacity } from "./agent-index.ts";
import {
  admitsAgent,
  admitsSlot,
  type Conditions,
  type Constraints,
  conditionsOf,
  noConditions,
} from "./constraints.ts";
import type { Demand, Share } from "./demand.ts";
import { schedulingLimits } from "./limits.ts";
import type { Offer, Slot } from "./offer.ts";
import { couldTake, freeSlotsOf, valueOf, View, type ViewedAgent } from "./view.ts";

export type { Capacity } from "./agent-index.ts";

/** The reason why a present agent gets no work, in words. */
export type Block = {
  readonly kind: "silent" | "low_disk" | "distrusted" | "disabled" | "protocol";
  readonly detail: string;
};

export type Standing = {
  readonly present: Capacity;
  readonly freeSlots: number;
  /** The most free slots on one agent; -1 without agents. */
  readonly mostFree: number;
  /** The most free slots on agents that may share a run. */
  readonly mostTogether: number;
};

/** The properties that decide where a demand can be. */
export type Wanted = Pick<Demand, "slots" | "singleAgent"> & {
  readonly constraints?: Constraints | undefined;
};

class Agent implements ViewedAgent {
  readonly ordinal: number;
  readonly id: string;
  slots: readonly Slot[] = [];
  labels: Offer["labels"] = {};
  present = false;
  removed = false;
  /** Temporarily ignored while an answer is computed without this agent (`without`). */
  left = false;
  block: Block | null = null;
  readonly disabled = new Set<string>();
  stuck: ReadonlySet<string> = new Set();
  readonly holders = new Map<string, readonly string[]>();
  /**
   * The number of holders of each slot: a returning agent may report a run on a slot that was granted to another run.
   */
  readonly held = new Map<string, number>();
  slotless = 0;

  constructor(ordinal: number, id: string) {
    this.ordinal = ordinal;
    this.id = id;
  }

  get hidden(): boolean {
    return this.removed || this.left;
  }

  get takesWork(): boolean {
    return this.present && this.block === null;
  }
}

export class PoolAgents {
  /** The most runs without slots on one agent. */
  slotlessMax: number = schedulingLimits.slotlessPerAgentMax;
  readonly #byId = new Map<string, Agent>();
  readonly #byOrdinal: Agent[] = [];
  /** The ids of the agents where each holder has slots. */
  readonly #places = new Map<string, Set<string>>();
  readonly #all = new View(noConditions);
  /** The views by their conditions, the most recently used last. */
  readonly #views = new Map<string, View>();
  /** The agents that changed, in order; changes before `#changesFrom` are dropped. */
  #changes: Agent[] = [];
  #changesFrom = 0;
  #blocks = 0;

  /** Adds an agent, or changes what it offers. */
  join(id: string, { slots, labels }: Offer, present: boolean): void {
    let agent = this.#byId.get(id);
    if (agent === undefined) {
      agent = new Agent(this.#byOrdinal.length, id);
      this.#byId.set(id, agent);
      this.#byOrdinal.push(agent);
    }
    agent.slots = [...slots];
    agent.labels = labels;
    agent.present = present;
    agent.removed = false;
    this.#changed(agent);
  }

  /** Takes the agent out of the pool until it joins again; the runs that hold slots there keep them. */
  remove(id: string): void {
    const agent = this.#byId.get(id);
    if (agent === undefined) return;
    agent.present = false;
    agent.removed = true;
    this.#changed(agent);
  }

  /** Forgets an agent that has moved to another pool, with its holders and disabled slots. */
  forget(id: string): void {
    const agent = this.#byId.get(id);
    if (agent === undefined) return;
    for (const holder of [...agent.holders.keys()]) this.release(id, holder);
    agent.disabled.clear();
    agent.stuck = new Set();
    this.remove(id);
  }

  /** Sets or lifts (null) the agent's block; a blocked agent takes no work. */
  setBlock(id: string, block: Block | null): void {
    const agent = this.#byId.get(id);
    if (agent === undefined) return;
    this.#blocks += (block === null ? 0 : 1) - (agent.block === null ? 0 : 1);
    agent.block = block;
    this.#changed(agent);
  }

  /** The present agents that take no work because they are blocked. */
  get blocked(): readonly { readonly slots: number; readonly block: Block }[] {
    if (this.#blocks === 0) return [];
    return this.#byOrdinal.flatMap(({ present, hidden, block, slots }) =>
      present && !hidden && block !== null ? [{ slots: slots.length, block }] : [],
    );
  }

  /** Runs `work` as if these agents were not in the pool. */
  without<T>(ids: readonly string[], work: () => T): T {
    if (ids.length === 0) return work();
    const agents = ids.flatMap((id) => this.#byId.get(id) ?? []).filter(({ hidden }) => !hidden);
    for (const agent of agents) this.#leaveOut(agent, true);
    try {
      return work();
    } finally {
      for (const agent of agents) this.#leaveOut(agent, false);
    }
  }

  /**
   * Whether the agents that take work could hold the demand once every run that can be ended has ended. Disabled slots
   * do not count.
   */
  couldHold(wanted: Wanted): boolean {
    return this.#could(wanted, "usable");
  }

  /** Whether all agents that joined, absent ones too, could hold the demand if they were empty. */
  couldEverHold(wanted: Wanted): boolean {
    return this.#could(wanted, "known");
  }

  setSlotDisabled(id: string, slot: string, disabled: boolean): void {
    const agent = this.#byId.get(id);
    if (agent === undefined) return;
    if (disabled) agent.disabled.add(slot);
    else agent.disabled.delete(slot);
    this.#changed(agent);
  }

  /** Replaces the agent's slots that are held by processes that cannot be killed. */
  setStuck(id: string, slots: readonly string[]): void {
    const agent = this.#byId.get(id);
    if (agent === undefined || (slots.length === 0 && agent.stuck.size === 0)) return;
    agent.stuck = new Set(slots);
    this.#changed(agent);
  }

  /**
   * Gives the holder these slots of the agent in place of its earlier ones; a run without slots holds an empty list.
   */
  hold(id: string, holder: string, slots: readonly string[]): void {
    const agent = this.#byId.get(id);
    if (agent === undefined) return;
    this.#places.set(holder, (this.#places.get(holder) ?? new Set<string>()).add(id));
    drop(agent, holder);
    agent.holders.set(holder, slots);
    if (slots.length === 0) agent.slotless += 1;
    for (const slot of slots) agent.held.set(slot, (agent.held.get(slot) ?? 0) + 1);
    this.#changed(agent);
  }

  release(id: string, holder: string): void {
    const agent = this.#byId.get(id);
    if (agent === undefined) return;
    drop(agent, holder);
    const places = this.#places.get(holder);
    places?.delete(id);
    if (places?.size === 0) this.#places.delete(holder);
    this.#changed(agent);
  }

  /** The slots of a holder by agent. */
  sharesOf(holder: string): readonly Share[] {
    return [...(this.#places.get(holder) ?? [])].flatMap((agent) => {
      const slots = this.#byId.get(agent)?.holders.get(holder);
      return slots === undefined ? [] : [{ agent, slots }];
    });
  }

  /** The ids of the runs on an agent, with or without slots. */
  holdersOf(id: string): Iterable<string> {
    return this.#byId.get(id)?.holders.keys() ?? [];
  }

  idOf(ordinal: number): string {
    return (this.#byOrdinal[ordinal] as Agent).id;
  }

  /** The number of all agents in the pool, present or not, and of their slots. */
  get known(): Capacity {
    return this.view(noConditions).known;
  }

  /** The number of agents that take work, and of their slots. */
  get present(): Capacity {
    return this.view(noConditions).present;
  }

  get freeSlots(): number {
    return this.view(noConditions).freeSlots;
  }

  /** The most free slots on one present agent; -1 without agents. */
  get mostFree(): number {
    return this.view(noConditions).mostFree;
  }

  /** The most slots on one agent, present or not. */
  get largest(): number {
    return this.view(noConditions).largest;
  }

  /** The agents that take work and satisfy a demand's constraints, and their free slots. */
  standing({ slots, constraints }: Omit<Wanted, "singleAgent">): Standing {
    const { alone, together, slotless } = conditionsOf(constraints);
    return this.without(constraints?.excludedAgents ?? [], () => {
      const { present, freeSlots, mostFree } = this.view(slots === 0 ? slotless : alone);
      let mostTogether = mostFree;
      for (const [, tiers] of this.view(together).groups) {
        const free = tiers.reduce((sum, tier) => sum + tier.freeSlots, 0);
        mostTogether = Math.max(mostTogether, free);
      }
      return { present, freeSlots, mostFree, mostTogether };
    });
  }

  /** Returns the agents and slots that the conditions admit; the view is valid until an agent changes. */
  view(conditions: Conditions): View {
    const view = conditions.key === "" ? this.#all : this.#viewOf(conditions);
    const next = this.#changesFrom + this.#changes.length;
    if (view.seen < this.#changesFrom) for (const agent of this.#byOrdinal) view.level(agent);
    else {
      for (let at = view.seen - this.#changesFrom; at < this.#changes.length; at += 1) {
        view.level(this.#changes[at] as Agent);
      }
    }
    view.seen = next;
    return view;
  }

  /** Returns an agent's first free slots that the conditions admit, in the agent's order. */
  share(ordinal: number, conditions: Conditions, count: number): Share {
    const agent = this.#byOrdinal[ordinal] as Agent;
    return { agent: agent.id, slots: freeSlotsOf(conditions, agent, count) };
  }

  /** Returns the first free slots of an agent, in the agent's order. */
  freeOf(id: string, count: number): readonly string[] {
    const agent = this.#byId.get(id);
    if (agent === undefined || agent.hidden || !agent.takesWork) return [];
    return freeSlotsOf(noConditions, agent, count);
  }

  /** Whether the constraints still admit these slots, and their agents may share the run. */
  admits(shares: readonly Share[], constraints: Constraints | undefined): boolean {
    const { alone, together } = conditionsOf(constraints);
    const { sameLabel } = together;
    const values = new Set<string | null>();
    for (const { agent: id, slots } of shares) {
      const agent = this.#byId.get(id);
      if (agent === undefined || constraints?.excludedAgents?.includes(id) === true) return false;
      if (!admitsAgent(alone, agent.labels)) return false;
      const offered = agent.slots.filter((slot) => slots.includes(slot.id));
      if (!offered.every((slot) => admitsSlot(alone, slot))) return false;
      values.add(sameLabel === "" ? "" : valueOf(agent.labels, sameLabel));
    }
    return shares.length <= 1 || (values.size === 1 && !values.has(null));
  }

  /** Yields the offers of all agents of the pool, and whether each agent takes work. */
  *offers(): Generator<
    Offer & Pick<Agent, "id" | "takesWork"> & { readonly disabled: ReadonlySet<string> }
  > {
    for (const agent of this.#byOrdinal) if (!agent.removed) yield agent;
  }

  #could({ slots, singleAgent, constraints }: Wanted, which: "usable" | "known"): boolean {
    const { alone, together, slotless } = conditionsOf(constraints);
    return this.without(constraints?.excludedAgents ?? [], () =>
      couldTake(
        { alone: this.view(slots === 0 ? slotless : alone), together: this.view(together) },
        { slots, singleAgent },
        (index) => index[which],
      ),
    );
  }

  #viewOf(conditions: Conditions): View {
    const view = this.#views.get(conditions.key) ?? new View(conditions);
    this.#views.delete(conditions.key);
    this.#views.set(conditions.key, view);
    if (this.#views.size > schedulingLimits.viewsMax) {
      const [oldest = ""] = this.#views.keys();
      this.#views.delete(oldest);
    }
    return view;
  }

  #leaveOut(agent: Agent, left: boolean): void {
    agent.left = left;
    this.#changed(agent);
  }

  #changed(agent: Agent): void {
    this.#changes.push(agent);
    // A view older than the kept changes is rebuilt from all agents, which costs less than a longer list.
    const kept = Math.max(1_000, this.#byOrdinal.length);
    if (this.#changes.length <= 2 * kept) return;
    this.#changesFrom += this.#changes.length - kept;
    this.#changes = this.#changes.slice(-kept);
  }
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
