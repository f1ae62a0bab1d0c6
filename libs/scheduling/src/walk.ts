/**
 * Walks lanes in the order of a policy: a heap of their heads. Ranks may get worse when a run is taken, never better;
 * so the rank of a head is looked at again only if a run was taken since.
 */
import type { Demand } from "./demand.ts";
import type { Lane } from "./queue.ts";

/** The place of a run in the walk: the smaller rank goes first, compared number by number. */
export type Rank = readonly number[];

type Head = {
  readonly lane: Lane;
  readonly index: number;
  readonly demand: Demand;
  rank: Rank;
  /** How many runs had been taken when it was ranked. */
  rankedAfter: number;
};

/** A run whose turn it is. Its whole lane is passed, unless `take` continues with the next run of the lane. */
export type Turn = {
  readonly demand: Demand;
  readonly lane: Lane;
  readonly index: number;
  take(): void;
};

export class Walk {
  readonly #heap: Head[] = [];
  readonly #rankOf: (demand: Demand) => Rank;
  #taken = 0;

  constructor(
    lanes: Iterable<{ readonly lane: Lane; readonly from: number }>,
    rankOf: (demand: Demand) => Rank,
  ) {
    this.#rankOf = rankOf;
    for (const { lane, from } of lanes) this.#push(lane, from);
  }

  /** Null at the end. */
  next(): Turn | null {
    for (let head = this.#heap[0]; head !== undefined; head = this.#heap[0]) {
      if (head.rankedAfter === this.#taken) return this.#turnOf(head);
      const rank = this.#rankOf(head.demand);
      head.rankedAfter = this.#taken;
      if (compareRanks(rank, head.rank) <= 0) return this.#turnOf(head);
      head.rank = rank;
      this.#sink();
    }
    return null;
  }

  #turnOf({ lane, index, demand }: Head): Turn {
    this.#pop();
    const take = (): void => {
      this.#taken += 1;
      this.#push(lane, index + 1);
    };
    return { demand, lane, index, take };
  }

  #push(lane: Lane, from: number): void {
    const next = lane.from(from);
    if (next === null) return;
    const heap = this.#heap;
    let at = heap.length;
    const rank = this.#rankOf(next.demand);
    heap.push({ lane, ...next, rank, rankedAfter: this.#taken });
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink();
  }

  /** Moves the first to where its rank belongs. */
  #sink(): void {
    let at = 0;
    for (;;) {
      const [left, right] = [at * 2 + 1, at * 2 + 2];
      let first = at;
      if (left < this.#heap.length && this.#isBefore(left, first)) first = left;
      if (right < this.#heap.length && this.#isBefore(right, first)) first = right;
      if (first === at) return;
      this.#swap(at, first);
      at = first;
    }
  }

  #isBefore(a: number, b: number): boolean {
    return compareRanks((this.#heap[a] as Head).rank, (this.#heap[b] as Head).rank) < 0;
  }

  #swap(a: number, b: number): void {
    const kept = this.#heap[a] as Head;
    this.#heap[a] = this.#heap[b] as Head;
    this.#heap[b] = kept;
  }
}

export function compareRanks(a: Rank, b: Rank): number {
  for (let at = 0; at < a.length; at += 1) {
    const [left, right] = [a[at] ?? 0, b[at] ?? 0];
    // A difference of two infinities is no number.
    if (left < right) return -1;
    if (left > right) return 1;
  }
  return 0;
}
