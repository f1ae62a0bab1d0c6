import { OrdinalGroups } from "./ordinals.ts";

export type Capacity = { readonly agents: number; readonly slots: number };

/** The slots and runs of one agent that an index counts: only the slots that the index's conditions admit. */
export type Entry = {
  /** The number of its admitted slots, taken, disabled or not. */
  readonly size: number;
  /** The slots that a run can get once other runs end: neither disabled nor held by processes that cannot be killed. */
  readonly usable: number;
  /** The slots that are free. */
  readonly free: number;
  /** Equals `free` if no run holds one of the slots, else 0. */
  readonly whole: number;
  /** The number of its runs without slots. */
  readonly slotless: number;
  readonly takesWork: boolean;
};

/** An index of agents by their free slots: it answers questions about free slots without visiting every agent. */
export class AgentIndex {
  readonly #entries = new Map<number, Entry>();
  readonly #byFree = new OrdinalGroups();
  readonly #bySlotless = new OrdinalGroups();
  readonly #wholeBySize = new OrdinalGroups();
  /** The sizes of all agents. */
  readonly known = new Sizes();
  /** The sizes of the agents that take work. */
  readonly present = new Sizes();
  /** The usable slots of the agents that take work. */
  readonly usable = new Sizes();
  #freeSlots = 0;

  /** Replaces the agent's entry; null removes the agent. */
  set(ordinal: number, next: Entry | null): void {
    const before = this.#entries.get(ordinal) ?? null;
    if (next === null) this.#entries.delete(ordinal);
    else this.#entries.set(ordinal, next);
    const was = before?.takesWork === true ? before : null;
    const is = next?.takesWork === true ? next : null;
    move(this.#byFree, ordinal, was?.free, is?.free);
    move(this.#bySlotless, ordinal, was?.slotless, is?.slotless);
    move(this.#wholeBySize, ordinal, was?.whole || undefined, is?.whole || undefined);
    this.known.replace(before?.size, next?.size);
    this.present.replace(was?.size, is?.size);
    this.usable.replace(was?.usable, is?.usable);
    this.#freeSlots += (is?.free ?? 0) - (was?.free ?? 0);
  }

  get freeSlots(): number {
    return this.#freeSlots;
  }

  /** The most free slots on one agent; -1 without agents. */
  get mostFree(): number {
    return this.#byFree.highest;
  }

  /** Returns the agent with the fewest free slots that are enough; of several, the one that joined first. */
  tightest(slots: number): number | undefined {
    return this.#byFree.firstFrom(slots);
  }

  /** Returns the agent with the most free slots, if they are enough; of several, the one that joined first. */
  roomiest(slots: number): number | undefined {
    const { highest } = this.#byFree;
    return highest < slots ? undefined : this.#byFree.members(highest)[0];
  }

  /** Returns the agent with the fewest runs without slots, if it has fewer than the limit. */
  leastSlotless(below: number): number | undefined {
    const ordinal = this.#bySlotless.firstFrom(0);
    if (ordinal === undefined) return undefined;
    return (this.#entries.get(ordinal)?.slotless ?? below) < below ? ordinal : undefined;
  }

  /** Returns the sizes of the agents of which no slot is taken. */
  wholeSizes(): readonly number[] {
    return this.#wholeBySize.descending();
  }

  /** Returns the agents of this size of which no slot is taken. */
  wholeOf(size: number): readonly number[] {
    return this.#wholeBySize.members(size);
  }

  /** Yields the agents with free slots, those with the most first. */
  *byMostFree(): Generator<{ readonly ordinal: number; readonly free: number }> {
    for (const free of this.#byFree.descending()) {
      if (free === 0) return;
      for (const ordinal of this.#byFree.members(free)) yield { ordinal, free };
    }
  }
}

/** Counts of agents by their number of slots. */
export class Sizes {
  readonly #counts = new Map<number, number>();
  #agents = 0;
  #slots = 0;

  replace(before: number | undefined, next: number | undefined): void {
    if (before === next) return;
    if (before !== undefined) this.#add(before, -1);
    if (next !== undefined) this.#add(next, 1);
  }

  get capacity(): Capacity {
    return { agents: this.#agents, slots: this.#slots };
  }

  /** The most slots on one agent; 0 without agents. */
  get largest(): number {
    return Math.max(0, ...this.#counts.keys());
  }

  /** The number of agents by their number of slots. */
  get counts(): Iterable<readonly [slots: number, agents: number]> {
    return this.#counts;
  }

  #add(size: number, change: number): void {
    const count = (this.#counts.get(size) ?? 0) + change;
    if (count === 0) this.#counts.delete(size);
    else this.#counts.set(size, count);
    this.#agents += change;
    this.#slots += change * size;
  }
}

function move(
  groups: OrdinalGroups,
  ordinal: number,
  from: number | undefined,
  to: number | undefined,
): void {
  if (from === to) return;
  if (from !== undefined) groups.remove(from, ordinal);
  if (to !== undefined) groups.add(to, ordinal);
}
