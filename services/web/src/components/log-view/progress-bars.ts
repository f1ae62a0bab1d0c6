/**
 * Collapses progress bars. The agent stores the last state of a line that is rewritten, and one every ten seconds while
 * it is rewritten; some bars print a line for each state. Of consecutive states only the last is shown.
 */
import type { LogLine } from "./source.ts";

export type ShownLine = {
  readonly line: LogLine;
  /** The number of hidden earlier states of the bar. */
  readonly redraws: number;
};

// A percentage beside a bar of blocks (tqdm, rich), or of signs in brackets (keras, wget).
const blocks = /[\u2580-\u259f\u2501\u2578\u257a]|%\|.*\|/u;
const brackets = /\[[=>#. -]{5,}\]/;
const changing = /[\d.,:?]+|[\u2580-\u259f\u2501\u2578\u257a=>#\s-]+/gu;
const textMax = 500;

/** The part of a bar that does not change as it grows; null for a line without a bar. */
function barOf(text: string): string | null {
  if (text.length > textMax || !(blocks.test(text) || brackets.test(text))) return null;
  return text.replace(changing, " ").replace(/\s+/g, " ");
}

/** The bar's share from 0 to 1; null for a bar without a number. */
function shareOf(text: string): number | null {
  const percent = /(\d+(?:\.\d+)?) ?%/.exec(text);
  if (percent !== null) return Number(percent[1]) / 100;
  const part = /(\d+)\/(\d+)/.exec(text);
  return part === null ? null : Number(part[1]) / Number(part[2]);
}

/**
 * Removes earlier states of progress bars. A state below the one before it begins another bar. Lines in `kept` are
 * always shown.
 */
export function withoutRedraws(
  lines: readonly LogLine[],
  isKept: (line: LogLine) => boolean,
): readonly ShownLine[] {
  const shown: ShownLine[] = [];
  /** The index in `shown` of each writer's latest bar, until the writer writes another line. */
  const bars = new Map<
    string,
    { readonly bar: string; readonly share: number; readonly at: number }
  >();
  const hidden = new Set<number>();
  for (const line of lines) {
    const writer = `${line.trial} ${line.run} ${line.nodeRank} ${line.source} ${line.rank}`;
    const bar = barOf(line.text);
    const share = bar === null ? null : shareOf(line.text);
    const before = bars.get(writer);
    bars.delete(writer);
    let redraws = 0;
    if (bar !== null && share !== null) {
      const earlier = before === undefined ? undefined : shown[before.at];
      if (
        earlier !== undefined &&
        before?.bar === bar &&
        before.share <= share &&
        !isKept(earlier.line)
      ) {
        hidden.add(before.at);
        redraws = earlier.redraws + 1;
      }
      bars.set(writer, { bar, share, at: shown.length });
    }
    shown.push({ line, redraws });
  }
  return hidden.size === 0 ? shown : shown.filter((_, at) => !hidden.has(at));
}
