/**
 * Writes new reports of several runs in one statement: it updates each run's state (the keys of its stored reports, as
 * ranges) and adds the reports to the tails, in one commit. It changes only runs that are still at the version that the
 * writer read. Each key is therefore stored once, whichever replicas receive it, even long after compaction.
 */
import type { Pool, PoolClient } from "pg";
import { addKeys, encodeLedger } from "../core/columns/key-ledger.ts";
import {
  type Extent,
  extentOf,
  joined,
  type NewReport,
  type Tail,
  tailsOf,
} from "../core/writes.ts";
import { metricsLimits } from "../limits.ts";
import type { MetricName } from "./known-names.ts";
import { type GrantedRun, type RunHead, type RunName, runName } from "./run-heads.ts";
import { gapOfNewStream, movedBy } from "./stream-table.ts";
import { isSystemRow, type SystemRow } from "./system-table.ts";

export type PointRow = NewReport & GrantedRun;

const write = `
with given as (
  select * from unnest($1::text[], $2::integer[], $3::bigint[], $4::bytea[], $5::float8[], $6::float8[],
    $7::float8[], $8::float8[], $9::integer[])
    as given (trial, run, version, keys, first_step, last_step, first_at_ms, last_at_ms, weight)
),
-- In the order of their names, as two replicas that write the same runs would wait for each other.
locked as (
  select runs.trial, runs.run from metrics.runs join given using (trial, run)
  where runs.version = given.version
  order by runs.trial, runs.run
  for update of runs
),
moved as (
  update metrics.runs set
    version = runs.version + 1, keys = given.keys,
    has_loose_keys = runs.has_loose_keys
      or (runs.trial, runs.run) in (select * from unnest($23::text[], $24::integer[])),
    first_step = given.first_step, last_step = given.last_step,
    first_at_ms = given.first_at_ms, last_at_ms = given.last_at_ms,
    tail_weight = runs.tail_weight + given.weight,
    due_at = case
      when given.weight = 0 then runs.due_at
      when runs.tail_weight + given.weight < $10::integer then coalesce(runs.due_at, now() + $11::integer * interval '1 ms')
      when runs.due_at <= now() then runs.due_at
      else now() end
  from given join locked using (trial, run)
  where runs.trial = given.trial and runs.run = given.run and runs.version = given.version
  returning runs.trial, runs.run
),
placed as (
  select tail.*, split_part(trial, '.', 1) as experiment,
    sum(reports) over (partition by split_part(trial, '.', 1) order by ordinal desc) - reports as after_it
  from unnest($12::text[], $13::integer[], $14::text[], $15::integer[], $16::float8[], $17::float8[], $18::float8[],
    $19::float8[], $20::integer[], $22::integer[], $30::text[], $31::text[]) with ordinality
    as tail (trial, run, group_name, reports, first_step, last_step, first_at_ms, last_at_ms, start_at, length,
      first_key, last_key, ordinal)
    join moved using (trial, run)
),
-- Locks the stream of each experiment until the commit, after all runs and in the order of the names.
streamed as (
  insert into metrics.streams as stream (experiment, position, mark)
  select experiment, sum(reports) + ${gapOfNewStream}, metrics.store_mark()
  from placed group by experiment order by experiment
  on conflict (experiment) do update set ${movedBy("(select sum(reports) from placed where placed.experiment = stream.experiment)")}
  returning experiment, position
),
added as (
  insert into metrics.tails (trial, run, group_name, reports, first_step, last_step, first_key, last_key, first_at_ms,
    last_at_ms, body, experiment, position)
  select trial, run, group_name, reports, first_step, last_step, first_key, last_key, first_at_ms, last_at_ms,
    substring($21::bytea from start_at for length), experiment, streamed.position - after_it
  from placed join streamed using (experiment)
),
loose as (
  insert into metrics.loose_keys (trial, run, key)
  select trial, run, key from unnest($23::text[], $24::integer[], $25::text[]) as loose (trial, run, key)
    join moved using (trial, run)
  on conflict do nothing
),
named as (
  insert into metrics.names (trial, group_name, name, kind)
  select * from unnest($26::text[], $27::text[], $28::text[], $29::text[]) as named (trial, group_name, name, kind)
  order by trial, group_name, name, kind
  on conflict do nothing
)
select trial, run from moved`;

/** The effect of one write on one run. */
export type Change = {
  readonly before: RunHead;
  readonly after: RunHead;
  readonly added: readonly PointRow[];
  readonly tails: readonly Tail[];
  readonly samples: readonly SystemRow[];
  readonly loose: readonly string[];
};

/**
 * Returns the names of the runs that changed; the others were changed by another writer. Of system samples only the
 * keys are written here.
 */
