/**
 * The keys of a run's stored reports, kept as long as the run's points, so that a repeated report is recognised even
 * after compaction.
 *
 * A key is <node rank>-<n>; n rises, and a node's reports and system samples share it. The keys of a rank are therefore
 * a few ranges of numbers. Keys of another form, and keys that would split the ranges into too many, are loose: the
 * shell keeps them one by one.
 */
import { ByteReader, ByteWriter } from "./bytes.ts";

/** The ranges of numbers by node rank: the first and last number of each range, ascending, with gaps in between. */
export type KeyLedger = ReadonlyMap<number, readonly number[]>;

/** About 40 KiB of ranges; a run without lost reports has one range per node. */
const rangesMax = 4_096;

type NumberedKey = { readonly rank: number; readonly n: number };

function numbered(key: string): NumberedKey | null {
  const match = /^(0|[1-9]\d{0,5})-(0|[1-9]\d{0,13})$/.exec(key);
  return match === null ? null : { rank: Number(match[1]), n: Number(match[2]) };
}

export function hasKey(ledger: KeyLedger, key: string): boolean {
  const parsed = numbered(key);
  if (parsed === null) return false;
  const ranges = ledger.get(parsed.rank) ?? [];
  const index = rangeAt(ranges, parsed.n);
  return index >= 0 && parsed.n <= (ranges[index + 1] ?? -1);
}

export type LedgerChange = { readonly ledger: KeyLedger; readonly loose: readonly string[] };

/** Adds keys, which may be stored already. `loose` are the keys that the ledger does not store. */
export function addKeys(before: KeyLedger, keys: readonly string[]): LedgerChange {
  const ledger = new Map(before);
  const own = new Map<number, number[]>();
  const loose: string[] = [];
  let count = rangesOf(before);
  for (const key of keys) {
    const parsed = numbered(key);
    if (parsed === null) {
      loose.push(key);
      continue;
    }
    const { rank, n } = parsed;
    const ranges = own.get(rank) ?? [...(ledger.get(rank) ?? [])];
    own.set(rank, ranges);
    ledger.set(rank, ranges);
    const added = addNumber(ranges, n, count < rangesMax);
    if (added === null) loose.push(key);
    else count += added;
  }
  return { ledger, loose };
}

/** Changes the ranges and returns how many were added; null when a new range is needed but not allowed. */
function addNumber(ranges: number[], n: number, mayGrow: boolean): number | null {
  const index = rangeAt(ranges, n);
  const last = index < 0 ? Number.NEGATIVE_INFINITY : (ranges[index + 1] ?? 0);
  if (n <= last) return 0;
  const next = ranges[index < 0 ? 0 : index + 2];
  const joinsNext = next === n + 1;
  if (last === n - 1) {
    if (joinsNext) ranges.splice(index + 1, 2);
    else ranges[index + 1] = n;
    return joinsNext ? -1 : 0;
  }
  const after = index < 0 ? 0 : index + 2;
  if (joinsNext) {
    ranges[after] = n;
    return 0;
  }
  if (!mayGrow) return null;
  ranges.splice(after, 0, n, n);
  return 1;
}

/** The index of the last range that begins at or before n; -1 for none. */
function rangeAt(ranges: readonly number[], n: number): number {
  let [low, high] = [0, ranges.length / 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle * 2] ?? 0) <= n) low = middle + 1;
    else high = middle;
  }
  return (low - 1) * 2 < 0 ? -1 : (low - 1) * 2;
}

export const rangesOf = (ledger: KeyLedger): number =>
  [...ledger.values()].reduce((sum, ranges) => sum + ranges.length / 2, 0);

export function encodeLedger(ledger: KeyLedger): Uint8Array {
  const to = new ByteWriter();
  to.varint(ledger.size);
  for (const [rank, ranges] of ledger) {
    to.varint(rank);
    to.varint(ranges.length);
    let before = 0;
    for (const bound of ranges) {
      to.varint(bound - before);
      before = bound;
    }
  }
  return to.done();
}

/** Decodes a ledger; empty bytes are an empty ledger. */
export function decodeLedger(bytes: Uint8Array): KeyLedger {
  const ledger = new Map<number, readonly number[]>();
  if (bytes.length === 0) return ledger;
  const from = new ByteReader(bytes);
  for (let left = from.varint(); left > 0; left -= 1) {
    const rank = from.varint();
    let before = 0;
    const ranges = Array.from({ length: from.varint() }, () => (before += from.varint()));
    ledger.set(rank, ranges);
  }
  return ledger;
}
