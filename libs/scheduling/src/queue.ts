/**
 * What waits, in the order in which it is looked at: by priority, within it by arrival. Demands of one priority that ask
 * for the same (slots, single agent, agents to avoid) share a lane, because when the first of a lane does not fit, none of it does: a
 * pass looks at the heads of lanes, however long the queue is. Runs with slots and runs without wait apart.
 */
import { type Demand, shapeOf } from "./demand.ts";

type Entry = { readonly demand: Demand; gone: boolean };

/** Demands of one shape, by arrival. Entries that left stay as gone until the head has passed them. */
class Lane {
  #entries: Entry[] = [];
  #head = 0;
  size = 0;

  add(entry: Entry): void {
    const last = this.#entries[this.#entries.length - 1];
    this.size += 1;
    if (last === undefined || last.demand.arrival <= entry.demand.arrival) {
      this.#entries.push(entry);
      return;
    }
    // Only a rebuilt queue adds out of order.
    const at = this.#entries.findIndex(
      (other, index) => index >= this.#head && other.demand.arrival > entry.demand.arrival,
    );
    this.#entries.splice(at < 0 ? this.#entries.length : at, 0, entry);
  }

  remove(entry: Entry): void {
    entry.gone = true;
    this.size -= 1;
    while (this.#entries[this.#head]?.gone === true) this.#head += 1;
    if (this.#head > 1_000 && this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }

  /** The first that waits at or after an index, with where it is. */
  from(index: number): { readonly demand: Demand; readonly index: number } | null {
    for (let at = Math.max(index, this.#head); at < this.#entries.length; at += 1) {
      const entry = this.#entries[at] as Entry;
      if (!entry.gone) return { demand: entry.demand, index: at };
    }
    return null;
  }
}

export type Kind = "slotted" | "slotless";

/** Walks the lanes of one priority in arrival order. */
export class LaneWalk {
  readonly #lanes: { readonly lane: Lane; at: number }[];

  constructor(lanes: Iterable<Lane>) {
    this.#lanes = [...lanes].map((lane) => ({ lane, at: 0 }));
  }

  /** The earliest demand that was not passed; null at the end. `take` passes it, `close` its whole lane. */
  next(): { readonly demand: Demand; take(): void; close(): void } | null {
    let best: { demand: Demand; index: number; walk: { at: number } } | null = null;
    for (const walk of this.#lanes) {
      const head = walk.lane.from(walk.at);
      if (head !== null && (best === null || head.demand.arrival < best.demand.arrival)) {
        best = { ...head, walk };
      }
    }
    if (best === null) return null;
    const { demand, index, walk } = best;
    return {
      demand,
      take: () => {
        walk.at = index + 1;
      },
      close: () => {
        walk.at = Number.MAX_SAFE_INTEGER;
      },
    };
  }
}

export class WaitingQueue {
  readonly #byId = new Map<string, { readonly entry: Entry; readonly lane: Lane }>();
  readonly #kinds: Record<Kind, Map<number, Map<string, Lane>>> = {
    slotted: new Map(),
    slotless: new Map(),
  };

  add(demand: Demand): void {
    if (this.#byId.has(demand.id)) return;
    const priorities = this.#kinds[kindOf(demand)];
    const lanes = priorities.get(demand.priority) ?? new Map<string, Lane>();
    priorities.set(demand.priority, lanes);
    const shape = shapeOf(demand);
    const lane = lanes.get(shape) ?? new Lane();
    lanes.set(shape, lane);
    const entry = { demand, gone: false };
    lane.add(entry);
    this.#byId.set(demand.id, { entry, lane });
  }

  remove(id: string): void {
    const known = this.#byId.get(id);
    if (known === undefined) return;
    this.#byId.delete(id);
    known.lane.remove(known.entry);
    if (known.lane.size > 0) return;
    const { demand } = known.entry;
    const priorities = this.#kinds[kindOf(demand)];
    const lanes = priorities.get(demand.priority);
    lanes?.delete(shapeOf(demand));
    if (lanes?.size === 0) priorities.delete(demand.priority);
  }

  get size(): number {
    return this.#byId.size;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  ofJob(job: string): readonly Demand[] {
    const waiting = [...this.#byId.values()].map(({ entry }) => entry.demand);
    return waiting.filter((demand) => demand.job === job);
  }

  /** The priorities at which something waits, best first. */
  priorities(kind: Kind): readonly number[] {
    return [...this.#kinds[kind].keys()].sort((a, b) => a - b);
  }

  walk(kind: Kind, priority: number): LaneWalk {
    return new LaneWalk(this.#kinds[kind].get(priority)?.values() ?? []);
  }
}

export function kindOf(demand: { readonly slots: number }): Kind {
  return demand.slots === 0 ? "slotless" : "slotted";
}
