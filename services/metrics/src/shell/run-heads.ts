/**
 * What is known of each run, as last read or written by this process. An entry may be stale: a commit that builds on an old
 * version changes nothing, and its writer reads again. After any failure of the database everything is forgotten, because
 * what it has now may be older (a restored backup, a failover).
 */
import type { Pool, PoolClient } from "pg";
import { decodeLedger, type KeyLedger } from "../core/columns/key-ledger.ts";
import type { Extent } from "../core/writes.ts";
import { metricsLimits } from "../limits.ts";

export type RunName = { readonly trial: string; readonly run: number };

export type RunHead = RunName & {
  readonly version: number;
  readonly keys: KeyLedger;
  readonly progress: { readonly fraction: number; readonly atMs: number } | null;
  /** Of the group training. */
  readonly training: Extent | null;
  /** Rows of an earlier version of Trainyard have not been moved yet. */
  readonly hasOldRows: boolean;
};

export const runName = ({ trial, run }: RunName): string => `${trial}#${run}`;

const ensure = `
insert into metrics.runs (trial, run)
select * from unnest($1::text[], $2::integer[]) as given (trial, run) order by trial, run
on conflict do nothing`;

const read = `
select trial, run, version::float8 as version, keys, progress, progress_at_ms,
  first_step, last_step, first_at_ms, last_at_ms,
  exists (select from metrics.points where (points.trial, points.run) = (runs.trial, runs.run)) as has_old_rows
from metrics.runs join unnest($1::text[], $2::integer[]) as given (trial, run) using (trial, run)`;

type Row = {
  readonly trial: string;
  readonly run: number;
  readonly version: number;
  readonly keys: Buffer;
  readonly progress: number | null;
  readonly progress_at_ms: number | null;
  readonly first_step: number | null;
  readonly last_step: number | null;
  readonly first_at_ms: number | null;
  readonly last_at_ms: number | null;
  readonly has_old_rows: boolean;
};

export class RunHeads {
  readonly #database: Pool | PoolClient;
  /** By name, the least recently used first. */
  readonly #known = new Map<string, RunHead>();

  constructor(database: Pool | PoolClient) {
    this.#database = database;
  }

  /** In the order of the names. A run that the database does not know yet is new in it. */
  async of(names: readonly RunName[]): Promise<readonly RunHead[]> {
    const missing = names.filter((name) => !this.#known.has(runName(name)));
    if (missing.length > 0) {
      const values = [missing.map(({ trial }) => trial), missing.map(({ run }) => run)];
      let { rows } = await this.#database.query<Row>({ name: "read-runs", text: read, values });
      if (rows.length < missing.length) {
        await this.#database.query({ name: "ensure-runs", text: ensure, values });
        ({ rows } = await this.#database.query<Row>({ name: "read-runs", text: read, values }));
      }
      for (const row of rows) this.keep(headOf(row));
    }
    return names.flatMap((name) => this.#known.get(runName(name)) ?? []);
  }

  keep(head: RunHead): void {
    const name = runName(head);
    this.#known.delete(name);
    this.#known.set(name, head);
    if (this.#known.size <= metricsLimits.runsKnownMax) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      return;
    }
  }

  forget(name: RunName): void {
    this.#known.delete(runName(name));
  }

  forgetAll(): void {
    this.#known.clear();
  }
}

function headOf(row: Row): RunHead {
  const { trial, run, version, progress, first_step: firstStep } = row;
  return {
    trial,
    run,
    version,
    keys: decodeLedger(row.keys),
    progress: progress === null ? null : { fraction: progress, atMs: row.progress_at_ms ?? 0 },
    training:
      firstStep === null
        ? null
        : {
            firstStep,
            lastStep: row.last_step ?? 0,
            firstAtMs: row.first_at_ms ?? 0,
            lastAtMs: row.last_at_ms ?? 0,
          },
    hasOldRows: row.has_old_rows,
  };
}
