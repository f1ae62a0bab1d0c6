/**
 * Entries in order, where the place of an entry and the entry at a place are found in O(log n), and of which every version
 * stays valid (`versions.ts`). The entries lie in blocks of at most 128; a tree of partial sums over the blocks' sizes
 * tells how many come before each (P. M. Fenwick, "A new data structure for cumulative frequency tables", 1994). In a
 * snapshot it is `{ size, entries }`, and what was read from one can be used as it is.
 */
import { changed, type Root, rootOf, Version } from "./versions.ts";

/** Ordered by value, then by order; no two entries of a ranking have both in common. */
export type Entry = { readonly value: number; readonly order: number; readonly trial: number };

/** Opaque, but for its size. */
export type Ranking = { readonly size: number; readonly entries?: readonly Entry[] };

type Change = { readonly entry: Entry; readonly comes: boolean };

const BLOCK_MAX = 128;

/** Entries by what they have, so that a block is three lists of numbers: little to search through, nothing to collect. */
type Block = { readonly values: number[]; readonly orders: number[]; readonly trials: number[] };

class Blocks implements Root<Change> {
  blocks: Block[] = [];
  /** Fenwick's tree over the sizes of the blocks, from index 1. */
  sums: number[] = [0];
  size = 0;

  static of(entries: readonly Entry[]): Blocks {
    const made = new Blocks();
    for (let from = 0; from < entries.length; from += BLOCK_MAX / 2) {
      const own = entries.slice(from, from + BLOCK_MAX / 2);
      made.blocks.push({
        values: own.map(({ value }) => value),
        orders: own.map(({ order }) => order),
        trials: own.map(({ trial }) => trial),
      });
    }
    made.size = entries.length;
    made.recount();
    return made;
  }

  apply({ entry, comes }: Change): Change {
    const at = this.blockOf(entry);
    const block = this.blocks[at];
    if (comes) this.insert(at, block, entry);
    else if (block !== undefined) this.remove(at, block, entry);
    return { entry, comes: !comes };
  }

  insert(at: number, block: Block | undefined, entry: Entry): void {
    this.size += 1;
    if (block === undefined) {
      this.blocks.push({ values: [entry.value], orders: [entry.order], trials: [entry.trial] });
      this.recount();
      return;
    }
    const place = placeIn(block, entry);
    block.values.splice(place, 0, entry.value);
    block.orders.splice(place, 0, entry.order);
    block.trials.splice(place, 0, entry.trial);
    if (block.values.length <= BLOCK_MAX) {
      this.count(at, 1);
      return;
    }
    const half = BLOCK_MAX / 2;
    this.blocks.splice(at + 1, 0, {
      values: block.values.splice(half),
      orders: block.orders.splice(half),
      trials: block.trials.splice(half),
    });
    this.recount();
  }

  remove(at: number, block: Block, entry: Entry): void {
    this.size -= 1;
    const place = placeIn(block, entry);
    block.values.splice(place, 1);
    block.orders.splice(place, 1);
    block.trials.splice(place, 1);
    if (block.values.length > 0) {
      this.count(at, -1);
      return;
    }
    this.blocks.splice(at, 1);
    this.recount();
  }

  count(at: number, by: number): void {
    for (let i = at + 1; i < this.sums.length; i += i & -i) this.sums[i] = (this.sums[i] ?? 0) + by;
  }

  recount(): void {
    const { blocks } = this;
    const sums = [0];
    for (const { values } of blocks) sums.push(values.length);
    for (let i = 1; i < sums.length; i += 1) {
      const above = i + (i & -i);
      if (above < sums.length) sums[above] = (sums[above] ?? 0) + (sums[i] ?? 0);
    }
    this.sums = sums;
  }

  /** How many entries lie in the blocks before this one. */
  before(at: number): number {
    let sum = 0;
    for (let i = at; i > 0; i -= i & -i) sum += this.sums[i] ?? 0;
    return sum;
  }

