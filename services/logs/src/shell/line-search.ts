/**
 * Finds the lines of a query, step by step: the table checks the conditions in SQL, this module the text. One answer
 * reads a bounded number of lines and bytes, for a bounded time, and says where it stopped. A query for rare lines is
 * thus many short answers and does not block other queries.
 */
import { hasWords } from "../core/words.ts";
import { logsLimits } from "../limits.ts";
import type { LineFilter, LineTable, StoredRow } from "./line-table.ts";
import type { Patterns } from "./patterns.ts";
import type { WordIndex } from "./word-index.ts";

export type LineSearch = {
  readonly filter: LineFilter;
  readonly after: string | null;
  readonly before: string | null;
  readonly backwards: boolean;
  readonly limit: number;
  /** A regular expression that the line must match; null for none. */
  readonly matches: string | null;
  /** Words that the line must all contain; empty for no condition. */
  readonly words: ReadonlySet<string>;
};

export type FoundLines = {
  /** The lines in the order of the search. */
  readonly rows: readonly StoredRow[];
  /** The position up to which the search has read; null when it read nothing. */
  readonly scannedTo: string | null;
  /** Reports whether the search has returned every matching line. */
  readonly exhausted: boolean;
};

type Compared = {
  /** The lines that match. */
  readonly taken: readonly StoredRow[];
  /** The cursor of the last compared line when the time ran out; null when all rows were compared. */
  readonly endedAt: string | null;
  readonly ms: number;
};

export class LineFinder {
  readonly #table: LineTable;
  readonly #index: WordIndex;
  readonly #patterns: Patterns;

  constructor(table: LineTable, index: WordIndex, patterns: Patterns) {
    this.#table = table;
    this.#index = index;
    this.#patterns = patterns;
  }

  async find(search: LineSearch): Promise<FoundLines> {
    const { filter, backwards, limit } = search;
    const comparesText = search.matches !== null || search.words.size > 0;
    const narrows = comparesText || isNarrow(filter);
    const rows: StoredRow[] = [];
    let { after, before } = search;
    let scannedTo: string | null = null;
    let linesLeft: number = logsLimits.linesPerAnswerMax;
    let bytesLeft: number = logsLimits.matchedBytesPerAnswerMax;
    let msLeft: number = logsLimits.matchMsPerAnswer;
    let givenBytes = 0;
    for (;;) {
      const passed = await this.#passedOver(search, after);
      if (passed !== null) scannedTo = after = passed;
      const rest = limit - rows.length;
      const found = await this.#table.step({
        filter,
        after,
        before,
        backwards,
        scan: narrows ? logsLimits.linesPerStepMax : rest + 1,
        limit: comparesText ? logsLimits.linesPerStepMax : rest,
      });
      const { taken, endedAt, ms } = comparesText
        ? await this.#compare(search, found.rows, msLeft)
        : { taken: found.rows, endedAt: null, ms: 0 };
      rows.push(...taken);
      if (endedAt !== null) return cutAt(rows, limit, endedAt);
      scannedTo = found.scannedTo ?? scannedTo;
      msLeft -= ms;
      linesLeft -= found.scanned;
      for (const { text } of found.rows) bytesLeft -= text.length;
      for (const { text } of taken) givenBytes += text.length;
      const isFull =
        rows.length > limit ||
        (!found.exhausted && (rows.length === limit || givenBytes >= logsLimits.pageTextBytesMax));
      if (isFull) return cutAt(rows, limit, scannedTo);
      if (found.exhausted) return { rows, scannedTo, exhausted: true };
      if (linesLeft <= 0 || bytesLeft <= 0 || msLeft <= 0)
        return { rows, scannedTo, exhausted: false };
      if (backwards) before = scannedTo;
      else after = scannedTo;
    }
  }

  /** Skips chunks without the words, by the word index. A backwards search does not use the index. */
  async #passedOver(
    { filter, words, backwards }: LineSearch,
    after: string | null,
  ): Promise<string | null> {
    if (words.size === 0 || backwards) return null;
    return this.#index.skip(filter.experiment, words, after);
  }

  async #compare(
    { matches, words }: LineSearch,
    rows: readonly StoredRow[],
    budgetMs: number,
  ): Promise<Compared> {
    const withWords = words.size === 0 ? rows : rows.filter(({ text }) => hasWords(text, words));
    if (matches === null) return { taken: withWords, endedAt: null, ms: 0 };
    const texts = withWords.map(({ text }) => text);
    const { found, compared, ms } = await this.#patterns.match(matches, texts, budgetMs);
    const taken = found.flatMap((index) => withWords[index] ?? []);
    const isCut = compared < withWords.length;
    return { taken, endedAt: isCut ? (withWords[compared - 1]?.cursor ?? null) : null, ms };
  }
}

/** Reports whether the filter may leave out lines of its trial or experiment. */
function isNarrow(filter: LineFilter): boolean {
  const { run, nodeRank, rank, source, level, fromMs, untilMs, contains } = filter;
  const conditions = [run, nodeRank, rank, source, level, fromMs, untilMs, contains];
  return conditions.some((condition) => condition !== null);
}

/** Lines beyond the limit are left to the next answer, which continues after the last returned line. */
function cutAt(rows: readonly StoredRow[], limit: number, scannedTo: string | null): FoundLines {
  const given = rows.slice(0, limit);
  const isCut = rows.length > limit;
  return {
    rows: given,
    scannedTo: isCut ? (given.at(-1)?.cursor ?? scannedTo) : scannedTo,
    exhausted: false,
  };
}