export async function writeChanges(
  database: Pool | PoolClient,
  changes: readonly Change[],
  names: readonly MetricName[],
): Promise<ReadonlySet<string>> {
  if (changes.length === 0) return new Set();
  const { rows } = await database.query<RunName>({
    name: "write-points",
    text: write,
    values: [
      ...headValues(changes),
      ...tailValues(changes),
      ...nameValues(names),
      ...keyValues(changes),
    ],
  });
  return new Set(rows.map(runName));
}

/** Returns those of the keys that the run has outside its ledger. */
export async function looseKeysIn(
  database: Pool | PoolClient,
  { trial, run }: RunName,
  keys: readonly string[],
): Promise<readonly string[]> {
  if (keys.length === 0) return [];
  const { rows } = await database.query<{ key: string }>({
    name: "loose-keys",
    text: "select key from metrics.loose_keys where trial = $1 and run = $2 and key = any($3::text[])",
    values: [trial, run, keys],
  });
  return rows.map(({ key }) => key);
}

/** Returns null when no row is new. */
export function changeOf(
  before: RunHead,
  rows: readonly PointRow[],
  known: ReadonlySet<string>,
): Change | null {
  const seen = new Set(known);
  // The first of several reports with the same key counts.
  const added = rows.filter(({ key }) => seen.size < seen.add(key).size);
  if (added.length === 0) return null;
  const { ledger, loose } = addKeys(
    before.keys,
    added.map(({ key }) => key),
  );
  const points = added.filter(({ system }) => system === null);
  const training = points.filter(({ group }) => group === "training");
  const after = {
    ...before,
    version: before.version + 1,
    keys: ledger,
    hasLooseKeys: before.hasLooseKeys || loose.length > 0,
    training: trainingAfter(before.training, training),
  };
  const samples = added.filter(isSystemRow);
  return { before, after, added, tails: tailsOf(points), samples, loose };
}

function trainingAfter(before: Extent | null, reports: readonly PointRow[]): Extent | null {
  if (reports.length === 0) return before;
  return before === null ? extentOf(reports) : joined(before, extentOf(reports));
}

/**
 * The weight of a tail: its reports, plus one for each `tailBytesPerReport`, so that large tails are compacted sooner.
 */
const weightOf = ({ reports, body }: Tail): number =>
  reports + Math.floor(body.length / metricsLimits.tailBytesPerReport);

function headValues(changes: readonly Change[]): readonly unknown[] {
  return [
    changes.map(({ before }) => before.trial),
    changes.map(({ before }) => before.run),
    changes.map(({ before }) => before.version),
    changes.map(({ after }) => Buffer.from(encodeLedger(after.keys))),
    changes.map(({ after }) => after.training?.firstStep),
    changes.map(({ after }) => after.training?.lastStep),
    changes.map(({ after }) => after.training?.firstAtMs),
    changes.map(({ after }) => after.training?.lastAtMs),
    changes.map(({ tails }) => tails.reduce((sum, tail) => sum + weightOf(tail), 0)),
    metricsLimits.tailWeightMax,
    metricsLimits.tailAgeMs,
  ];
}

function tailValues(changes: readonly Change[]): readonly unknown[] {
  const tails = changes.flatMap(({ before: { trial, run }, tails: own }) =>
    own.map((tail) => ({ ...tail, trial, run })),
  );
  const loose = changes.flatMap(({ before: { trial, run }, loose: keys }) =>
    keys.map((key) => ({ trial, run, key })),
  );
  let end = 1;
  // SQL counts bytes from 1.
  const starts = tails.map(({ body }) => (end += body.length) - body.length);
  return [
    tails.map(({ trial }) => trial),
    tails.map(({ run }) => run),
    tails.map(({ group }) => group),
    tails.map(({ reports }) => reports),
    tails.map(({ firstStep }) => firstStep),
    tails.map(({ lastStep }) => lastStep),
    tails.map(({ firstAtMs }) => firstAtMs),
    tails.map(({ lastAtMs }) => lastAtMs),
    starts,
    Buffer.concat(tails.map(({ body }) => body)),
    tails.map(({ body }) => body.length),
    loose.map(({ trial }) => trial),
    loose.map(({ run }) => run),
    loose.map(({ key }) => key),
  ];
}

function keyValues(changes: readonly Change[]): readonly unknown[] {
  const tails = changes.flatMap(({ tails: own }) => own);
  return [tails.map(({ firstKey }) => firstKey), tails.map(({ lastKey }) => lastKey)];
}

function nameValues(names: readonly MetricName[]): readonly unknown[] {
  return [
    names.map(({ trial }) => trial),
    names.map(({ group }) => group),
    names.map(({ name }) => name),
    names.map(({ kind }) => kind),
  ];
}
