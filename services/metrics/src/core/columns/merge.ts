/** Merges several tables into blocks, for compaction: in the order (step, key), each block within its limits. */
import { type Block, blockOf } from "./block.ts";
import { joinLists, joinTables, orderOf, reportsIn, type Table, takeReports } from "./table.ts";

/** A table and the size of its reports as JSON. */
export type Part = { readonly table: Table; readonly bytes: number };

export type BlockLimits = { readonly blockReportsMax: number; readonly blockBytesMax: number };

export type SizedBlock = Block & { readonly bytes: number };

export function mergeParts(parts: readonly Part[], limits: BlockLimits): readonly SizedBlock[] {
  if (parts.length === 0) return [];
  const whole = joinTables(parts.map(({ table }) => table));
  // Each report counts as the mean size in its part.
  const sizes = joinLists(
    parts.map(({ table, bytes }) =>
      new Float64Array(reportsIn(table)).fill(Math.ceil(bytes / reportsIn(table))),
    ),
  );
  const order = orderOf(whole);
  const blocks: SizedBlock[] = [];
  let [start, bytes] = [0, 0];
  const close = (end: number): void => {
    const own = takeReports(whole, order.subarray(start, end));
    if (end > start) blocks.push({ ...blockOf(own), bytes });
    [start, bytes] = [end, 0];
  };
  for (let place = 0; place < order.length; place += 1) {
    const size = sizes[order[place] ?? 0] ?? 0;
    const isFull = place - start === limits.blockReportsMax || bytes + size > limits.blockBytesMax;
    if (isFull) close(place);
    bytes += size;
  }
  close(order.length);
  return blocks;
}
