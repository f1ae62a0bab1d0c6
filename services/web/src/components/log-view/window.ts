/**
 * The lines of a log that a reader keeps: a window without gaps. Reading extends it at one end and evicts lines at the
 * other, so its size is bounded. Each end has the cursor for its next read.
 */
import type { LogLine } from "./source.ts";

export type LogWindow = {
  readonly lines: readonly LogLine[];
  /** The cursor before which older lines are read; null at the log's start. */
  readonly older: string | null;
  /** The cursor after which newer lines are read. Empty for a log without lines. */
  readonly newer: string;
  /** The window contains all lines up to the log's end as of the last read. */
  readonly atEnd: boolean;
};

export const windowLimits = {
  lines: 4_000,
  /** A line has at most 64 KiB. */
  characters: 8_000_000,
} as const;

export const emptyWindow: LogWindow = { lines: [], older: null, newer: "", atEnd: false };

/**
 * Adds lines that were read before `older`. The new `older` is the cursor for the next read, null at the start of the
 * log.
 */
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

/** Adds lines that were read after `newer`. The new `newer` is the cursor for the next read. */
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

/** The number of first lines within the limits, at least one. */
function fitting(lines: readonly LogLine[]): number {
  let characters = 0;
  const most = Math.min(lines.length, windowLimits.lines);
  for (let index = 0; index < most; index += 1) {
    characters += lines[index]?.text.length ?? 0;
    if (index > 0 && characters > windowLimits.characters) return index;
  }
  return most;
}
