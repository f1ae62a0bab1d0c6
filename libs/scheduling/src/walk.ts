/**
 * Walks lanes in the order of a policy, with a heap of the lanes' heads. Taking a run may make ranks worse, but never
 * better. A head is therefore ranked again only if a run was taken since its last ranking.
 */
import type { Demand } from "./demand.ts";
import type { Lane } from "./queue.ts";

/** The order of a run in the walk: ranks are compared number by number, and the smaller one goes first. */
export type Rank = readonly number[];

type Head = {
  readonly lane: Lane;
  readonly index: number;
  readonly demand: Demand;
  rank: Rank;
  /** The number of runs that had been taken when the head was ranked. */
  rankedAfter: number;
};

/** The run at the head of the walk. The walk leaves its lane, unless `take` continues with the lane's next run. */
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

  /** Returns the next run in the order; null at the end. */
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

  /** Restores the heap order after the rank of the first head changed. */
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
    // Compared without subtraction, because the difference of two infinities is NaN.
    if (left < right) return -1;
    if (left > right) return 1;
  }
  return 0;
}
