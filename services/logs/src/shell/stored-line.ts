import { codecOf, type Plain } from "@trainyard/contracts";
import { type StoredLine, StoredLineSchema } from "@trainyard/contracts/commands";
import { runId } from "@trainyard/kernel";
import type { StoredRow } from "./line-table.ts";

const codec = codecOf<Plain<StoredLine>>(StoredLineSchema);

export function storedLine(row: StoredRow): Plain<StoredLine> {
  const { trial, run, nodeRank, sequence, atMs, source, text, continued, cursor } = row;
  const allocation = runId(trial, run);
  return {
    trial,
    run,
    line: { allocation, nodeRank, sequence, atMs, source, text, continued },
    cursor,
  };
}

/** The bytes that a line takes in an answer. */
export function encodedBytes(line: Plain<StoredLine>): number {
  return Buffer.byteLength(codec.encode(line));
}
