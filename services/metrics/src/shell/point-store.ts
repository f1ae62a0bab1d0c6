/**
 * Writes the points and system samples of all runs. A write that conflicts with another replica's is retried on the new
 * state. After any database error the cached state is dropped.
 */
import { Fault } from "@trainyard/kernel";
import { inTransaction, tableFault } from "@trainyard/runtime";
import type { Pool, PoolClient, QueryConfig, QueryResultRow } from "pg";
import { hasKey } from "../core/columns/key-ledger.ts";
import type { Extent, Progress } from "../core/writes.ts";
import { metricsLimits } from "../limits.ts";
import { KnownNames, type MetricName } from "./known-names.ts";
import { type RunHead, RunHeads, type RunName, runName } from "./run-heads.ts";
import { insertSamples } from "./system-table.ts";
import { type Change, changeOf, looseKeysIn, type PointRow, writeChanges } from "./write-points.ts";

export class PointStore {
  readonly #pool: Pool;
  readonly #heads: RunHeads;
  readonly #names = new KnownNames();

  constructor(pool: Pool) {
    this.#pool = pool;
    this.#heads = new RunHeads(pool);
  }

  /** Stores new rows, in one commit for each run. Returns the rows that were new. */
  async insert(rows: readonly PointRow[]): Promise<ReadonlySet<PointRow>> {
    const added = new Set<PointRow>();
    let left = Map.groupBy(rows.toSorted(byRun), runName);
    for (let attempt = 0; left.size > 0; attempt += 1) {
      if (attempt === metricsLimits.writeAttemptsMax) {
        throw new Fault("points_unavailable", "other writers were first each time", {
          retry: "now",
        });
      }
      left = await this.#attempt(left, added);
    }
    return added;
  }

  /** Returns those of the keys that are stored. */
  async stored(name: RunName, keys: readonly string[]): Promise<ReadonlySet<string>> {
    const [head] = await this.#guarded(() => this.#heads.of([name]));
    return head === undefined ? new Set() : this.#knownOf(head, keys);
  }

  /** The last progress report of the newest run that has one; null if there is none. */
  async progress(trial: string): Promise<Progress | null> {
    const rows = await this.#query<{ progress: number; progress_at_ms: number }>({
      name: "progress",
      text: `select progress, progress_at_ms from metrics.runs where trial = $1 and progress is not null
             order by run desc limit 1`,
      values: [trial],
    });
    const [row] = rows;
    return row === undefined ? null : { fraction: row.progress, atMs: row.progress_at_ms };
  }

  /** The extents of the training reports of each run that has any, in the order of the runs. */
  async training(trial: string): Promise<readonly (Extent & { readonly run: number })[]> {
    return this.#query({
      name: "training",
      text: `select run, first_step as "firstStep", last_step as "lastStep",
               first_at_ms as "firstAtMs", last_at_ms as "lastAtMs"
             from metrics.runs where trial = $1 and first_step is not null order by run`,
      values: [trial],
    });
  }

  /** Returns the rows that are left to write, by run. */
  async #attempt(
    left: ReadonlyMap<string, readonly PointRow[]>,
    added: Set<PointRow>,
  ): Promise<Map<string, PointRow[]>> {
    const heads = await this.#guarded(() => this.#heads.of([...left.values()].flatMap(first)));
    const changes: Change[] = [];
    for (const head of heads) {
      const rows = left.get(runName(head)) ?? [];
      const known = await this.#knownOf(
        head,
        rows.map(({ key }) => key),
      );
      const change = changeOf(head, rows, known);
      if (change !== null) changes.push(change);
    }
    const moved = changes.length === 0 ? new Set<string>() : await this.#write(changes);
    const stale = changes.filter(({ before }) => !moved.has(runName(before)));
    for (const { before, after, added: rows } of changes) {
      if (!moved.has(runName(before))) {
        this.#heads.forget(before);
        continue;
      }
      this.#heads.keep(after);
      for (const row of rows) added.add(row);
    }
    return new Map(stale.map(({ before, added: rows }) => [runName(before), [...rows]]));
  }

  async #write(changes: readonly Change[]): Promise<ReadonlySet<string>> {
    const names = this.#names.newIn(changes.flatMap(({ added }) => added));
    const hasSamples = changes.some(({ samples }) => samples.length > 0);
    const moved = await this.#guarded(() =>
      hasSamples
        ? inTransaction(this.#pool, (client) => writeWithSamples(client, changes, names))
        : writeChanges(this.#pool, changes, names),
    );
    // Names are kept even if their run's write conflicted: the other writer stores the same names.
    this.#names.keep(names);
    return moved;
  }

  async #knownOf(head: RunHead, keys: readonly string[]): Promise<ReadonlySet<string>> {
    const known = new Set(keys.filter((key) => hasKey(head.keys, key)));
    const rest = keys.filter((key) => !known.has(key));
    if (!head.hasLooseKeys) return known;
    const loose = await this.#guarded(() => looseKeysIn(this.#pool, head, rest));
    return new Set([...known, ...loose]);
  }

  async #query<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]> {
    return this.#guarded(async () => (await this.#pool.query<Row>(query)).rows);
  }

  async #guarded<Result>(ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask();
    } catch (cause) {
      this.#heads.forgetAll();
      this.#names.forgetAll();
      throw tableFault(cause, "points_unavailable", "the table of points");
    }
  }
}

async function writeWithSamples(
  client: PoolClient,
  changes: readonly Change[],
  names: readonly MetricName[],
): Promise<ReadonlySet<string>> {
  const moved = await writeChanges(client, changes, names);
  const own = changes.filter(({ before }) => moved.has(runName(before)));
  await insertSamples(
    client,
    own.flatMap(({ samples }) => samples),
  );
  return moved;
}

const first = (rows: readonly PointRow[]): readonly PointRow[] => rows.slice(0, 1);

function byRun(a: PointRow, b: PointRow): number {
  return a.trial < b.trial ? -1 : a.trial > b.trial ? 1 : a.run - b.run;
}
