/** Example lines in the form that agents send. */
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

/** On `slowTexts` this pattern is compared at about 0.1 MB/s: it has too many states to cache. */
export const slowPattern = "a.{400}[cd]";

/** Fixed pseudo-random texts of 16,000 letters a and b. */
export function slowTexts(count: number): readonly string[] {
  let seed = 1;
  const next = (): string => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % 2 === 0 ? "a" : "b";
  };
  return Array.from({ length: count }, () => Array.from({ length: 16_000 }, next).join(""));
}
