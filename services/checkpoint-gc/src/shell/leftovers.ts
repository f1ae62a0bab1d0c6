/**
 * The loop that deletes the rows of permanently deleted experiments, in bounded statements: once their TensorBoard
 * files and all of their checkpoints are deleted, nothing reads the rows again. A validation or a checkpoint that the
 * log gets even later leaves its row.
 */
import { type Clock, Fault } from "@trainyard/kernel";
import { EffectLoop, type Logger } from "@trainyard/runtime";
import type { Pool } from "pg";
import { gcLimits } from "../limits.ts";

export type LeftoverDeps = {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Conditions on rows of the index that a rebuild has, and that this loop may have deleted. */
export const mayBeForgotten = {
  checkpoints: "retention = 'deleted' and experiment in (select experiment from pg_temp.leftovers)",
  ofTrials: "split_part(trial, '.', 1) in (select experiment from pg_temp.leftovers)",
  leftovers: "true",
} as const;

/** Trials are named <experiment>.<number>: "/" is the character after ".". */
const ofTrials = "trial >= $1 || '.' and trial < $1 || '/'";

const conditions = {
  validations: ofTrials,
  declarations: ofTrials,
  arrived: ofTrials,
  run_ends: ofTrials,
  checkpoints: "experiment = $1",
} as const;

export function leftoverLoop(deps: LeftoverDeps): EffectLoop {
  return new EffectLoop("leftovers", deps, async (signal) => {
    const experiments = await finished(deps.pool);
    for (const experiment of experiments) {
      if (signal.aborted) return null;
      await forget(deps.pool, experiment);
    }
    if (experiments.length === gcLimits.page) return 0;
    // No event says when the last TensorBoard file is removed.
    return gcLimits.lookAgainMs;
  });
}

async function finished(pool: Pool): Promise<readonly string[]> {
  const text = `select experiment from checkpoint_gc.leftovers l
    where not exists (select from checkpoint_gc.tensorboards t where t.experiment = l.experiment)
      and not exists (select from checkpoint_gc.checkpoints c
        where c.experiment = l.experiment and c.retention <> 'deleted')
    order by experiment limit $1`;
  const { rows } = await query<{ readonly experiment: string }>(pool, text, [gcLimits.page]);
  return rows.map(({ experiment }) => experiment);
}

async function forget(pool: Pool, experiment: string): Promise<void> {
  for (const [table, condition] of Object.entries(conditions)) {
    const text = `delete from checkpoint_gc.${table} where ctid in (
      select ctid from checkpoint_gc.${table} where ${condition} limit $2)`;
    for (let rows = 1; rows > 0; ) {
      rows = (await query(pool, text, [experiment, gcLimits.rowsPerPurge])).rowCount ?? 0;
    }
  }
  await query(pool, "delete from checkpoint_gc.leftovers where experiment = $1", [experiment]);
}

async function query<Row extends object>(pool: Pool, text: string, values: readonly unknown[]) {
  try {
    return await pool.query<Row>(text, [...values]);
  } catch (cause) {
    throw new Fault("database_away", "the index of checkpoints does not answer", {
      retry: "later",
      cause,
    });
  }
}
