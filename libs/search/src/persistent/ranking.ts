/**
 * Entries in order (`blocks.ts`), of which every version stays valid (`versions.ts`). In a snapshot it is three lists of
 * numbers, and what was read from one can be used as it is.
 */
import { Blocks, type Entry } from "./blocks.ts";
import { changed, type Root, rootOf, Version } from "./versions.ts";

export type { Entry } from "./blocks.ts";

/** Opaque, but for its size. */
export type Ranking = { readonly size: number } & Partial<Stored>;

type Stored = {
  readonly values: readonly number[];
  readonly orders: readonly number[];
  readonly trials: readonly number[];
};

type Change = { readonly entry: Entry; comes: boolean };

class Ranked implements Root<Change> {
  readonly blocks = new Blocks();

  static of({ values = [], orders = [], trials = [] }: Partial<Stored>): Ranked {
    const made = new Ranked();
    for (const [at, value] of values.entries()) {
      made.blocks.insert({ value, order: orders[at] ?? 0, trial: trials[at] ?? 0 });
    }
    return made;
  }

  get size(): number {
    return this.blocks.size;
  }

  apply(change: Change): void {
    if (change.comes) this.blocks.insert(change.entry);
    else this.blocks.remove(change.entry);
    change.comes = !change.comes;
  }

  copy(): Ranked {
    return Ranked.of(this.stored());
  }

  private stored(): Stored {
    const { blocks } = this;
    const values: number[] = [];
    const orders: number[] = [];
    const trials: number[] = [];
    blocks.each(0, blocks.size, (trial, value, order) => {
      values.push(value);
      orders.push(order);
      trials.push(trial);
    });
    return { values, orders, trials };
  }

  toJSON(): unknown {
    return { size: this.size, ...this.stored() };
  }
}

type RankedVersion = Version<Ranked, Change>;

/** Versions of what came out of a snapshot, which itself stays as it is. */
const read = new WeakMap<object, RankedVersion>();

function versionOf(ranking: Ranking): RankedVersion {
  if (ranking instanceof Version) return ranking as RankedVersion;
  const known = read.get(ranking);
  if (known !== undefined) return known;
  const version: RankedVersion = new Version(Ranked.of(ranking));
  read.set(ranking, version);
  return version;
}

function blocksOf(ranking: Ranking): Blocks {
  return rootOf(versionOf(ranking)).blocks;
}

export const emptyRanking: Ranking = new Version<Ranked, Change>(new Ranked());

export function inserted(ranking: Ranking, entry: Entry): Ranking {
  return changed(versionOf(ranking), { entry, comes: true });
}

/** Without the entry of the same value and order; the same ranking when it has none. */
export function removed(ranking: Ranking, entry: Entry): Ranking {
  const found = blocksOf(ranking).find(entry);
  return found === undefined
    ? ranking
    : changed(versionOf(ranking), { entry: found, comes: false });
}

/** How many entries come before this one, whether or not it is among them. */
export function placeOf(ranking: Ranking, entry: Entry): number {
  return blocksOf(ranking).placeOf(entry);
}

export function entryAt(ranking: Ranking, place: number): Entry | undefined {
  return place < 0 || place >= ranking.size ? undefined : blocksOf(ranking).at(place);
}

/** Looks at the entries from a place up to before another, in order: O(log n) beyond their number. */
export function eachBetween(
  ranking: Ranking,
  from: number,
  to: number,
  look: (trial: number, value: number, order: number) => void,
): void {
  blocksOf(ranking).each(Math.max(0, from), Math.min(to, ranking.size), look);
}

/** The entries from a place up to before another, in order. */
export function entriesBetween(ranking: Ranking, from: number, to: number): Entry[] {
  const found: Entry[] = [];
  eachBetween(ranking, from, to, (trial, value, order) => found.push({ value, order, trial }));
  return found;
}
