/** The table of lines. */
import type { LogSource } from "@trainyard/contracts/commands";
import { tableFault } from "@trainyard/runtime";
import type { Pool, QueryConfig, QueryResultRow } from "pg";
import type { LineRow } from "../core/batch.ts";
import { fromStored, toStored } from "../core/stored-text.ts";
import { logsLimits } from "../limits.ts";

export type StoredRow = LineRow & { readonly cursor: string };

/** What is asked for; null for no condition. */
export type LineQuery = {
  readonly experiment: string;
  readonly trial: string | null;
  readonly run: number | null;
  readonly nodeRank: number | null;
  readonly source: LogSource | null;
  readonly contains: string | null;
  /** The first lines after a cursor, or the last lines. */
  readonly from: { readonly after: string } | "end";
  readonly limit: number;
};

export type LineRows = {
  /** In the order in which they were stored. */
  readonly rows: readonly StoredRow[];
  /** Whether lines were found that are left out here. */
  readonly more: boolean;
};

// Positions are drawn and committed under one lock: whoever sees a position sees all before it, so a reader that goes on
// after a cursor misses nothing. The rows are sorted before their defaults are drawn.
const insert = `
with turn as materialized (select pg_advisory_xact_lock(hashtext('logs'), hashtext('lines')))
insert into logs.lines (experiment, trial, run, node_rank, sequence, at_ms, source, continued, line)
select given.experiment, given.trial, given.run, given.node_rank, given.sequence,
  given.at_ms, given.source, given.continued, given.line
from turn, unnest(
  $1::text[], $2::text[], $3::integer[], $4::integer[], $5::bigint[],
  $6::double precision[], $7::smallint[], $8::boolean[], $9::text[])
  with ordinality as given (experiment, trial, run, node_rank, sequence, at_ms, source, continued, line, number)
order by given.number
on conflict (experiment, trial, run, node_rank, sequence) do nothing
returning trial, run, node_rank, sequence, position`;

type LineName = Pick<LineRow, "trial" | "run" | "nodeRank" | "sequence">;

type InsertedRow = {
  readonly trial: string;
  readonly run: number;
  readonly node_rank: number;
  readonly sequence: string;
  readonly position: string;
};

type SelectedRow = InsertedRow & {
  readonly experiment: string;
  readonly at_ms: number;
  readonly source: LogSource;
  readonly continued: boolean;
  readonly line: string;
  readonly candidates: string;
};

export const lineName = ({ trial, run, nodeRank, sequence }: LineName): string =>
  `${trial}#${run} ${nodeRank} ${sequence}`;

export class LineTable {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Stores what is not there yet, in the given order, in one commit. Gives the cursors of what was new, by name. */
  async insert(rows: readonly LineRow[]): Promise<ReadonlyMap<string, string>> {
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
      ],
    });
    return new Map(
      inserted.map(({ trial, run, node_rank, sequence, position }) => {
        const name = { trial, run, nodeRank: node_rank, sequence: Number(sequence) };
        return [lineName(name), position];
      }),
    );
  }

  async select(query: LineQuery): Promise<LineRows> {
    const selected = await this.#query<SelectedRow>(selection(query));
    const found = Number(selected[0]?.candidates ?? 0);
    const rows = selected.slice(0, query.limit).map(rowOf);
    const more = found > rows.length;
    return { rows: query.from === "end" ? rows.toReversed() : rows, more };
  }

  async #query<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]> {
    try {
      return (await this.#pool.query<Row>(query)).rows;
    } catch (cause) {
      throw tableFault(cause, "lines_unavailable", "the table of lines");
    }
  }
}

/** Only the conditions that are asked for are written, so that each index serves its question. */
function selection(query: LineQuery): QueryConfig {
  const values: unknown[] = [];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [`experiment = ${parameter(query.experiment)}`];
  const condition = (value: unknown, test: (parameter: string) => string): void => {
    if (value !== null) conditions.push(test(parameter(value)));
  };
  condition(query.trial, (trial) => `trial = ${trial}`);
  condition(query.run, (run) => `run = ${run}`);
  condition(query.nodeRank, (rank) => `node_rank = ${rank}`);
  condition(query.source, (source) => `source = ${source}`);
  const contains = query.contains === null ? null : toStored(query.contains);
  condition(contains, (text) => `strpos(line, ${text}) > 0`);
  const fromEnd = query.from === "end";
  if (query.from !== "end") conditions.push(`position > ${parameter(query.from.after)}::bigint`);
  const order = fromEnd ? "position desc" : "position";
  // The page is cut where its bytes run out, but never before its first row.
  const text = `
select * from (
  select *, count(*) over () as candidates,
    sum(octet_length(line)) over (order by ${order}) - octet_length(line) as bytes_before
  from (
    select experiment, trial, run, node_rank, sequence, position, at_ms, source, continued, line
    from logs.lines
    where ${conditions.join(" and ")}
    order by ${order}
    limit ${parameter(query.limit + 1)}
  ) as page
) as sized
where bytes_before < ${parameter(logsLimits.pageTextBytesMax)}
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
    cursor: row.position,
  };
}
