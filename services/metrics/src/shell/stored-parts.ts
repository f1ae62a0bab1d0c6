/** Reads the stored parts (tails and blocks) of a trial and their reports, within one snapshot. */
import { inTransaction, tableFault } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import { decodeReports, type Encoded, type EncodedColumn } from "../core/columns/block.ts";
import type { StoredReport } from "../core/columns/table.ts";
import { isFault } from "@trainyard/kernel";
import { readTail } from "../core/columns/tail.ts";

export type Part = {
  readonly kind: "tail" | "block";
  readonly id: string;
  readonly run: number;
  readonly group: string;
  readonly reports: number;
  /** The stored size. */
  readonly bytes: number;
  readonly firstStep: number;
  readonly lastStep: number;
  /** The keys of the first and the last report in the order (step, key). */
  readonly firstKey: string;
  readonly lastKey: string;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
};

export type PartReport = StoredReport & { readonly run: number; readonly group: string };

/**
 * Runs all queries of `read` in one snapshot, so that compaction cannot move reports from tails to blocks in between.
 */
export async function inSnapshot<Result>(
  pool: Pool,
  read: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  try {
    return await inTransaction(pool, async (client) => {
      await client.query("set transaction isolation level repeatable read, read only");
      return read(client);
    });
  } catch (cause) {
    if (isFault(cause) || isUnreadable(cause)) throw cause;
    throw tableFault(cause, "points_unavailable", "the table of points");
  }
}

/** Reports whether an error is a decoder's RangeError for unknown bytes, rather than a database fault. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof RangeError || error instanceof SyntaxError;

const columns = `id::text as id, run, group_name as "group", reports,
  first_step as "firstStep", last_step as "lastStep", first_key as "firstKey", last_key as "lastKey", first_at_ms as "firstAtMs", last_at_ms as "lastAtMs"`;

const list = `
select 'block' as kind, bytes, ${columns} from metrics.blocks where trial = $1 and ($2::text is null or group_name = $2)
union all
select 'tail' as kind, octet_length(body) as bytes, ${columns} from metrics.tails where trial = $1 and ($2::text is null or group_name = $2)
order by run, "firstStep", kind, id`;

/** Reads parts in the order (run, first step); `group` null means all groups. */
export async function partsOf(
  client: PoolClient,
  trial: string,
  group: string | null,
): Promise<readonly Part[]> {
  const { rows } = await client.query<Part>({
    name: "list-parts",
    text: list,
    values: [trial, group],
  });
  return rows;
}

const idsOf = (parts: readonly Part[], kind: Part["kind"]): readonly string[] =>
  parts.filter((part) => part.kind === kind).map(({ id }) => id);

export async function tailsById(
  client: Pool | PoolClient,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Encoded>> {
  if (ids.length === 0) return new Map();
  const text = "select id::text as id, body from metrics.tails where id = any($1::bigint[])";
  const { rows } = await client.query<{ id: string; body: Buffer }>(text, [ids]);
  return new Map(rows.map(({ id, body }) => [id, readTail(body)]));
}

/** Reads all reports of these parts, in no particular order. */
export async function reportsOf(
  client: PoolClient,
  parts: readonly Part[],
): Promise<readonly PartReport[]> {
  const tails = await tailsById(client, idsOf(parts, "tail"));
  const blocks = await blocksById(client, idsOf(parts, "block"));
  return parts.flatMap(({ kind, id, run, group }) => {
    const part = (kind === "tail" ? tails : blocks).get(id);
    const reports = part === undefined ? [] : decodeReports(part);
    return reports.map((report) => ({ ...report, run, group }));
  });
}

/** Reads blocks with all their columns. */
export async function blocksById(
  client: Pool | PoolClient,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Encoded>> {
  if (ids.length === 0) return new Map();
  const { rows: frames } = await client.query<{ id: string; frame: Buffer }>(
    "select id::text as id, frame from metrics.blocks where id = any($1::bigint[])",
    [ids],
  );
  const { rows: bodies } = await client.query<EncodedColumn & { readonly block: string }>(
    `select block::text as block, kind, name, body from metrics.columns where block = any($1::bigint[])
     order by block, kind, name`,
    [ids],
  );
  const byBlock = Map.groupBy(bodies, ({ block }) => block);
  return new Map(
    frames.map(({ id, frame }) => [id, { frame, columns: byBlock.get(id) ?? [] }] as const),
  );
}
