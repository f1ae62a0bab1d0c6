/**
 * Compacts tails into blocks, in the background, in steps of bounded size.
 *
 * The tails of a group are merged into one block, together with the latest block while that is no larger than the rest.
 * A report is therefore rewritten a number of times that grows with the logarithm of the block's size. One commit adds
 * the new blocks and deletes the tails and blocks that the step read. A step that finds one of them gone changes
 * nothing, so two concurrent compactors do no harm.
 */
import { Fault, isFault } from "@trainyard/kernel";
import { inTransaction, isDatabaseAway, type Logger } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import { decodeTable } from "../core/columns/block.ts";
import { mergeParts, type Part, type SizedBlock } from "../core/columns/merge.ts";
import { reportsIn, textBytesOf } from "../core/columns/table.ts";
import { readTail } from "../core/columns/tail.ts";
import { metricsLimits } from "../limits.ts";
import { blocksById } from "./stored-parts.ts";
import type { RunName } from "./run-heads.ts";
import { keepForStream } from "./stream-table.ts";

type TailRow = { readonly id: string; readonly group: string; readonly body: Buffer };
type BlockRow = { readonly id: string; readonly reports: number; readonly bytes: number };
type NewBlock = SizedBlock & { readonly group: string };

const due = `
select trial, run from metrics.runs where due_at <= now() order by due_at limit $1`;

// Selects tails in the order of arrival, so that a run's reports are compacted in the order of their steps.
const someTails = `
select id::text as id, group_name as "group", body from (
  select *, sum(octet_length(body)) over (order by id) - octet_length(body) as bytes_before
  from (select * from metrics.tails where trial = $1 and run = $2 order by id limit $3) as first
) as sized
where bytes_before < $4
order by id`;

const latestBlocks = `
select id::text as id, reports, bytes from metrics.blocks
where trial = $1 and run = $2 and group_name = $3 order by blocks.id desc limit 8`;

const insertBlock = `
insert into metrics.blocks (trial, run, group_name, reports, bytes, first_step, last_step, first_at_ms, last_at_ms,
  first_key, last_key, frame)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning id::text as id`;

const insertColumns = `
insert into metrics.columns (block, kind, name, points, min, max, first, last, nans, infinities, body)
select $1::bigint, kind, name, points, min, max, first, last, nans, infinities, substring($12::bytea from start_at for length)
from unnest($2::text[], $3::text[], $4::integer[], $5::float8[], $6::float8[], $7::float8[], $8::float8[],
  $9::integer[], $10::integer[], $11::integer[], $13::integer[])
  as c (kind, name, points, min, max, first, last, nans, infinities, start_at, length)`;

const lock = "select from metrics.runs where trial = $1 and run = $2 for update";

// The remaining weight is an estimate; a remainder is compacted at the next opportunity.
const settle = `
update metrics.runs set
  tail_weight = case when left_over then greatest(tail_weight - $3, 0) else 0 end,
  due_at = case when not left_over then null when $4 then now() else now() + $5::integer * interval '1 ms' end
from (select exists (select from metrics.tails where trial = $1 and run = $2) as left_over) as state
where trial = $1 and run = $2`;

const postpone = `
update metrics.runs set due_at = now() + $3::integer * interval '1 ms' where trial = $1 and run = $2`;

/**
 * Takes one step for each of a few due runs. Returns their number. A run that cannot be compacted (unreadable bytes, a
 * slow statement) stays as it is and does not block other runs.
 */
export async function compactDue(pool: Pool, logger: Logger): Promise<number> {
  const { rows } = await pool.query<RunName>(due, [metricsLimits.compactionRunsMax]);
  for (const run of rows) {
    try {
      await compactRun(pool, run);
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      // Another process compacted the run and has set its due time.
      if (isFault(error)) continue;
      logger.error({ err: error, ...run }, "run_not_compacted");
      await pool.query(postpone, [run.trial, run.run, metricsLimits.compactionPostponedMs]);
    }
  }
  return rows.length;
}

