import type { PlacedRun } from "./placed.ts";

/**
 * Placed runs in an order that depends only on the runs, in a sorted array. An update is a binary search and a memory
 * move, and a reader that stops early pays only for the runs that it reads.
 */
export class SortedRuns {
  readonly #compare: (a: PlacedRun, b: PlacedRun) => number;
  readonly #runs: PlacedRun[] = [];

  /** `compare` must never return 0 for two different runs. */
  constructor(compare: (a: PlacedRun, b: PlacedRun) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#runs.length;
  }

  add(run: PlacedRun): void {
    this.#runs.splice(this.#placeOf(run), 0, run);
  }

  remove(run: PlacedRun): void {
    const at = this.#placeOf(run);
    if (this.#runs[at] === run) this.#runs.splice(at, 1);
  }

  forwards(): Iterable<PlacedRun> {
    return this.#runs;
  }

  *backwards(): Generator<PlacedRun> {
    for (let at = this.#runs.length - 1; at >= 0; at -= 1) yield this.#runs[at] as PlacedRun;
  }

  #placeOf(run: PlacedRun): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#runs[middle] as PlacedRun, run) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
