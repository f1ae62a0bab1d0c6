/**
 * A progress bar writes its line again and again after a carriage return, and each state is stored as a line of its
 * own. Of states that follow each other the last one is shown.
 */
import type { LogLine } from "./source.ts";

export type ShownLine = {
  readonly line: LogLine;
  /** Earlier states of the bar that are not shown. */
  readonly redraws: number;
};

// A percentage beside a bar of blocks (tqdm, rich), or of signs in brackets (keras, wget).
const blocks = /[\u2580-\u259f\u2501\u2578\u257a]|%\|.*\|/u;
const brackets = /\[[=>#. -]{5,}\]/;
const changing = /[\d.,:?]+|[\u2580-\u259f\u2501\u2578\u257a=>#\s-]+/gu;
const textMax = 500;

/** The part that does not change while the bar grows; null for a line that is no bar. */
function barOf(text: string): string | null {
  if (text.length > textMax || !(blocks.test(text) || brackets.test(text))) return null;
  return text.replace(changing, " ").replace(/\s+/g, " ");
}

/** 0 to 1; null for a bar that does not say it. */
function shareOf(text: string): number | null {
  const percent = /(\d+(?:\.\d+)?) ?%/.exec(text);
  if (percent !== null) return Number(percent[1]) / 100;
  const part = /(\d+)\/(\d+)/.exec(text);
  return part === null ? null : Number(part[1]) / Number(part[2]);
}

/** A state that is less than the one before it begins another bar. Lines that are kept are shown whatever follows. */
export function withoutRedraws(
  lines: readonly LogLine[],
  isKept: (line: LogLine) => boolean,
): readonly ShownLine[] {
  const shown: ShownLine[] = [];
  /** Each writer has the place of its latest bar in `shown`, until it writes another line. */
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
