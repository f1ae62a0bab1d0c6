/**
 * Writes the points and system samples of all runs. A write that conflicts with another replica's is retried on the new
 * state. After any database error the cached state is dropped.
 */
import { Fault, isFault } from "@trainyard/kernel";
import { inTransaction, type LostRuns, Problem, tableFault } from "@trainyard/runtime";
import type { Pool, PoolClient, QueryConfig, QueryResultRow } from "pg";
import { hasKey } from "../core/columns/key-ledger.ts";
import type { Extent } from "../core/writes.ts";
import { metricsLimits } from "../limits.ts";
import { KnownNames, type MetricName } from "./known-names.ts";
import { type GrantedRun, type RunHead, RunHeads, runName } from "./run-heads.ts";
import { insertSamples } from "./system-table.ts";
import { type Change, changeOf, looseKeysIn, type PointRow, writeChanges } from "./write-points.ts";

export class PointStore {
  readonly #pool: Pool;
  readonly #lost: LostRuns;
  readonly #heads: RunHeads;
  readonly #names = new KnownNames();

  constructor(pool: Pool, lost: LostRuns) {
    this.#pool = pool;
    this.#lost = lost;
    this.#heads = new RunHeads(pool);
  }

  /** Stores new rows, in one commit for each run. Returns the rows that were new. */
  async insert(rows: readonly PointRow[]): Promise<ReadonlySet<PointRow>> {
    const added = new Set<PointRow>();
    // Rows of two grants of a run are written one after the other: only one of the grants is in the log.
    for (let left: OfRuns = Map.groupBy(rows.toSorted(byRun), runName); left.size > 0; ) {
      const [now, later] = byFirstGrant(left);
      await this.#insertRuns(now, added);
      left = later;
    }
    return added;
  }

  async #insertRuns(rows: OfRuns, added: Set<PointRow>): Promise<void> {
    let left = rows;
    for (let attempt = 0; left.size > 0; attempt += 1) {
      if (attempt === metricsLimits.writeAttemptsMax) {
        throw new Fault("points_unavailable", "other writers were first each time", {
          retry: "now",
        });
      }
      left = await this.#attempt(left, added);
    }
  }

  /** Returns those of the keys that are stored. */
  async stored(name: GrantedRun, keys: readonly string[]): Promise<ReadonlySet<string>> {
    const [head] = await this.#headsOf([name]);
    return head === undefined ? new Set() : this.#knownOf(head, keys);
  }

  /** The extent of the training reports of a run that has any. */
  async training(
    trial: string,
    run: number,
  ): Promise<readonly (Extent & { readonly run: number })[]> {
    return this.#query({
      name: "training",
      text: `select run, first_step as "firstStep", last_step as "lastStep",
               first_at_ms as "firstAtMs", last_at_ms as "lastAtMs"
             from metrics.runs where trial = $1 and run = $2::bigint and first_step is not null`,
      values: [trial, run],
    });
  }

  /** Returns the rows that are left to write, by run. */
  async #attempt(
    left: ReadonlyMap<string, readonly PointRow[]>,
    added: Set<PointRow>,
  ): Promise<Map<string, PointRow[]>> {
    const heads = await this.#headsOf([...left.values()].flatMap(first));
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

  /** Returns the heads of runs. A run that another grant made begins again. */
  async #headsOf(runs: readonly GrantedRun[]): Promise<readonly RunHead[]> {
    const heads = await this.#guarded(() => this.#heads.of(runs));
    const others = runs.filter(({ grant }, index) => heads[index]?.grantId !== grant.grantId);
    if (others.length === 0) return heads;
    for (const run of others) {
      // The cached head may be older than a replacement by another replica.
      this.#heads.forget(run);
      const [current] = await this.#guarded(() => this.#heads.of([run]));
      if (current?.grantId === run.grant.grantId) continue;
      await this.#guarded(() => this.#lost.replace(run, run.grant));
      this.#heads.forget(run);
      this.#names.forgetAll();
    }
    return this.#guarded(() => this.#heads.of(runs));
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
      if (cause instanceof Problem || isFault(cause)) throw cause;
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

type OfRuns = ReadonlyMap<string, readonly PointRow[]>;

/** Divides the rows of each run into those of its first grant, and the rest. */
function byFirstGrant(left: OfRuns): readonly [now: OfRuns, later: OfRuns] {
  const now = new Map<string, readonly PointRow[]>();
  const later = new Map<string, readonly PointRow[]>();
  for (const [run, rows] of left) {
    const isFirst = ({ grant }: PointRow): boolean => grant.grantId === rows[0]?.grant.grantId;
    const others = rows.filter((row) => !isFirst(row));
    now.set(run, others.length === 0 ? rows : rows.filter(isFirst));
    if (others.length > 0) later.set(run, others);
  }
  return [now, later];
}

function byRun(a: PointRow, b: PointRow): number {
  return a.trial < b.trial ? -1 : a.trial > b.trial ? 1 : a.run - b.run;
}
