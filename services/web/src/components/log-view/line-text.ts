/** The visible part of a line's stored text. */
import type { LogLine } from "./source.ts";

/** The characters of a line that are drawn unless the reader expands it. */
const shownMax = 4_000;

export type ShownText = {
  /** The text with its terminal escapes. */
  readonly text: string;
  /** The number of characters that are left out. */
  readonly cut: number;
};

const launcherPrefix = /^\[rank=\d+\] /;

/** Returns the text, without the launcher's prefix if the rank is shown in a column. */
export function shownText({ text, rank }: LogLine, whole: boolean): ShownText {
  const bare = rank === undefined ? text : text.replace(launcherPrefix, "");
  const shown = whole ? bare : bare.slice(0, shownMax);
  return { text: shown, cut: bare.length - shown.length };
}
