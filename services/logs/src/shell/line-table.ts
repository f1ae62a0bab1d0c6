/** Reads and writes the table of stored lines. */
import type { LogLevel, LogSource } from "@trainyard/contracts/commands";
import { tableFault } from "@trainyard/runtime";
import type { Pool, QueryConfig, QueryResultRow } from "pg";
import type { LineRow } from "../core/batch.ts";
import { fromStored, toStored } from "../core/stored-text.ts";
import { logsLimits } from "../limits.ts";

/** The position and the time of a stored line. */
type Place = {
  readonly cursor: string;
  /** The database's time of receipt. */
  readonly receivedAtMs: number;
};

export type StoredRow = LineRow & Place;

/** Conditions on lines; null for none. */
export type LineFilter = {
  readonly experiment: string;
  readonly trial: string | null;
  readonly run: number | null;
  readonly nodeRank: number | null;
  readonly rank: number | null;
  readonly source: LogSource | null;
  /** The lowest level that matches. */
  readonly level: LogLevel | null;
  readonly fromMs: number | null;
  readonly untilMs: number | null;
  readonly contains: string | null;
};

export type LineStep = {
  readonly filter: LineFilter;
  /** Only lines after the first cursor and before the second; null for no bound. */
  readonly after: string | null;
  readonly before: string | null;
  /** Newest lines first. */
  readonly backwards: boolean;
  /** The most lines to read, and the most lines to return. */
  readonly scan: number;
  readonly limit: number;
};

export type LineRows = {
  /** The lines in the requested order. */
  readonly rows: readonly StoredRow[];
  /** The last line read, after which no line was returned; null for none. */
  readonly scannedTo: string | null;
  readonly scanned: number;
  /** Reports whether the step has read the last line. */
  readonly exhausted: boolean;
};

// Positions are assigned and committed under one lock: a reader that sees a position sees all lower ones, so continuing
// from a cursor misses no line. The rows are sorted before their positions are assigned.
const insert = `
with turn as materialized (select pg_advisory_xact_lock(hashtext('logs'), hashtext('lines'))),
inserted as (
insert into logs.lines
  (experiment, trial, run, node_rank, sequence, at_ms, source, continued, line, rank, level, received_ms)
select given.experiment, given.trial, given.run, given.node_rank, given.sequence,
  given.at_ms, given.source, given.continued, given.line, given.rank, given.level,
  extract(epoch from clock_timestamp()) * 1000
from turn, unnest(
  $1::text[], $2::text[], $3::integer[], $4::integer[], $5::bigint[],
  $6::double precision[], $7::smallint[], $8::boolean[], $9::text[], $10::integer[], $11::smallint[])
  with ordinality as given
    (experiment, trial, run, node_rank, sequence, at_ms, source, continued, line, rank, level, number)
order by given.number
on conflict (experiment, trial, run, node_rank, sequence) do nothing
returning experiment, trial, run, node_rank, sequence, position, received_ms, octet_length(line) as bytes
), counted as (
  insert into logs.experiments as kept (experiment, bytes, unindexed_bytes)
  select experiment, sum(bytes), sum(bytes) from inserted group by experiment order by experiment
  on conflict (experiment) do update set bytes = kept.bytes + excluded.bytes,
    unindexed_bytes = kept.unindexed_bytes + excluded.unindexed_bytes, gone = false
)
select trial, run, node_rank, sequence, position, received_ms from inserted`;

type LineName = Pick<LineRow, "trial" | "run" | "nodeRank" | "sequence">;

type InsertedRow = {
  readonly trial: string;
  readonly run: number;
  readonly node_rank: number;
  readonly sequence: string;
  readonly position: string;
  readonly received_ms: number;
};

type SelectedRow = InsertedRow & {
  readonly experiment: string;
  readonly at_ms: number;
  readonly source: LogSource;
  readonly continued: boolean;
  readonly line: string;
  readonly rank: number | null;
  readonly level: LogLevel;
};

/** A row without a line contains only the numbers. */
type StepRow = { readonly scanned: string; readonly scanned_to: string | null } & (
  | (SelectedRow & { readonly kept: string })
  | { readonly kept: null }
);

export const lineName = ({ trial, run, nodeRank, sequence }: LineName): string =>
  `${trial}#${run} ${nodeRank} ${sequence}`;

