import { codecOf, type Plain } from "@trainyard/contracts";
import { type StoredLine, StoredLineSchema } from "@trainyard/contracts/commands";
import { allocationId } from "@trainyard/kernel";
import type { StoredRow } from "./line-table.ts";

const codec = codecOf<Plain<StoredLine>>(StoredLineSchema);

export function storedLine(row: StoredRow): Plain<StoredLine> {
  const { trial, run, nodeRank, sequence, atMs, source, text, continued, rank, level } = row;
  const allocation = allocationId(trial, run);
  const said = { nodeRank, sequence, atMs, source, text, continued };
  return {
    trial,
    run,
    line: { allocation, ...said, ...(rank === null ? {} : { rank }) },
    cursor: row.cursor,
    level,
    receivedAtMs: row.receivedAtMs,
  };
}

/** The size of a line in an answer, in bytes. */
export function encodedBytes(line: Plain<StoredLine>): number {
  return Buffer.byteLength(codec.encode(line));
}
