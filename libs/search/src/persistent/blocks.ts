/**
 * Entries in order, in blocks of at most 128, where the place of an entry and the entry at a place are found in O(log n).
 * All blocks lie in the same three arrays of numbers, and the first values of the blocks beside each other in a fourth: a
 * search among a hundred thousand entries reads two short stretches of memory, and the garbage collector nothing. A tree
 * of partial sums over the blocks' sizes tells how many entries come before each (P. M. Fenwick, "A new data structure for
 * cumulative frequency tables", 1994).
 */

/** Ordered by value, then by order; no two entries have both in common. Order and trial are whole numbers below 2^31. */
export type Entry = { readonly value: number; readonly order: number; readonly trial: number };

const BLOCK_MAX = 128;

// `private` and not `#`: what is read is counted through a proxy, which has no fields of its own.
export class Blocks {
  size = 0;
  private count = 0;
  /** Which stretch of the entries' arrays the block at a place has. The stretches after those of all blocks are free. */
  private stretches = Int32Array.of(0);
  /** By stretch. */
  private sizes = new Int32Array(1);
  /** By place: the value that the block begins with. */
  private firsts = new Float64Array(1);
  /** Fenwick's tree over the sizes of the blocks in their places, from index 1. */
  private sums = new Int32Array(2);
  private values = new Float64Array(BLOCK_MAX);
  private orders = new Int32Array(BLOCK_MAX);
  private trials = new Int32Array(BLOCK_MAX);

  insert({ value, order, trial }: Entry): void {
    if (this.count === 0) this.open(0);
    const at = this.blockOf(value, order);
    const stretch = this.stretches[at] as number;
    const values = this.values;
    const orders = this.orders;
    const trials = this.trials;
    const place = this.indexIn(at, value, order);
    let index = stretch * BLOCK_MAX + (this.sizes[stretch] as number);
    for (; index > place; index -= 1) {
      values[index] = values[index - 1] as number;
      orders[index] = orders[index - 1] as number;
      trials[index] = trials[index - 1] as number;
    }
    values[place] = value;
    orders[place] = order;
    trials[place] = trial;
    this.changed(at, 1);
    if (this.sizes[stretch] === BLOCK_MAX) this.split(at);
  }

  /** Takes an entry out that is there. */
  remove({ value, order }: Entry): void {
    const at = this.blockOf(value, order);
    const stretch = this.stretches[at] as number;
    const values = this.values;
    const orders = this.orders;
    const trials = this.trials;
    const last = stretch * BLOCK_MAX + (this.sizes[stretch] as number) - 1;
    for (let index = this.indexIn(at, value, order); index < last; index += 1) {
      values[index] = values[index + 1] as number;
      orders[index] = orders[index + 1] as number;
      trials[index] = trials[index + 1] as number;
    }
    this.changed(at, -1);
    if (this.sizes[stretch] === 0) this.close(at);
  }

  /** The entry of this value and order; undefined for none. */
  find({ value, order }: Entry): Entry | undefined {
    if (this.count === 0) return undefined;
    const at = this.blockOf(value, order);
    const stretch = this.stretches[at] as number;
    const index = this.indexIn(at, value, order);
    if (index === stretch * BLOCK_MAX + (this.sizes[stretch] as number)) return undefined;
    const isThere = this.values[index] === value && this.orders[index] === order;
    return isThere ? this.entry(index) : undefined;
  }

  /** How many entries come before this one, whether or not it is there. */
  placeOf({ value, order }: Entry): number {
    if (this.count === 0) return 0;
    const at = this.blockOf(value, order);
    const start = (this.stretches[at] as number) * BLOCK_MAX;
    return this.before(at) + this.indexIn(at, value, order) - start;
  }

  /** The entry at a place, from 0 up to the size. */
  at(place: number): Entry {
    const { at, before } = this.blockAt(place);
    return this.entry((this.stretches[at] as number) * BLOCK_MAX + place - before);
  }

  /** Looks at the entries from a place up to before another, in order. */
  each(
    from: number,
    to: number,
    look: (trial: number, value: number, order: number) => void,
  ): void {
    if (from >= to) return;
    let { at, before } = this.blockAt(from);
    for (let place = from; place < to; at += 1) {
      const stretch = this.stretches[at] as number;
      const after = before + (this.sizes[stretch] as number);
      for (const end = Math.min(to, after); place < end; place += 1) {
        const index = stretch * BLOCK_MAX + place - before;
        const value = this.values[index] as number;
        look(this.trials[index] as number, value, this.orders[index] as number);
      }
      before = after;
    }
  }

  private entry(index: number): Entry {
    return {
      value: this.values[index] as number,
      order: this.orders[index] as number,
      trial: this.trials[index] as number,
    };
  }