export class LineTable {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Stores the new lines of a batch, in order, in one commit. Returns their positions and times by name. */
  async insert(rows: readonly LineRow[]): Promise<ReadonlyMap<string, Place>> {
    const inserted = await this.#query<InsertedRow>({
      name: "insert-lines",
      text: insert,
      values: [
        rows.map((row) => row.experiment),
        rows.map((row) => row.trial),
        rows.map((row) => row.run),
        rows.map((row) => row.nodeRank),
        rows.map((row) => row.sequence),
        rows.map((row) => row.atMs),
        rows.map((row) => row.source),
        rows.map((row) => row.continued),
        rows.map((row) => toStored(row.text)),
        rows.map((row) => row.rank),
        rows.map((row) => row.level),
      ],
    });
    return new Map(
      inserted.map(({ trial, run, node_rank, sequence, position, received_ms }) => {
        const name = { trial, run, nodeRank: node_rank, sequence: Number(sequence) };
        return [lineName(name), { cursor: position, receivedAtMs: received_ms }];
      }),
    );
  }

  /** Returns the cursor of a stored line, or an empty text for a missing or removed line. */
  async cursorOf({ experiment, trial, run, nodeRank, sequence }: LineRow): Promise<string> {
    const [row] = await this.#query<Pick<InsertedRow, "position">>({
      name: "position-of-line",
      text: `select position from logs.lines
        where experiment = $1 and trial = $2 and run = $3 and node_rank = $4 and sequence = $5`,
      values: [experiment, trial, run, nodeRank, sequence],
    });
    return row?.position ?? "";
  }

  /** Reads some lines and returns those that match the filter, up to the limits of lines and bytes. */
  async step(step: LineStep): Promise<LineRows> {
    const found = await this.#query<StepRow>(stepQuery(step));
    const lines = found.filter((row) => row.kept !== null);
    const kept = Number(lines[0]?.kept ?? 0);
    const rows = lines.slice(0, step.limit).map(rowOf);
    const scanned = Number(found[0]?.scanned ?? 0);
    const isCut = rows.length < kept;
    return {
      rows,
      scanned,
      scannedTo: isCut ? (rows.at(-1)?.cursor ?? null) : (found[0]?.scanned_to ?? null),
      exhausted: !isCut && scanned < step.scan,
    };
  }

  async #query<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query<Row>(query)).rows;
    } catch (cause) {
      throw tableFault(cause, "lines_unavailable", "the table of lines");
    }
  }
}

type Conditions = {
  readonly texts: string[];
  add(value: unknown, test: (parameter: string) => string): void;
};

/** The query contains only the conditions that are set, so that PostgreSQL can use the matching index. */
function stepQuery({ filter, after, before, backwards, scan, limit }: LineStep): QueryConfig {
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const conditions = (): Conditions => {
    const texts: string[] = [];
    const add = (value: unknown, test: (parameter: string) => string): void => {
      if (value !== null) texts.push(test(parameter(value)));
    };
    return { texts, add };
  };
  const range = conditions();
  range.add(filter.experiment, (experiment) => `experiment = ${experiment}`);
  range.add(filter.trial, (trial) => `trial = ${trial}`);
  range.add(after, (cursor) => `position > ${cursor}::bigint`);
  range.add(before, (cursor) => `position < ${cursor}::bigint`);
  const wanted = conditions();
  wanted.texts.push("true");
  // A request may name numbers that a column of integers cannot hold; no line has them.
  wanted.add(filter.run, (run) => `run = ${run}::bigint`);
  wanted.add(filter.nodeRank, (rank) => `node_rank = ${rank}::bigint`);
  wanted.add(filter.rank, (rank) => `rank = ${rank}::bigint`);
  wanted.add(filter.source, (source) => `source = ${source}`);
  wanted.add(filter.level, (level) => `level >= ${level}`);
  wanted.add(filter.fromMs, (fromMs) => `at_ms >= ${fromMs}`);
  wanted.add(filter.untilMs, (untilMs) => `at_ms < ${untilMs}`);
  const contains = filter.contains === null ? null : toStored(filter.contains);
  wanted.add(contains, (text) => `strpos(line, ${text}) > 0`);
  const order = backwards ? "position desc" : "position";
  // The page ends at its limit of bytes, but never before its first row.
  const text = `
with looked as materialized (
  select experiment, trial, run, node_rank, sequence, position, at_ms, source, continued, line, rank, level, received_ms
  from logs.lines
  where ${range.texts.join(" and ")}
  order by ${order}
  limit ${parameter(scan)}
), found as (
  select * from looked where ${wanted.texts.join(" and ")} order by ${order} limit ${parameter(limit + 1)}
), sized as (
  select *, count(*) over () as kept,
    sum(octet_length(line)) over (order by ${order}) - octet_length(line) as bytes_before
  from found
)
select counted.*, sized.*
from (select count(*) as scanned, ${backwards ? "min" : "max"}(position) as scanned_to from looked) as counted
left join sized on bytes_before < ${parameter(logsLimits.pageTextBytesMax)}
order by ${order}`;
  return { text, values };
}

function rowOf(row: SelectedRow): StoredRow {
  return {
    experiment: row.experiment,
    trial: row.trial,
    run: row.run,
    nodeRank: row.node_rank,
    sequence: Number(row.sequence),
    atMs: row.at_ms,
    source: row.source,
    continued: row.continued,
    text: fromStored(row.line),
    rank: row.rank,
    level: row.level,
    cursor: row.position,
    receivedAtMs: row.received_ms,
  };
}
