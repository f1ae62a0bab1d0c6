/**
 * A sorted list of entries in blocks of a few hundred. An insertion among 100,000 entries moves only one block, and the
 * place of an entry is found by adding some hundred block sizes. It is plain data, so a snapshot stores it unchanged.
 */
import type { UndoLog } from "./undo-log.ts";

/** An entry; entries are ordered by value, then by order, and no two have the same of both. */
export type Entry = { readonly value: number; readonly order: number; readonly trial: number };

/** The entries of a block, each as value, order and trial. */
type Block = readonly number[];

export type Ranking = {
  readonly size: number;
  /** The blocks in order; none is empty. */
  readonly blocks: readonly Block[];
};

/** The number of numbers per entry in a block. */
const STRIDE = 3;
const BLOCK_MAX = 256;

export function emptyRanking(): Ranking {
  return { size: 0, blocks: [] };
}

function sizeOf(block: Block): number {
  return block.length / STRIDE;
}

function entryIn(block: Block, index: number): Entry {
  const at = index * STRIDE;
  const [value = 0, order = 0, trial = 0] = block.slice(at, at + STRIDE);
  return { value, order, trial };
}

/** Whether the entry at an index of a block comes before another. */
function isBefore(block: Block, index: number, { value, order }: Entry): boolean {
  const own = block[index * STRIDE] as number;
  return own < value || (own === value && (block[index * STRIDE + 1] as number) < order);
}

/** Returns the last block that begins before the entry, or else the first block. */
function blockOf({ blocks }: Ranking, entry: Entry): number {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (isAtOrBefore(blocks[middle] as Block, entry)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** True if the block's first entry is this entry or an earlier one. */
function isAtOrBefore(block: Block, entry: Entry): boolean {
  return isBefore(block, 0, entry) || (block[0] === entry.value && block[1] === entry.order);
}

/** Returns the index of the entry in the block, or of its insertion. */
function indexIn(block: Block, entry: Entry): number {
  let low = 0;
  let high = sizeOf(block);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(block, middle, entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function insert(undo: UndoLog, ranking: Ranking, entry: Entry): void {
  const { blocks, size } = ranking;
  const { value, order, trial } = entry;
  const at = blockOf(ranking, entry);
  const block = blocks[at];
  undo.set(ranking, "size", size + 1);
  if (block === undefined) {
    undo.push(blocks, [value, order, trial]);
    return;
  }
  undo.splice(block, indexIn(block, entry) * STRIDE, 0, value, order, trial);
  if (sizeOf(block) <= BLOCK_MAX) return;
  const half = (BLOCK_MAX / 2) * STRIDE;
  const upper = block.slice(half);
  undo.splice(block, half, upper.length);
  undo.splice(blocks, at + 1, 0, upper);
}

/** Removes the entry with the same value and order, if it exists. */
export function remove(undo: UndoLog, ranking: Ranking, entry: Entry): void {
  const { blocks, size } = ranking;
  const at = blockOf(ranking, entry);
  const block = blocks[at];
  if (block === undefined) return;
  const index = indexIn(block, entry) * STRIDE;
  if (block[index] !== entry.value || block[index + 1] !== entry.order) return;
  undo.set(ranking, "size", size - 1);
  if (sizeOf(block) === 1) undo.splice(blocks, at, 1);
  else undo.splice(block, index, STRIDE);
}

/** Returns the number of entries before this one, whether or not the ranking contains it. */
export function placeOf(ranking: Ranking, entry: Entry): number {
  const { blocks } = ranking;
  const at = blockOf(ranking, entry);
  let place = indexIn(blocks[at] ?? [], entry);
  for (let before = 0; before < at; before += 1) place += sizeOf(blocks[before] as Block);
  return place;
}

export function entryAt(ranking: Ranking, place: number): Entry | undefined {
  return entriesBetween(ranking, place, place + 1)[0];
}

/** Returns the entries from index `from` up to `to`, exclusive, in order. */
export function entriesBetween({ blocks, size }: Ranking, from: number, to: number): Entry[] {
  const found: Entry[] = [];
  const last = Math.min(to, size);
  let before = 0;
  for (const block of blocks) {
    if (before >= last) break;
    const after = before + sizeOf(block);
    for (let place = Math.max(from, before); place < Math.min(last, after); place += 1) {
      found.push(entryIn(block, place - before));
    }
    before = after;
  }
  return found;
}