  /** The last block that begins with this entry or before it; the first when none does. */
  blockOf(entry: Entry): number {
    let low = 0;
    let high = this.blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (isBeforeAt(entry, this.blocks[middle] as Block, 0)) high = middle - 1;
      else low = middle;
    }
    return low;
  }

  /** The block in which a place lies, and the places before it. */
  blockAt(place: number): { readonly at: number; readonly before: number } {
    let at = 0;
    let before = 0;
    for (let step = 1 << (31 - Math.clz32(this.sums.length)); step > 0; step >>>= 1) {
      const sum = this.sums[at + step];
      if (sum === undefined || before + sum > place) continue;
      at += step;
      before += sum;
    }
    return { at, before };
  }

  all(): Entry[] {
    return this.blocks.flatMap((block) => block.values.map((_, at) => entryIn(block, at)));
  }

  copy(): Blocks {
    return Blocks.of(this.all());
  }

  toJSON(): unknown {
    return { size: this.size, entries: this.all() };
  }
}

function entryIn({ values, orders, trials }: Block, at: number): Entry {
  return {
    value: values[at] as number,
    order: orders[at] as number,
    trial: trials[at] as number,
  };
}

/** Whether the entry comes before the one at a place of the block. */
function isBeforeAt({ value, order }: Entry, { values, orders }: Block, at: number): boolean {
  const other = values[at] as number;
  return value < other || (value === other && order < (orders[at] as number));
}

/** How many entries of the block come before this one. */
function placeIn({ values, orders }: Block, { value, order }: Entry): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = values[middle] as number;
    if (other < value || (other === value && (orders[middle] as number) < order)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

type BlocksVersion = Version<Blocks, Change>;

/** Versions of what came out of a snapshot, which itself stays as it is. */
const read = new WeakMap<object, BlocksVersion>();

function versionOf(ranking: Ranking): BlocksVersion {
  if (ranking instanceof Version) return ranking as BlocksVersion;
  const known = read.get(ranking);
  if (known !== undefined) return known;
  const version: BlocksVersion = new Version(Blocks.of(ranking.entries ?? []));
  read.set(ranking, version);
  return version;
}

export const emptyRanking: Ranking = new Version<Blocks, Change>(new Blocks());

export function inserted(ranking: Ranking, entry: Entry): Ranking {
  return changed(versionOf(ranking), { entry, comes: true });
}

/** Without the entry of the same value and order; the same ranking when it has none. */
export function removed(ranking: Ranking, entry: Entry): Ranking {
  const version = versionOf(ranking);
  const root = rootOf(version);
  const block = root.blocks[root.blockOf(entry)];
  if (block === undefined) return ranking;
  const place = placeIn(block, entry);
  if (place === block.values.length || isBeforeAt(entry, block, place)) return ranking;
  return changed(version, { entry: entryIn(block, place), comes: false });
}

/** How many entries come before this one, whether or not it is among them. */
export function placeOf(ranking: Ranking, entry: Entry): number {
  const root = rootOf(versionOf(ranking));
  const at = root.blockOf(entry);
  const block = root.blocks[at];
  return block === undefined ? 0 : root.before(at) + placeIn(block, entry);
}

export function entryAt(ranking: Ranking, place: number): Entry | undefined {
  if (place < 0 || place >= ranking.size) return undefined;
  const root = rootOf(versionOf(ranking));
  const { at, before } = place === 0 ? { at: 0, before: 0 } : root.blockAt(place);
  return entryIn(root.blocks[at] as Block, place - before);
}

/** The entries from a place up to before another, in order: O(log n) beyond what it gives. */
export function entriesBetween(ranking: Ranking, from: number, to: number): Entry[] {
  const last = Math.min(to, ranking.size);
  let place = Math.max(0, from);
  const found: Entry[] = [];
  if (place >= last) return found;
  const root = rootOf(versionOf(ranking));
  let { at, before } = root.blockAt(place);
  while (place < last) {
    const block = root.blocks[at] as Block;
    const end = Math.min(block.values.length, last - before);
    for (let i = place - before; i < end; i += 1) found.push(entryIn(block, i));
    before += block.values.length;
    place = before;
    at += 1;
  }
  return found;
}