  /** The place of the last block that begins before this entry or with it; of the first when none does. */
  private blockOf(value: number, order: number): number {
    const firsts = this.firsts;
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const first = firsts[middle] as number;
      if (value < first || (value === first && order < this.firstOrder(middle))) high = middle - 1;
      else low = middle;
    }
    return low;
  }

  private firstOrder(at: number): number {
    return this.orders[(this.stretches[at] as number) * BLOCK_MAX] as number;
  }

  /** Where in the entries' arrays the entry is, or would be, if it is of this block. */
  private indexIn(at: number, value: number, order: number): number {
    const values = this.values;
    const stretch = this.stretches[at] as number;
    let low = stretch * BLOCK_MAX;
    let high = low + (this.sizes[stretch] as number);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = values[middle] as number;
      if (other < value || (other === value && (this.orders[middle] as number) < order)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** How many entries lie in the blocks before this one. */
  private before(at: number): number {
    let sum = 0;
    for (let i = at; i > 0; i -= i & -i) sum += this.sums[i] as number;
    return sum;
  }

  /** The block in which a place lies, and the places before it. */
  private blockAt(place: number): { readonly at: number; readonly before: number } {
    let at = 0;
    let before = 0;
    for (let step = 1 << (31 - Math.clz32(this.count)); step > 0; step >>>= 1) {
      if (at + step > this.count) continue;
      const sum = this.sums[at + step] as number;
      if (before + sum > place) continue;
      at += step;
      before += sum;
    }
    return { at, before };
  }

  /** A block has so many entries more, and maybe another first one. */
  private changed(at: number, by: number): void {
    const stretch = this.stretches[at] as number;
    this.size += by;
    this.sizes[stretch] = (this.sizes[stretch] as number) + by;
    this.firsts[at] = this.values[stretch * BLOCK_MAX] as number;
    const sums = this.sums;
    for (let i = at + 1; i <= this.count; i += i & -i) sums[i] = (sums[i] as number) + by;
  }

  /** The upper half of a block becomes a block of its own. */
  private split(at: number): void {
    this.open(at + 1);
    const half = BLOCK_MAX / 2;
    const [lower, upper] = [this.stretches[at] as number, this.stretches[at + 1] as number];
    const [from, to] = [lower * BLOCK_MAX + half, upper * BLOCK_MAX];
    for (const list of [this.values, this.orders, this.trials]) {
      for (let i = 0; i < half; i += 1) list[to + i] = list[from + i] as number;
    }
    this.sizes[lower] = half;
    this.sizes[upper] = half;
    this.firsts[at + 1] = this.values[to] as number;
    this.recount();
  }

  /** Makes place for an empty block. */
  private open(at: number): void {
    if (this.count === this.stretches.length) this.grow();
    const free = this.stretches[this.count] as number;
    for (let place = this.count; place > at; place -= 1) {
      this.stretches[place] = this.stretches[place - 1] as number;
      this.firsts[place] = this.firsts[place - 1] as number;
    }
    this.stretches[at] = free;
    this.sizes[free] = 0;
    this.count += 1;
    this.recount();
  }

  /** Takes an empty block away. */
  private close(at: number): void {
    const free = this.stretches[at] as number;
    this.count -= 1;
    for (let place = at; place < this.count; place += 1) {
      this.stretches[place] = this.stretches[place + 1] as number;
      this.firsts[place] = this.firsts[place + 1] as number;
    }
    this.stretches[this.count] = free;
    this.recount();
  }

  private recount(): void {
    const sums = this.sums;
    for (let i = 1; i <= this.count; i += 1) {
      sums[i] = this.sizes[this.stretches[i - 1] as number] as number;
    }
    for (let i = 1; i <= this.count; i += 1) {
      const above = i + (i & -i);
      if (above <= this.count) sums[above] = (sums[above] as number) + (sums[i] as number);
    }
  }

  private grow(): void {
    const blocks = this.count * 2;
    this.stretches = Int32Array.from({ length: blocks }, (_, i) => this.stretches[i] ?? i);
    this.sizes = copied(this.sizes, new Int32Array(blocks));
    this.firsts = copied(this.firsts, new Float64Array(blocks));
    this.sums = copied(this.sums, new Int32Array(blocks + 1));
    this.values = copied(this.values, new Float64Array(blocks * BLOCK_MAX));
    this.orders = copied(this.orders, new Int32Array(blocks * BLOCK_MAX));
    this.trials = copied(this.trials, new Int32Array(blocks * BLOCK_MAX));
  }
}

function copied<List extends Int32Array | Float64Array>(from: List, to: List): List {
  to.set(from);
  return to;
}
