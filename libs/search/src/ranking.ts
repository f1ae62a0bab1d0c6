/**
 * Entries in order, where the place of an entry and the entry at a place are found in O(log n): a weight-balanced tree
 * that is never changed, since `inserted` and `removed` give a new one that shares all but one path with the old. Plain
 * JSON, which snapshots store as it is. (Adams, "Efficient sets: a balancing act", 1993; Δ = 3, Γ = 2 of Hirai and
 * Yamamoto, "Balancing weight-balanced trees", 2011.)
 */

/** Ordered by value, then by order; no two entries of a ranking have both in common. */
export type Entry = { readonly value: number; readonly order: number; readonly trial: number };

export type Ranking = readonly [entry: Entry, size: number, left: Ranking, right: Ranking] | null;

const DELTA = 3;
const GAMMA = 2;

export function sizeOf(ranking: Ranking): number {
  return ranking === null ? 0 : ranking[1];
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.value < b.value || (a.value === b.value && a.order < b.order);
}

export function inserted(ranking: Ranking, entry: Entry): Ranking {
  if (ranking === null) return [entry, 1, null, null];
  const [own, , left, right] = ranking;
  return isBefore(entry, own)
    ? balanced(own, inserted(left, entry), right)
    : balanced(own, left, inserted(right, entry));
}

/** Without the entry of the same value and order; the same ranking when it has none. */
export function removed(ranking: Ranking, entry: Entry): Ranking {
  if (ranking === null) return null;
  const [own, , left, right] = ranking;
  if (isBefore(entry, own)) return balanced(own, removed(left, entry), right);
  if (isBefore(own, entry)) return balanced(own, left, removed(right, entry));
  if (left === null) return right;
  const next = entryAt(right, 0);
  return next === undefined ? left : balanced(next, left, removed(right, next));
}

/** How many entries come before this one, whether or not it is among them. */
export function placeOf(ranking: Ranking, entry: Entry): number {
  let place = 0;
  for (let node = ranking; node !== null; ) {
    const [own, , left, right]: NonNullable<Ranking> = node;
    if (isBefore(own, entry)) {
      place += sizeOf(left) + 1;
      node = right;
    } else {
      node = left;
    }
  }
  return place;
}

export function entryAt(ranking: Ranking, place: number): Entry | undefined {
  let rest = place;
  for (let node = ranking; node !== null; ) {
    const [own, , left, right]: NonNullable<Ranking> = node;
    const before = sizeOf(left);
    if (rest === before) return own;
    node = rest < before ? left : right;
    if (rest > before) rest -= before + 1;
  }
  return undefined;
}

/** The entries from a place up to before another, in order: O(log n) beyond what it gives. */
export function entriesBetween(ranking: Ranking, from: number, to: number): Entry[] {
  const found: Entry[] = [];
  collect(ranking, from, to, found);
  return found;
}

function collect(ranking: Ranking, from: number, to: number, found: Entry[]): void {
  if (ranking === null || to <= 0 || from >= ranking[1]) return;
  const [own, , left, right] = ranking;
  const before = sizeOf(left);
  collect(left, from, to, found);
  if (from <= before && before < to) found.push(own);
  collect(right, from - before - 1, to - before - 1, found);
}

function joined(entry: Entry, left: Ranking, right: Ranking): NonNullable<Ranking> {
  return [entry, sizeOf(left) + sizeOf(right) + 1, left, right];
}

function balanced(entry: Entry, left: Ranking, right: Ranking): Ranking {
  const leftWeight = sizeOf(left) + 1;
  const rightWeight = sizeOf(right) + 1;
  if (right !== null && rightWeight > DELTA * leftWeight) return turnedLeft(entry, left, right);
  if (left !== null && leftWeight > DELTA * rightWeight) return turnedRight(entry, left, right);
  return joined(entry, left, right);
}

function turnedLeft(entry: Entry, left: Ranking, right: NonNullable<Ranking>): Ranking {
  const [own, , inner, outer] = right;
  if (inner === null || sizeOf(inner) + 1 < GAMMA * (sizeOf(outer) + 1)) {
    return joined(own, joined(entry, left, inner), outer);
  }
  const [middle, , before, after] = inner;
  return joined(middle, joined(entry, left, before), joined(own, after, outer));
}

function turnedRight(entry: Entry, left: NonNullable<Ranking>, right: Ranking): Ranking {
  const [own, , outer, inner] = left;
  if (inner === null || sizeOf(inner) + 1 < GAMMA * (sizeOf(outer) + 1)) {
    return joined(own, outer, joined(entry, inner, right));
  }
  const [middle, , before, after] = inner;
  return joined(middle, joined(own, outer, before), joined(entry, after, right));
}
