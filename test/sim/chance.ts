import { draw, drawInteger } from "@trainyard/kernel";

/** Random values in the order of the calls: worlds with the same seed make the same calls. */
export class Chance {
  readonly #seed: number;
  readonly #stream: string;
  #n = 0;

  constructor(seed: number, stream: string) {
    this.#seed = seed;
    this.#stream = stream;
  }

  /** True with this probability. */
  happens(probability: number): boolean {
    this.#n += 1;
    return draw(this.#seed, this.#stream, this.#n) < probability;
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    this.#n += 1;
    return low + drawInteger(this.#seed, this.#stream, this.#n, high - low + 1);
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.between(0, items.length - 1)] ?? items[0];
  }
}
