/**
 * The lines of a log that a reader keeps: a window without gaps. It grows at either end by what is read there and loses
 * at the other end what is too much, so that its size does not depend on the log's. Each end says how to read on.
 */
import type { LogLine } from "./source.ts";

export type LogWindow = {
  readonly lines: readonly LogLine[];
  /** Lines before this cursor are older; null if there are none. */
  readonly older: string | null;
  /** Lines after this cursor are newer. Empty for a log without a line. */
  readonly newer: string;
  /** All lines that there were when the end was read last are in the window. */
  readonly atEnd: boolean;
};

export const windowLimits = {
  lines: 4_000,
  /** A line has 64 KiB at most. */
  characters: 8_000_000,
} as const;

export const emptyWindow: LogWindow = { lines: [], older: null, newer: "", atEnd: false };

/** The window with what was read before `older`; `older` is then how to read on, null at the start of the log. */
export function withOlder(
  window: LogWindow,
  lines: readonly LogLine[],
  older: string | null,
): LogWindow {
  const all = [...lines, ...window.lines];
  const kept = all.slice(0, fitting(all));
  const last = kept.at(-1);
  if (kept.length === all.length || last === undefined) return { ...window, lines: all, older };
  return { lines: kept, older, newer: last.cursor, atEnd: false };
}

/** The window with what was read after `newer`; `newer` is then how to read on. */
export function withNewer(
  window: LogWindow,
  lines: readonly LogLine[],
  newer: string,
  atEnd: boolean,
): LogWindow {
  const all = window.lines.concat(lines);
  const kept = all.slice(all.length - fitting(all.toReversed()));
  const first = kept[0];
  if (kept.length === all.length || first === undefined) {
    return { ...window, lines: all, newer, atEnd };
  }
  return { lines: kept, older: first.cursor, newer, atEnd };
}

/** How many of the first lines are within the limits: one at least. */
function fitting(lines: readonly LogLine[]): number {
  let characters = 0;
  const most = Math.min(lines.length, windowLimits.lines);
  for (let index = 0; index < most; index += 1) {
    characters += lines[index]?.text.length ?? 0;
    if (index > 0 && characters > windowLimits.characters) return index;
  }
  return most;
}
