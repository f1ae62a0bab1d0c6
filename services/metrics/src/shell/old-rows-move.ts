/**
 * Moves the rows of earlier versions to tails, run by run, in steps of one commit each. A crash between two steps
 * leaves no half-moved row. A step that the database rejects is divided until the faulty rows are alone: they stay
 * readable where they are and are retried in a later pass.
 */
import { Fault, isFault } from "@trainyard/kernel";
import { inTransaction, isDatabaseAway, type Logger } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import { hasKey } from "../core/columns/key-ledger.ts";
import { metricsLimits } from "../limits.ts";
import { KnownNames } from "./known-names.ts";
import { type OldRow, reportOf } from "./old-rows.ts";
import { RunHeads, type RunName } from "./run-heads.ts";
import { changeOf, keysIn, type PointRow, writeChanges } from "./write-points.ts";

type Place = RunName & { readonly key: string };

const start: Place = { trial: "", run: 0, key: "" };

// Selects rows of one run: the first run that has any after the current place.
const nextRows = `
select trial, run, key, group_name, step, at_ms, metrics from (
  select *, sum(octet_length(metrics)) over (order by key) - octet_length(metrics) as bytes_before
  from (
    select points.* from metrics.points join (
      select trial, run from metrics.points where (trial, run, key) > ($1, $2::integer, $3)
      order by trial, run, key limit 1
    ) as next using (trial, run)
    where (trial, run, key) > ($1, $2::integer, $3)
    order by key limit $4
  ) as page
) as sized
where bytes_before < $5
order by key`;

const remove = `delete from metrics.points where trial = $1 and run = $2 and key = any($3::text[])`;

export class OldRowsMove {
  readonly #pool: Pool;
  readonly #logger: Logger;
  #place = start;
  #left = 0;

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
  }

  /** Moves one step's rows. Returns the milliseconds until the next step. */
  async step(): Promise<number> {
    const { oldRowsPerStep, blockBytesMax, oldRowsPauseMs, oldRowsLeftPauseMs } = metricsLimits;
    const { trial, run, key } = this.#place;
    const values = [trial, run, key, oldRowsPerStep, blockBytesMax];
    const { rows } = await this.#pool.query<OldRow>(nextRows, values);
    const last = rows.at(-1);
    if (last === undefined) {
      const left = this.#left;
      [this.#place, this.#left] = [start, 0];
      return left > 0 ? oldRowsLeftPauseMs : oldRowsPauseMs;
    }
    await this.#move(rows);
    this.#place = last;
    return 0;
  }

  async #move(rows: readonly OldRow[]): Promise<void> {
    try {
      await inTransaction(this.#pool, (client) => moveRows(client, rows));
    } catch (error) {
      if (isFault(error) || isDatabaseAway(error)) throw error;
      const half = Math.ceil(rows.length / 2);
      if (rows.length > 1) {
        await this.#move(rows.slice(0, half));
        await this.#move(rows.slice(half));
        return;
      }
      this.#left += 1;
      const [row] = rows;
      const { trial, run, key } = row ?? start;
      this.#logger.error({ err: error, trial, run, key }, "old_row_not_moved");
    }
  }
}

/** Moves rows of one run. Rows whose keys the run already has are only deleted. */
async function moveRows(client: PoolClient, rows: readonly OldRow[]): Promise<void> {
  const points = rows.map(pointOf);
  const keys = rows.map(({ key }) => key);
  const [head] = await new RunHeads(client).of(points.slice(0, 1));
  if (head === undefined) return;
  // A replica of the earlier version may have stored a report again after this version stored it.
  const known = new Set(keys.filter((key) => hasKey(head.keys, key)));
  for (const key of await keysIn(client, "loose_keys", head, keys)) known.add(key);
  const change = changeOf(head, points, known);
  if (change !== null) {
    const moved = await writeChanges(client, [change], new KnownNames().newIn(change.added), {
      isNew: false,
    });
    if (moved.size === 0) {
      throw new Fault("points_unavailable", "a run was written to meanwhile", { retry: "now" });
    }
  }
  await client.query(remove, [head.trial, head.run, keys]);
}

const pointOf = (row: OldRow): PointRow => ({
  ...reportOf(row),
  trial: row.trial,
  run: row.run,
  group: row.group_name,
  bytes: row.metrics.length,
  system: null,
});
