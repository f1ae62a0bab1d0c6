/**
 * The waiting runs in lanes of equal runs: if the first run of a lane cannot start, none of the lane can. A pass
 * therefore visits only the heads of lanes, however long the queue is. A lane is ordered by the places of its jobs,
 * then by arrival: its head is the first of its runs under every policy. The policy ranks the heads.
 */
import type { Demand } from "./demand.ts";

export type Kind = "slotted" | "slotless";

/** The demand after changes to its job, and the lane to which it belongs. */
export type Shaped = {
  readonly demand: Demand;
  readonly lane: string;
  /** Two demands with the same shape either both fit or both do not. */
  readonly shape: string;
};

type Entry = { readonly asked: Demand; readonly demand: Demand; gone: boolean };

/** A queue of equal runs. Entries that left are marked as gone until the head has passed them. */
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

  /** The first waiting run. */
  get first(): Demand | undefined {
    return this.#entries[this.#head]?.demand;
  }

  /** Returns the first waiting run at or after an index, with its index. */
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
  /** The runs that avoid agents for a time. */
  readonly #avoiding = new Map<string, Demand>();
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
    if (asked.avoidUntilMs !== undefined) this.#avoiding.set(asked.id, asked);
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
    this.#avoiding.delete(id);
    lane.remove(entry);
    if (lane.size === 0) this.#lanes[lane.kind].delete(lane.key);
    this.#byJob.get(job)?.delete(id);
    this.#slotsByJob.set(job, this.slotsOf(job) - slots);
    if (this.#byJob.get(job)?.size !== 0) return;
    this.#byJob.delete(job);
    this.#slotsByJob.delete(job);
  }

  /** Recomputes the lanes of a job's runs, or of all runs. */
  reshape(job?: string): void {
    const ids = job === undefined ? [...this.#byId.keys()] : [...(this.#byJob.get(job) ?? [])];
    const asked = ids.map((id) => (this.#byId.get(id) as { entry: Entry }).entry.asked);
    for (const id of ids) this.remove(id);
    for (const demand of asked) this.add(demand);
  }

  /** Lets runs go anywhere that have avoided agents for long enough. Returns the next such time; infinite for none. */
  endAvoidance(nowMs: number): number {
    let nextMs = Number.POSITIVE_INFINITY;
    const due: Demand[] = [];
    for (const demand of this.#avoiding.values()) {
      const { avoidUntilMs = 0 } = demand;
      if (avoidUntilMs <= nowMs) due.push(demand);
      else nextMs = Math.min(nextMs, avoidUntilMs);
    }
    for (const { avoid: _avoided, avoidUntilMs: _untilMs, ...anywhere } of due) {
      this.remove(anywhere.id);
      this.add(anywhere);
    }
    return nextMs;
  }

  get size(): number {
    return this.#byId.size;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Returns a waiting run after changes to its job, and its lane. */
  find(id: string): { readonly demand: Demand; readonly lane: Lane } | undefined {
    const known = this.#byId.get(id);
    return known && { demand: known.entry.demand, lane: known.lane };
  }

  /** The ids of the jobs with waiting runs. */
  get jobs(): Iterable<string> {
    return this.#byJob.keys();
  }

  /** The number of slots for which the runs of a job wait. */
  slotsOf(job: string): number {
    return this.#slotsByJob.get(job) ?? 0;
  }

  /** Returns one of the waiting runs of a job. */
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

/** The place of the run's job; a run of a job without a place has its own. */
export function placeOf({ place, arrival }: Demand): number {
  return place ?? arrival;
}

function isBefore(a: Demand, b: Demand): boolean {
  const places = placeOf(a) - placeOf(b);
  return places === 0 ? a.arrival < b.arrival : places < 0;
}
