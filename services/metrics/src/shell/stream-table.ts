/**
 * The stream of an experiment's points: tails in the order of their positions, compacted tails for one more hour, and
 * the runs that supersede steps of earlier runs. A writer updates the stream's row of metrics.streams in its commit, so
 * positions are committed in order, and a reader misses none.
 */
import { isFault } from "@trainyard/kernel";
import { tableFault } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import { metricsLimits } from "../limits.ts";

export type StreamQuery = {
  readonly experiment: string;
  /** The trial and group to read; null for all. */
  readonly trial: string | null;
  readonly group: string | null;
  readonly after: number;
};

/** An entry with the positions `position - reports + 1` to `position`. */
export type StreamEntry = {
  readonly position: number;
  readonly reports: number;
  readonly trial: string;
  readonly run: number;
} & (
  | { readonly kind: "tail"; readonly group: string; readonly body: Buffer }
  | { readonly kind: "supersession"; readonly afterStep: number }
);

export type StreamRows = {
  /** The position of the stream's last entry. */
  readonly head: number;
  /** Entries up to this position may be removed. */
  readonly removed: number;
  /** False for a position from before the store was restored: this stream has never returned it. */
  readonly isKnown: boolean;
  /** Entries in order. If they are as many as one read returns, more may follow before the head. */
  readonly entries: readonly StreamEntry[];
  readonly more: boolean;
};

const tails = (table: "tails" | "past_tails"): string => `
  (select 'tail' as kind, position, reports, trial, run, group_name as "group", body, null::float8 as "afterStep"
  from metrics.${table}
  where experiment = $1 and position > $2 and ($3::text is null or trial = $3) and ($4::text is null or group_name = $4)
  order by position limit $5)`;

// A valid reader position is at the beginning or end of an entry, or inside a tail; any other position is from before a
// restore.
const covers = (table: string, reports: string): string => `
  exists (select from (
    select position, ${reports} as reports from metrics.${table}
    where experiment = $1 and position >= $2 order by position limit 1
  ) as next where next.position - next.reports <= $2)`;
const isOfThisStore = `(
  $2::bigint in (0, stream.removed) or $2 >= stream.position
  or ${covers("tails", "reports")} or ${covers("past_tails", "reports")} or ${covers("supersessions", "1")})`;

// A single statement, so that an entry that compaction moves is read exactly once.
const read = `
select stream.position::float8 as head, stream.removed::float8 as removed,
  ${isOfThisStore} as "isKnown", entry.*
from metrics.streams as stream left join lateral (
  select *, sum(coalesce(octet_length(body), 0)) over (order by position) - coalesce(octet_length(body), 0) as "bytesBefore"
  from (
    select kind, position::float8 as position, reports, trial, run, "group", body, "afterStep" from (
      ${tails("tails")}
      union all
      ${tails("past_tails")}
      union all
      (select 'supersession', position, 1, trial, run, null, null, after_step from metrics.supersessions
      where experiment = $1 and position > $2 and ($3::text is null or trial = $3)
      order by position limit $5)
    ) as entry
    order by position limit $5
  ) as entry
) as entry on entry."bytesBefore" < $6
where stream.experiment = $1
order by entry.position`;

const keep = `
insert into metrics.past_tails (experiment, position, trial, run, group_name, reports, body)
select experiment, position, trial, run, group_name, reports, body from metrics.tails
where id = any($1::bigint[])`;

// Positions are skipped if the store may have been restored since the last entry: see `metrics.position_gap`.
export const gapOfNewStream = "(select metrics.position_gap(mark) from metrics.birth)";
export const movedBy = (entries: string): string =>
  `position = stream.position + metrics.position_gap(stream.mark) + ${entries}, mark = excluded.mark`;

const supersede = `
with stream as (
  insert into metrics.streams as stream (experiment, position, mark)
  select $3, 1 + ${gapOfNewStream}, metrics.store_mark()
  on conflict (experiment) do update set ${movedBy("1")}
  returning position
)
insert into metrics.supersessions (trial, run, experiment, position, after_step)
select $1, $2, $3, position, $4 from stream`;

