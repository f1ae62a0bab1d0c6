/** Example lines for tests. */
import type { LogLine } from "../source.ts";

export function exampleLine(cursor: number, changes: Partial<LogLine> = {}): LogLine {
  return {
    trial: "1.1",
    run: 1,
    nodeRank: 0,
    atMs: 1_000 * cursor,
    source: "stdout",
    text: `line ${cursor}`,
    continued: false,
    cursor: String(cursor),
    level: "",
    receivedAtMs: 1_000 * cursor,
    ...changes,
  };
}
