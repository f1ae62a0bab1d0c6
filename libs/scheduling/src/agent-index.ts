import { OrdinalGroups } from "./ordinals.ts";

export type Capacity = { readonly agents: number; readonly slots: number };

/** One agent as an index counts it: only the slots that the index looks at. */
export type Entry = {
  /** Its slots, taken, disabled or not. */
  readonly size: number;
  /** Its slots that a run can get once other runs end: neither disabled nor held by processes that cannot be killed. */
  readonly usable: number;
  /** The slots that a run could have now. */
  readonly free: number;
  /** `free` if no run holds one of the slots, else 0. */
  readonly whole: number;
  /** Its runs without slots. */
  readonly slotless: number;
  readonly takesWork: boolean;
};

/** Agents by what is free on them, for questions that have to be answered without a look at each. */
export class AgentIndex {
  readonly #entries = new Map<number, Entry>();
  readonly #byFree = new OrdinalGroups();
  readonly #bySlotless = new OrdinalGroups();
  readonly #wholeBySize = new OrdinalGroups();
  /** All agents. */
  readonly known = new Sizes();
  /** Those that take work. */
  readonly present = new Sizes();
  /** Those that take work, by their usable slots. */
  readonly usable = new Sizes();
  #freeSlots = 0;

  /** Null takes the agent out. */
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

  /** The most slots that one agent has free; -1 without agents. */
  get mostFree(): number {
    return this.#byFree.highest;
  }

  /**
   * Returns, of the agents with at least this many free slots, one with the fewest, and of equal ones the earliest
   * joined.
   */
  tightest(slots: number): number | undefined {
    return this.#byFree.firstFrom(slots);
  }

  /** Returns, of the agents with the most free slots, the earliest joined, if it has this many. */
  roomiest(slots: number): number | undefined {
    const { highest } = this.#byFree;
    return highest < slots ? undefined : this.#byFree.members(highest)[0];
  }

  /** The agent with the fewest runs without slots, if it has fewer than the limit. */
  leastSlotless(below: number): number | undefined {
    const ordinal = this.#bySlotless.firstFrom(0);
    if (ordinal === undefined) return undefined;
    return (this.#entries.get(ordinal)?.slotless ?? below) < below ? ordinal : undefined;
  }

  /** The sizes of agents of which no slot is taken. */
  wholeSizes(): readonly number[] {
    return this.#wholeBySize.descending();
  }

  /** The agents of this size of which no slot is taken. */
  wholeOf(size: number): readonly number[] {
    return this.#wholeBySize.members(size);
  }

  /** Agents with free slots, those with the most first. */
  *byMostFree(): Generator<{ readonly ordinal: number; readonly free: number }> {
    for (const free of this.#byFree.descending()) {
      if (free === 0) return;
      for (const ordinal of this.#byFree.members(free)) yield { ordinal, free };
    }
  }
}

/** How many agents have how many slots. */
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

  /** The most slots that one agent has; 0 without agents. */
  get largest(): number {
    return Math.max(0, ...this.#counts.keys());
  }

  /** The number of agents by their slots. */
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