async function compactRun(pool: Pool, name: RunName): Promise<void> {
  const { compactionTailsMax, compactionStoredBytesMax, tailBytesPerReport } = metricsLimits;
  const bounds = [compactionTailsMax, compactionStoredBytesMax];
  const { rows } = await pool.query<TailRow>(someTails, [name.trial, name.run, ...bounds]);
  const tails = openedTails(rows);
  const bytes = tails.reduce((sum, { stored }) => sum + stored, 0);
  const isFull =
    tails.length < rows.length ||
    tails.length === compactionTailsMax ||
    bytes >= compactionStoredBytesMax;
  const gone: string[] = [];
  const blocks: NewBlock[] = [];
  let weight = Math.floor(bytes / tailBytesPerReport);
  for (const [group, own] of Map.groupBy(tails, (tail) => tail.group)) {
    const reports = own.reduce((sum, { table }) => sum + reportsIn(table), 0);
    weight += reports;
    const merged = await mergeable(pool, name, group, reports);
    gone.push(...merged.ids);
    const made = mergeParts([...merged.parts, ...own], metricsLimits);
    blocks.push(...made.map((block) => ({ ...block, group })));
  }
  const ids = tails.map(({ id }) => id);
  await inTransaction(pool, async (client) => {
    // The lock comes before the remaining weight is counted: a writer adds tails and changes the run in one commit.
    await client.query(lock, [name.trial, name.run]);
    await keepForStream(client, ids);
    await removeAll(client, "tails", ids);
    await removeAll(client, "blocks", gone);
    for (const block of blocks) await insert(client, name, block);
    await client.query(settle, [name.trial, name.run, weight, isFull, metricsLimits.tailAgeMs]);
  });
}

type OpenedTail = Part & { readonly id: string; readonly group: string; readonly stored: number };

/** Decodes tails up to the limit of one step: equal values are small when stored and large when decoded. */
function openedTails(rows: readonly TailRow[]): readonly OpenedTail[] {
  const opened: OpenedTail[] = [];
  let left: number = metricsLimits.compactionBytesMax;
  for (const { id, group, body } of rows) {
    const table = decodeTable(readTail(body));
    const bytes = textBytesOf(table);
    if (opened.length > 0 && bytes > left) break;
    left -= bytes;
    opened.push({ id, group, table, bytes, stored: body.length });
  }
  return opened;
}

/** Selects the latest blocks while each is no larger than the reports to merge it with. */
async function mergeable(
  pool: Pool,
  { trial, run }: RunName,
  group: string,
  fresh: number,
): Promise<{ readonly ids: readonly string[]; readonly parts: readonly Part[] }> {
  const { rows } = await pool.query<BlockRow>(latestBlocks, [trial, run, group]);
  const ids: string[] = [];
  let [reports, bytes] = [fresh, 0];
  for (const block of rows) {
    const isFull = block.reports >= metricsLimits.blockReportsMax / 2;
    bytes += block.bytes;
    if (isFull || block.reports > reports || bytes > metricsLimits.blockBytesMax / 2) break;
    ids.push(block.id);
    reports += block.reports;
  }
  const blocks = await blocksById(pool, ids);
  const parts = rows.flatMap(({ id, bytes: whole }) => {
    const block = blocks.get(id);
    return block === undefined ? [] : [{ table: decodeTable(block), bytes: whole }];
  });
  return { ids, parts };
}

async function removeAll(
  client: PoolClient,
  table: "tails" | "blocks",
  ids: readonly string[],
): Promise<void> {
  const text = `delete from metrics.${table} where id = any($1::bigint[])`;
  const { rowCount } = await client.query(text, [ids]);
  if (rowCount !== ids.length) {
    const detail = "another process has compacted these reports: this step changes nothing";
    throw new Fault("compacted_already", detail, { retry: "now" });
  }
}

async function insert(client: PoolClient, { trial, run }: RunName, block: NewBlock): Promise<void> {
  const { group, reports, bytes, firstStep, lastStep, firstAtMs, lastAtMs, frame, columns } = block;
  const extent = [firstStep, lastStep, firstAtMs, lastAtMs, block.firstKey, block.lastKey];
  const { rows } = await client.query<{ id: string }>(insertBlock, [
    ...[trial, run, group, reports, bytes, ...extent],
    Buffer.from(frame),
  ]);
  let end = 1;
  // SQL counts bytes from 1.
  const starts = columns.map(({ body }) => (end += body.length) - body.length);
  await client.query(insertColumns, [
    rows[0]?.id,
    columns.map(({ kind }) => kind),
    columns.map(({ name }) => name),
    columns.map(({ points }) => points),
    columns.map(({ min }) => min),
    columns.map(({ max }) => max),
    columns.map(({ first }) => first),
    columns.map(({ last }) => last),
    columns.map(({ nans }) => nans),
    columns.map(({ infinities }) => infinities),
    starts,
    Buffer.concat(columns.map(({ body }) => body)),
    columns.map(({ body }) => body.length),
  ]);
}
