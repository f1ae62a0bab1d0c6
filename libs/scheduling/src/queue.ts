/**
 * The runs that wait, in lanes. The runs of a lane are alike: when the first of a lane cannot start, none of it can. So
 * a pass looks at the heads of lanes, however long the queue is. A lane is in the order of places, then of arrivals,
 * and a job that was moved has lanes of its own; so the head of a lane has also waited longest. The policy ranks the
 * heads.
 */
import type { Demand } from "./demand.ts";

export type Kind = "slotted" | "slotless";

/** The demand as the pool sees it after changes to its job, and the lane to which it belongs. */
export type Shaped = {
  readonly demand: Demand;
  readonly lane: string;
  /** Demands of one shape fit together or do not fit together. */
  readonly shape: string;
};

type Entry = { readonly asked: Demand; readonly demand: Demand; gone: boolean };

/** Entries that left stay as gone until the head has passed them. */
export class Lane {
  readonly key: string;
  readonly kind: Kind;
  readonly shape: string;
  #entries: Entry[] = [];
  #head = 0;
  size = 0;

  constructor(key: string, kind: Kind, shape: string) {
    this.key = key;
    this.kind = kind;
    this.shape = shape;
  }

  add(entry: Entry): void {
    this.size += 1;
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(entry.demand, (this.#entries[middle] as Entry).demand)) high = middle;
      else low = middle + 1;
    }
    if (low === this.#entries.length) this.#entries.push(entry);
    else this.#entries.splice(low, 0, entry);
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

  /** The first that waits. */
  get first(): Demand | undefined {
    return this.#entries[this.#head]?.demand;
  }

  /** The first that waits at or after an index, with its index. */
  from(index: number): { readonly demand: Demand; readonly index: number } | null {
    for (let at = Math.max(index, this.#head); at < this.#entries.length; at += 1) {
      const entry = this.#entries[at] as Entry;
      if (!entry.gone) return { demand: entry.demand, index: at };
    }
    return null;
  }
}

export class WaitingQueue {
  readonly #byId = new Map<string, { readonly entry: Entry; readonly lane: Lane }>();
  readonly #lanes = { slotted: new Map<string, Lane>(), slotless: new Map<string, Lane>() };
  readonly #byJob = new Map<string, Set<string>>();
  readonly #slotsByJob = new Map<string, number>();
  readonly #shape: (demand: Demand) => Shaped;

  constructor(shape: (demand: Demand) => Shaped) {
    this.#shape = shape;
  }

  add(asked: Demand): void {
    if (this.#byId.has(asked.id)) return;
    const { demand, lane: name, shape } = this.#shape(asked);
    const kind = kindOf(demand);
    const lane = this.#lanes[kind].get(name) ?? new Lane(name, kind, shape);
    this.#lanes[kind].set(name, lane);
    const entry = { asked, demand, gone: false };
    lane.add(entry);
    this.#byId.set(demand.id, { entry, lane });
    const ofJob = this.#byJob.get(demand.job) ?? new Set<string>();
    this.#byJob.set(demand.job, ofJob.add(demand.id));
    this.#slotsByJob.set(demand.job, this.slotsOf(demand.job) + demand.slots);
  }

  remove(id: string): void {
    const known = this.#byId.get(id);
    if (known === undefined) return;
    const { entry, lane } = known;
    const { job, slots } = entry.demand;
    this.#byId.delete(id);
    lane.remove(entry);
    if (lane.size === 0) this.#lanes[lane.kind].delete(lane.key);
    this.#byJob.get(job)?.delete(id);
    this.#slotsByJob.set(job, this.slotsOf(job) - slots);
    if (this.#byJob.get(job)?.size !== 0) return;
    this.#byJob.delete(job);
    this.#slotsByJob.delete(job);
  }

  /** Shapes the runs of a job again, or all. */
  reshape(job?: string): void {
    const ids = job === undefined ? [...this.#byId.keys()] : [...(this.#byJob.get(job) ?? [])];
    const asked = ids.map((id) => (this.#byId.get(id) as { entry: Entry }).entry.asked);
    for (const id of ids) this.remove(id);
    for (const demand of asked) this.add(demand);
  }

  get size(): number {
    return this.#byId.size;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** A waiting run as the pool sees it, and its lane. */
  find(id: string): { readonly demand: Demand; readonly lane: Lane } | undefined {
    const known = this.#byId.get(id);
    return known && { demand: known.entry.demand, lane: known.lane };
  }

  /** The jobs that wait. */
  get jobs(): Iterable<string> {
    return this.#byJob.keys();
  }

  /** The slots for which the runs of a job wait. */
  slotsOf(job: string): number {
    return this.#slotsByJob.get(job) ?? 0;
  }

  /** One of the waiting runs of a job. */
  sampleOf(job: string): Demand | undefined {
    const [id] = this.#byJob.get(job) ?? [];
    return id === undefined ? undefined : this.#byId.get(id)?.entry.demand;
  }

  lanes(kind: Kind): readonly Lane[] {
    return [...this.#lanes[kind].values()];
  }
}

export function kindOf(demand: { readonly slots: number }): Kind {
  return demand.slots === 0 ? "slotless" : "slotted";
}

export function placeOf({ place, arrival }: Demand): number {
  return place ?? arrival;
}

function isBefore(a: Demand, b: Demand): boolean {
  const places = placeOf(a) - placeOf(b);
  return places === 0 ? a.arrival < b.arrival : places < 0;
}
