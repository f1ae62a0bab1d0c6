/**
 * Entries in order, in blocks of a few hundred, so that an insertion among a hundred thousand moves a few hundred and the
 * place of an entry is found by adding up some hundred sizes. Plain data: a snapshot stores it as it is.
 */
import type { UndoLog } from "./undo-log.ts";

/** Ordered by value, then by order; no two entries have both in common. */
export type Entry = { readonly value: number; readonly order: number; readonly trial: number };

export type Ranking = {
  readonly size: number;
  /** None is empty. */
  readonly blocks: readonly (readonly Entry[])[];
};

const BLOCK_MAX = 256;

export function emptyRanking(): Ranking {
  return { size: 0, blocks: [] };
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.value < other.value || (one.value === other.value && one.order < other.order);
}

/** The last block that begins before the entry or with it; the first where none does. */
function blockOf({ blocks }: Ranking, entry: Entry): number {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (isBefore(entry, blocks[middle]?.[0] as Entry)) high = middle - 1;
    else low = middle;
  }
  return low;
}

/** Where in the block the entry is, or would be. */
function indexIn(block: readonly Entry[], entry: Entry): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(block[middle] as Entry, entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function insert(undo: UndoLog, ranking: Ranking, entry: Entry): void {
  const { blocks, size } = ranking;
  const at = blockOf(ranking, entry);
  const block = blocks[at];
  undo.set(ranking, "size", size + 1);
  if (block === undefined) {
    undo.push(blocks, [entry]);
    return;
  }
  undo.splice(block, indexIn(block, entry), 0, entry);
  if (block.length <= BLOCK_MAX) return;
  const half = block.length >>> 1;
  const upper = block.slice(half);
  undo.splice(block, half, upper.length);
  undo.splice(blocks, at + 1, 0, upper);
}

/** Takes out the entry of the same value and order, if there is one. */
export function remove(undo: UndoLog, ranking: Ranking, entry: Entry): void {
  const { blocks, size } = ranking;
  const at = blockOf(ranking, entry);
  const block = blocks[at] ?? [];
  const index = indexIn(block, entry);
  const found = block[index];
  if (found?.value !== entry.value || found.order !== entry.order) return;
  undo.set(ranking, "size", size - 1);
  if (block.length === 1) undo.splice(blocks, at, 1);
  else undo.splice(block, index, 1);
}

/** How many entries come before this one, whether or not it is among them. */
export function placeOf(ranking: Ranking, entry: Entry): number {
  const { blocks } = ranking;
  const at = blockOf(ranking, entry);
  let place = indexIn(blocks[at] ?? [], entry);
  for (let before = 0; before < at; before += 1) place += (blocks[before] as Entry[]).length;
  return place;
}

export function entryAt(ranking: Ranking, place: number): Entry | undefined {
  return entriesBetween(ranking, place, place + 1)[0];
}

/** The entries from a place up to before another, in order. */
export function entriesBetween({ blocks, size }: Ranking, from: number, to: number): Entry[] {
  const found: Entry[] = [];
  const last = Math.min(to, size);
  let before = 0;
  for (const block of blocks) {
    if (before >= last) break;
    const after = before + block.length;
    if (after > from) found.push(...block.slice(Math.max(0, from - before), last - before));
    before = after;
  }
  return found;
}
