/** Bytes of stored lines of each experiment, and the lines that retention removed. */
import { databaseEpoch, inTransaction, tableFault } from "@trainyard/runtime";
import type { Pool, QueryConfig, QueryResultRow } from "pg";
import { logsLimits } from "../limits.ts";

export type DueLines = {
  readonly experiment: string;
  /** Whether it is deleted for good, or its days are over. */
  readonly isOver: boolean;
};

export type DueQuery = {
  readonly nowMs: number;
  /** The days of experiments without own days, and of tasks; -1 keeps lines forever. */
  readonly days: number;
  /** The most bytes that an experiment keeps; null for no limit. */
  readonly bytesMax: number | null;
};

// A deletion in its grace may be undone, which restores all lines.
const due = `
select experiment, coalesce(is_over, false) as "isOver"
from logs.experiments left join (
  select id, deletion, deletion = 'done' or days >= 0 and ended_ms + days * 86400000 <= $1 as is_over
  from (
    select *, coalesce((policy->>'log_retention_days')::float8, $2) as days from logs.lives
  ) as kept
) as lives on id = experiment
where not gone and deletion is distinct from 'asked' and (is_over or bytes > $3::float8)
order by experiment`;

export type RemovedLines = { readonly lines: number; readonly untilMs: number };

export type AboutLines = { readonly epoch: string; readonly removed: RemovedLines | null };

// A table that was restored from a dump gets another epoch, even in the same server.
const tableEpoch = `left(md5(${databaseEpoch} || 'logs.lines'::regclass::oid::text), 8)`;

const about = `
select history.epoch, kept.removed_lines, kept.removed_until_ms
from (select ${tableEpoch} as epoch) as history
left join logs.experiments as kept on kept.experiment = $1 and kept.removed_lines > 0`;

// The lock comes first. The next statement then sees all earlier commits, so it misses neither lines of concurrent
// writers nor removals of another replica.
const lock = "select bytes from logs.experiments where experiment = $1 for update";

// Removes the oldest lines, at most `$2`, until `$3` bytes are gone.
const removal = `
with oldest as (
  select position, sum(octet_length(line)) over (order by position) - octet_length(line) as bytes_before
  from (
    select position, line from logs.lines where experiment = $1 order by position limit $2
  ) as first_lines
), removed as (
  delete from logs.lines
  where experiment = $1 and position in (select position from oldest where bytes_before < $3::float8)
  returning octet_length(line) as bytes, received_ms as ms
), summed as (
  select count(*) as lines, coalesce(sum(bytes), 0) as bytes, max(ms) as until_ms from removed
)
update logs.experiments as kept
set bytes = greatest(0, kept.bytes - summed.bytes),
  removed_lines = removed_lines + summed.lines,
  removed_until_ms = greatest(removed_until_ms, summed.until_ms),
  gone = summed.lines = 0
from summed where kept.experiment = $1
returning summed.lines, kept.bytes`;

// A chunk is removed with the last of its lines.
const removeChunks = `
delete from logs.word_chunks where experiment = $1 and last_position <
  coalesce((select min(position) from logs.lines where experiment = $1), 9223372036854775807)`;

export class RetentionTable {
  readonly #pool: Pool;
  readonly #linesMax: number;

  /** `linesMax` limits one removal. */
  constructor(pool: Pool, linesMax: number = logsLimits.linesPerRemovalMax) {
    this.#pool = pool;
    this.#linesMax = linesMax;
  }

  /** The experiments that have lines to remove, as far as the table of lives has followed the log. */
  due({ nowMs, days, bytesMax }: DueQuery): Promise<readonly DueLines[]> {
    return this.#query<DueLines>({ name: "due-lines", text: due, values: [nowMs, days, bytesMax] });
  }

  /**
   * Removes the oldest lines until at most `bytesKept` bytes are left, or all lines for null, in one bounded statement.
   * Returns the number of removed lines.
   */
  async removeOldest(experiment: string, bytesKept: number | null): Promise<number> {
    type Locked = { readonly bytes: string };
    type Removed = { readonly lines: string };
    return guarded(() =>
      inTransaction(this.#pool, async (client) => {
        const [kept] = (await client.query<Locked>(lock, [experiment])).rows;
        if (kept === undefined) return 0;
        const excess = bytesKept === null ? Infinity : Number(kept.bytes) - bytesKept;
        if (excess <= 0) return 0;
        const values = [experiment, this.#linesMax, excess];
        const { rows } = await client.query<Removed>({
          name: "remove-lines",
          text: removal,
          values,
        });
        await client.query({ name: "remove-chunks", text: removeChunks, values: [experiment] });
        return Number(rows[0]?.lines ?? 0);
      }),
    );
  }

  /** The removed lines of an experiment, null for none, and the epoch of the table (`databaseEpoch`). */
  async about(experiment: string): Promise<AboutLines> {
    type Row = {
      readonly epoch: string;
      readonly removed_lines: string | null;
      readonly removed_until_ms: number;
    };
    const [row] = await this.#query<Row>({
      name: "about-lines",
      text: about,
      values: [experiment],
    });
    const { epoch = "", removed_lines: lines = null, removed_until_ms: untilMs = 0 } = row ?? {};
    return { epoch, removed: lines === null ? null : { lines: Number(lines), untilMs } };
  }

  async #query<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]> {
    return guarded(async () => (await this.#pool.query<Row>(query)).rows);
  }
}

async function guarded<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (cause) {
    throw tableFault(cause, "lines_unavailable", "the table of lines");
  }
}
