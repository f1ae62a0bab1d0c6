import type { RunTables } from "@trainyard/runtime";
import type { PoolClient } from "pg";
import type { RunName } from "./run-heads.ts";

const tables = ["tails", "past_tails", "blocks", "system_points", "system_totals", "loose_keys"];

// A writer that has read an older version does not commit.
const restart = `
update metrics.runs set version = version + 1, keys = '', has_loose_keys = false,
  first_step = null, last_step = null, first_at_ms = null, last_at_ms = null,
  tail_weight = 0, due_at = null
where trial = $1 and run = $2`;

const removeNames = `
delete from metrics.names where trial = $1
  and not exists (select from metrics.runs where trial = $1 and run <> $2)`;

// No reader may continue from before the removal: it would keep points that are gone.
const endStream = `
update metrics.streams set position = position + 1, removed = position + 1 where experiment = $1`;

/** The reports of a run, with the state of the run. */
export const runTables: RunTables = {
  schema: "metrics",
  async remove(client: PoolClient, { trial, run }: RunName) {
    for (const table of tables) {
      await client.query(`delete from metrics.${table} where trial = $1 and run = $2`, [
        trial,
        run,
      ]);
    }
    await client.query(restart, [trial, run]);
    await client.query(removeNames, [trial, run]);
    await client.query(endStream, [trial.split(".")[0]]);
  },
};
