/**
 * Finds the chunks of an experiment's lines that may contain some words. A background task makes chunks of stored
 * lines. Chunks are consecutive, so every line up to the last chunk's end is in one. When two replicas make the same
 * chunk, only one of them stores it.
 */
import { isDatabaseAway, type Logger, tableFault } from "@trainyard/runtime";
import type { Pool, QueryResultRow } from "pg";
import { fromStored } from "../core/stored-text.ts";
import { filterOf, hashesOf } from "../core/word-filter.ts";
import { addWords } from "../core/words.ts";
import { logsLimits } from "../limits.ts";

const due = `
select experiment from logs.experiments where unindexed_bytes >= $1 order by unindexed_bytes desc limit $2`;

const nextLines = `
select position, line from (
  select position, line, sum(octet_length(line)) over (order by position) - octet_length(line) as bytes_before
  from (
    select position, line from logs.lines
    where experiment = $1
      and position > coalesce((select max(last_position) from logs.word_chunks where experiment = $1), 0)
    order by position limit $2
  ) as next
) as sized
where bytes_before < $3
order by position`;

const keep = `
with kept as (
  insert into logs.word_chunks (experiment, first_position, last_position, words)
  select $1, $2, $3, $4
  -- Nothing is kept of lines that were removed meanwhile.
  where exists (select from logs.lines where experiment = $1 and position = $3)
  on conflict do nothing
  returning experiment
)
update logs.experiments set unindexed_bytes = greatest(0, unindexed_bytes - $5::bigint)
from kept where experiments.experiment = kept.experiment`;

// Removed lines are not subtracted from unindexed_bytes, so the count is reset to 0 when no line is left to index.
const settle = "update logs.experiments set unindexed_bytes = 0 where experiment = $1";

const bitOf =
  "get_byte(substring(words from ((hash % (8 * octet_length(words))) / 8 + 1)::integer for 1), 0)";
// The CTE is not materialized, so that PostgreSQL compares chunks only up to the first match.
const skip = `
with looked as not materialized (
  select first_position, last_position,
    not exists (select from unnest($3::bigint[]) as hash where ${bitOf} & (1 << (hash % 8)::integer) = 0) as has
  from logs.word_chunks
  where experiment = $1 and last_position > $2::bigint
  order by first_position limit $4
)
select coalesce(
  (select first_position - 1 from looked where has order by first_position limit 1),
  (select max(last_position) from looked)) as position`;

type LineText = { readonly position: string; readonly line: string };

export class WordIndex {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Returns a position up to which no line after the cursor contains all words; null when no line can be skipped. */
  async skip(
    experiment: string,
    words: ReadonlySet<string>,
    after: string | null,
  ): Promise<string | null> {
    const hashes = [...words].flatMap(hashesOf);
    const start = after ?? "0";
    const values = [experiment, start, hashes, logsLimits.chunksPerLookMax];
    type Row = { readonly position: string | null };
    const [row] = await this.#query<Row>(skip, values);
    const position = row?.position ?? null;
    return position !== null && BigInt(position) > BigInt(start) ? position : null;
  }

  /** Makes a chunk for each of a few experiments that have enough lines. Returns the number of experiments. */
  async index(logger: Logger): Promise<number> {
    const { chunkBytesMin, chunkExperimentsMax } = logsLimits;
    const values = [chunkBytesMin, chunkExperimentsMax];
    const rows = await this.#query<{ readonly experiment: string }>(due, values);
    for (const { experiment } of rows) {
      try {
        await this.#indexOne(experiment);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        // Searches read this experiment without the index; the other experiments are still indexed.
        logger.error({ err: error, experiment }, "words_not_indexed");
      }
    }
    return rows.length;
  }

  async #indexOne(experiment: string): Promise<void> {
    const { chunkLinesMax, chunkBytesMax } = logsLimits;
    const lines = await this.#query<LineText>(nextLines, [
      experiment,
      chunkLinesMax,
      chunkBytesMax,
    ]);
    const [first, last] = [lines[0], lines.at(-1)];
    if (first === undefined || last === undefined) {
      await this.#query(settle, [experiment]);
      return;
    }
    const words = new Set<string>();
    let bytes = 0;
    for (const [n, { line }] of lines.entries()) {
      addWords(words, fromStored(line));
      bytes += Buffer.byteLength(line);
      // Yields to requests that read and write lines.
      if (n % logsLimits.chunkLinesPerTurn === 0) await new Promise(setImmediate);
    }
    const filter = Buffer.from(filterOf(words));
    await this.#query(keep, [experiment, first.position, last.position, filter, bytes]);
  }

  async #query<Row extends QueryResultRow>(
    text: string,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query<Row>(text, [...values])).rows;
    } catch (cause) {
      throw tableFault(cause, "lines_unavailable", "the index of words");
    }
  }
}
