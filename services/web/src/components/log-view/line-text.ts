/** What a line shows of the text that was stored. */
import type { LogLine } from "./source.ts";

/** Characters of a line that are drawn unless its reader asks for all. */
const shownMax = 4_000;

export type ShownText = {
  /** With escapes. */
  readonly text: string;
  /** How often the line was written anew after a carriage return: a progress bar. */
  readonly redraws: number;
  /** Characters that are left out. */
  readonly cut: number;
};

const launcherPrefix = /^\[rank=\d+\] /;

/** The last state of a line that was written over; without the launcher's prefix if the rank is shown beside it. */
export function shownText({ text, rank }: LogLine, whole: boolean): ShownText {
  const bare = rank === undefined ? text : text.replace(launcherPrefix, "");
  const states = bare.split("\r").filter((state) => state.trim() !== "");
  const last = states.at(-1) ?? "";
  const shown = whole ? last : last.slice(0, shownMax);
  return {
    text: shown,
    redraws: Math.max(0, states.length - 1),
    cut: last.length - shown.length,
  };
}

/**
 * The lines without those parts of a progress bar that a later part has written over: the platform stores a line of more
 * than 16 KiB in parts.
 */
export function withoutOverwritten(lines: readonly LogLine[]): readonly LogLine[] {
  if (!lines.some(({ continued }) => continued)) return lines;
  const overwrites = new Map<string, boolean>();
  const kept: LogLine[] = [];
  for (const line of lines.toReversed()) {
    const writer = `${line.trial} ${line.run} ${line.nodeRank} ${line.source}`;
    const isOverwritten = line.continued && overwrites.get(writer) === true;
    overwrites.set(writer, line.text.includes("\r"));
    if (!isOverwritten) kept.push(line);
  }
  return kept.toReversed();
}
