/**
 * The removal of what belonged to a deleted experiment: its trials with their runs, validations and attributes, and its
 * checkpoints without files. The deletion itself only hides them, since a search may have a million trials. The rows go
 * in pieces, each in a transaction that holds the view's cursor, so that no page of the log writes them at the same
 * time. A piece that is too slow is halved, like a page of the log. Every replica does this.
 */
import type { Clock } from "@trainyard/kernel";
import {
  EffectLoop,
  inTransaction,
  isDatabaseSlow,
  type Logger,
  type ViewTable,
} from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import { attributesTable } from "./list-rows.ts";
import { checkpointList, trialList } from "./core/lists/lists.ts";
import { readModelLimits } from "./limits.ts";

/** The table of the deleted experiments that may have rows. */
export const removedTable = "removed_experiments";

/** Whether the experiment with an id was removed. The ids of tasks are no numbers, and no id is that of an upload. */
const isRemoved = (id: string): string =>
  `${id} ~ '^[0-9]+$' and ${id} not in (select id from gateway.documents where kind = 'experiment')`;

const conditions: Readonly<Record<string, string>> = {
  // The parent of a run and of a validation is their trial.
  documents: `kind in ('trial', 'checkpoint', 'run', 'validation') and ${isRemoved("split_part(parent, '.', 1)")}`,
  [attributesTable]: `kind = 'trial' and ${isRemoved("scope")}`,
  [trialList.table]: isRemoved("scope"),
  [checkpointList.table]: isRemoved("scope"),
};

/** Returns which rows of a table a fold has and the table may lack. */
export function mayBeRemoved(table: string): Pick<ViewTable, "mayBeGone"> {
  const mayBeGone = conditions[table];
  return mayBeGone === undefined ? {} : { mayBeGone };
}

export function removalLoop(deps: {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly logger: Logger;
}): EffectLoop {
  const { removedTrials, removalPauseMs, removalRestMs } = readModelLimits;
  let trials: number = removedTrials;
  return new EffectLoop("removed_rows", deps, async (signal) => {
    while (!signal.aborted) {
      const done = await inTransaction(deps.pool, (client) => removePiece(client, trials)).catch(
        (error: unknown) => {
          if (trials === 1 || !isDatabaseSlow(error)) throw error;
          trials = Math.ceil(trials / 2);
          return "some" as const;
        },
      );
      if (done === "later") return removalRestMs;
      if (done === "some") continue;
      trials = removedTrials;
      return removalPauseMs;
    }
    return null;
  });
}

/** Removes rows of some trials of a deleted experiment; "later" while a page of the log is applied. */
async function removePiece(
  client: PoolClient,
  trialsMax: number,
): Promise<"some" | "nothing" | "later"> {
  const lock = "select 1 from gateway.view_cursor where view = 'documents' for update skip locked";
  if ((await client.query(lock)).rowCount === 0) return "later";
  const { rows } = await client.query<{ id: string }>(
    `select id from gateway.${removedTable} order by id limit 1`,
  );
  const experiment = rows[0]?.id;
  if (experiment === undefined) return "nothing";
  const trials = await client.query<{ id: string }>(
    "select id from gateway.trial_rows where scope = $1 order by ordinal, id limit $2",
    [experiment, trialsMax],
  );
  if (trials.rows.length > 0) {
    await removeTrials(
      client,
      trials.rows.map(({ id }) => id),
    );
    return "some";
  }
  const checkpoints = await client.query(
    `with gone as (
       delete from gateway.checkpoint_rows where id in
         (select id from gateway.checkpoint_rows
          where scope = $1 and state in ('DELETED', 'ERROR') limit $2)
       returning id)
     delete from gateway.documents d using gone where d.kind = 'checkpoint' and d.id = gone.id`,
    [experiment, trialsMax],
  );
  if ((checkpoints.rowCount ?? 0) > 0) return "some";
  await client.query(`delete from gateway.${removedTable} where id = $1`, [experiment]);
  return "some";
}

/** Removes trials, or runs and validations of theirs if they have more than a piece of them. */
async function removeTrials(client: PoolClient, ids: readonly string[]): Promise<void> {
  const rowsMax = readModelLimits.removedRowsOfTrial * ids.length;
  const { rowCount } = await client.query(
    `delete from gateway.documents where (kind, id) in (
       select kind, id from gateway.documents
       where kind in ('run', 'validation') and parent = any($1) limit $2)`,
    [ids, rowsMax],
  );
  if (rowCount === rowsMax) return;
  await client.query("delete from gateway.trial_rows where id = any($1)", [ids]);
  await client.query("delete from gateway.attributes where kind = 'trial' and id = any($1)", [ids]);
  await client.query("delete from gateway.documents where kind = 'trial' and id = any($1)", [ids]);
}
