/** Examples of lines as agents send them. */
import type { Plain } from "@trainyard/contracts";
import { type LogLine, LogSource } from "@trainyard/contracts/commands";

export function line(
  allocation: string,
  sequence: number,
  text: string,
  fields: Partial<Plain<LogLine>> = {},
): Plain<LogLine> {
  return {
    allocation,
    nodeRank: 0,
    sequence,
    atMs: 1_700_000_000_000 + sequence,
    source: LogSource.STDOUT,
    text,
    continued: false,
    ...fields,
  };
}