// Removes the oldest compacted tails. The same commit records the removed position, so that readers notice a gap.
const sweep = `
with gone as (
  delete from metrics.past_tails where (experiment, position) in (
    select experiment, position from metrics.past_tails where compacted_at < now() - $1::integer * interval '1 ms'
    order by compacted_at limit $2 for update skip locked)
  returning experiment, position
), last as (
  select experiment, max(position) as position, count(*) as entries from gone group by experiment
), locked as (
  select experiment from metrics.streams join last using (experiment) order by experiment for update of streams
), told as (
  update metrics.streams set removed = greatest(removed, last.position)
  from last join locked using (experiment) where streams.experiment = last.experiment
)
select count(*)::float8 as gone from gone`;

type Row = Pick<StreamRows, "head" | "removed" | "isKnown"> &
  ((StreamEntry & { readonly bytesBefore: string }) | { readonly position: null });

/** Returns null for an experiment without a stream: it has stored no points since streams were introduced. */
export async function readStream(
  pool: Pool,
  { experiment, trial, group, after }: StreamQuery,
): Promise<StreamRows | null> {
  const { streamTailsMax, streamBytesMax } = metricsLimits;
  const { rows } = await guarded(() =>
    pool.query<Row>({
      name: "read-stream",
      text: read,
      values: [experiment, String(after), trial, group, streamTailsMax, streamBytesMax],
    }),
  );
  const [first] = rows;
  if (first === undefined) return null;
  const entries = rows.flatMap((row) => (row.position === null ? [] : [row]));
  const bytes = entries.reduce(
    (sum, entry) => sum + (entry.kind === "tail" ? entry.body.length : 0),
    0,
  );
  const more = entries.length === streamTailsMax || bytes >= streamBytesMax;
  const { head, removed, isKnown } = first;
  return { head, removed, isKnown, entries, more };
}

/** Returns 0 for an experiment without a stream. */
export async function streamPosition(
  database: Pool | PoolClient,
  experiment: string,
): Promise<number> {
  const text = "select position::float8 as position from metrics.streams where experiment = $1";
  const { rows } = await database.query<{ position: number }>(text, [experiment]);
  return rows[0]?.position ?? 0;
}

/** Copies tails for the stream; call it before compaction deletes them, in the same transaction. */
export async function keepForStream(client: PoolClient, ids: readonly string[]): Promise<void> {
  await client.query(keep, [ids]);
}

/** Adds an entry that a run supersedes earlier runs of its trial after a step; once for each run. */
export async function addSupersession(
  pool: Pool,
  { experiment, trial, run, afterStep }: Supersession & { readonly experiment: string },
): Promise<void> {
  await guarded(async () => {
    // An entry with another step is a lost run's of this name.
    const lost =
      "delete from metrics.supersessions where trial = $1 and run = $2 and after_step <> $3";
    await pool.query(lost, [trial, run, afterStep]);
    const known = "select from metrics.supersessions where trial = $1 and run = $2";
    if ((await pool.query(known, [trial, run])).rowCount !== 0) return;
    try {
      await pool.query(supersede, [trial, run, experiment, afterStep]);
    } catch (error) {
      // Another process has added the entry already.
      if ((error as { readonly code?: unknown }).code !== "23505") throw error;
    }
  });
}

export type Supersession = {
  readonly trial: string;
  readonly run: number;
  readonly afterStep: number;
};

/** Removes some expired entries. Returns their number. */
export async function sweepStreams(pool: Pool): Promise<number> {
  const { streamKeptMs, streamSweptTails } = metricsLimits;
  const { rows } = await pool.query<{ gone: number }>(sweep, [streamKeptMs, streamSweptTails]);
  return rows[0]?.gone ?? 0;
}

async function guarded<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (cause) {
    if (isFault(cause)) throw cause;
    throw tableFault(cause, "points_unavailable", "the table of points");
  }
}
