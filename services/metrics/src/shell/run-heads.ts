/**
 * Caches the state of each run, as last read or written by this process. An entry may be stale: a commit on an old
 * version changes nothing, and its writer reads again. After any database error the cache is cleared, because the
 * database may have older state (a restored backup, a failover).
 */
import { assert } from "@trainyard/kernel";
import type { RunTokenContent } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import { decodeLedger, type KeyLedger, rangesOf } from "../core/columns/key-ledger.ts";
import type { Extent } from "../core/writes.ts";
import { metricsLimits } from "../limits.ts";

export type RunName = { readonly trial: string; readonly run: number };

/** A run with the grant that made it. */
export type GrantedRun = RunName & { readonly grant: RunTokenContent };

export type RunHead = RunName & {
  readonly version: number;
  /** The id of the event that granted the run whose reports are stored. */
  readonly grantId: string;
  readonly keys: KeyLedger;
  /** Reports whether some keys are stored as rows outside the ledger. */
  readonly hasLooseKeys: boolean;
  /** The extent of the group `training`. */
  readonly training: Extent | null;
};

export const runName = ({ trial, run }: RunName): string => `${trial}#${run}`;

const ensure = `
insert into metrics.runs (trial, run, grant_position, grant_id)
select * from unnest($1::text[], $2::integer[], $3::bigint[], $4::text[])
  as given (trial, run, grant_position, grant_id) order by trial, run
on conflict do nothing`;

const read = `
select trial, run, version::float8 as version, grant_id, keys, has_loose_keys, first_step, last_step, first_at_ms, last_at_ms
from metrics.runs join unnest($1::text[], $2::integer[]) as given (trial, run) using (trial, run)`;

type Row = {
  readonly trial: string;
  readonly run: number;
  readonly version: number;
  readonly grant_id: string;
  readonly keys: Buffer;
  readonly has_loose_keys: boolean;
  readonly first_step: number | null;
  readonly last_step: number | null;
  readonly first_at_ms: number | null;
  readonly last_at_ms: number | null;
};

export class RunHeads {
  readonly #database: Pool | PoolClient;
  /** The heads by the run's name, the least recently used first. */
  readonly #known = new Map<string, RunHead>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(database: Pool | PoolClient, bytesMax: number = metricsLimits.runsKnownBytesMax) {
    this.#database = database;
    this.#bytesMax = bytesMax;
  }

  /**
   * Returns the heads in the order of the names. An unknown run is inserted into the database with its grant; a known
   * one may have another grant.
   */
  async of(names: readonly GrantedRun[]): Promise<readonly RunHead[]> {
    // This map keeps the heads: the cache may evict some of them at once.
    const heads = new Map(names.map((name) => [runName(name), this.#known.get(runName(name))]));
    const missing = names.filter((name) => heads.get(runName(name)) === undefined);
    if (missing.length > 0) {
      const values = [missing.map(({ trial }) => trial), missing.map(({ run }) => run)];
      let { rows } = await this.#database.query<Row>({ name: "read-runs", text: read, values });
      if (rows.length < missing.length) {
        const granted = [
          missing.map(({ grant }) => grant.grantPosition),
          missing.map(({ grant }) => grant.grantId),
        ];
        const all = [...values, ...granted];
        await this.#database.query({ name: "ensure-runs", text: ensure, values: all });
        ({ rows } = await this.#database.query<Row>({ name: "read-runs", text: read, values }));
      }
      for (const head of rows.map(headOf)) {
        heads.set(runName(head), head);
        this.keep(head);
      }
    }
    return names.map((name) => {
      const head = heads.get(runName(name));
      assert(head !== undefined, `run ${runName(name)} is in the database`);
      return head;
    });
  }

  keep(head: RunHead): void {
    this.forget(head);
    this.#known.set(runName(head), head);
    this.#bytes += bytesOf(head);
    for (const oldest of this.#known.values()) {
      if (this.#bytes <= this.#bytesMax || this.#known.size === 1) return;
      this.forget(oldest);
    }
  }

  forget(name: RunName): void {
    const known = this.#known.get(runName(name));
    if (known === undefined) return;
    this.#known.delete(runName(name));
    this.#bytes -= bytesOf(known);
  }

  forgetAll(): void {
    this.#known.clear();
    this.#bytes = 0;
  }
}

/** The approximate size in memory: two numbers for each range. */
const bytesOf = ({ keys }: RunHead): number => 512 + 16 * rangesOf(keys);

function headOf(row: Row): RunHead {
  const { trial, run, version, first_step: firstStep } = row;
  return {
    trial,
    run,
    version,
    grantId: row.grant_id,
    keys: decodeLedger(row.keys),
    hasLooseKeys: row.has_loose_keys,
    training:
      firstStep === null
        ? null
        : {
            firstStep,
            lastStep: row.last_step ?? 0,
            firstAtMs: row.first_at_ms ?? 0,
            lastAtMs: row.last_at_ms ?? 0,
          },
  };
}
