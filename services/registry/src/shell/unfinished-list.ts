/** The checkpoints that were never completed, for a person who decides about them after the log went back. */
import { storageRoot } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { DeletionHold } from "@trainyard/contracts/commands";
import { tableFault } from "@trainyard/runtime";
import type { Pool } from "pg";

export type UnfinishedPage = Pick<Plain<DeletionHold>, "unfinished" | "more">;

type Row = Omit<UnfinishedPage["unfinished"][number], "place"> & {
  readonly storage: string | null;
};

const rowsAfter = `
select checkpoint, maker as trial, run, step, state, storage, since_ms as "sinceMs"
from registry.unfinished where checkpoint > $1 order by checkpoint limit $2`;

/** Returns at most `limit` checkpoints after one, in the order of their ids. */
export async function unfinishedPage(
  pool: Pool,
  after: string,
  limit: number,
): Promise<UnfinishedPage> {
  const { rows } = await pool.query<Row>(rowsAfter, [after, limit + 1]).catch((cause: unknown) => {
    throw tableFault(cause, "database_away", "the table of unfinished checkpoints");
  });
  const unfinished = rows.slice(0, limit).map(({ storage, ...row }) => ({
    ...row,
    place: storage === null ? "" : placeOf(storage, row.checkpoint),
  }));
  return { unfinished, more: rows.length > limit };
}

export type UnfinishedCount = {
  readonly state: string;
  readonly count: number;
  readonly sinceMs: number;
};

/** Counts them by state, with the time since which the oldest is in its state. */
export async function countUnfinished(
  pool: Pick<Pool, "query">,
): Promise<readonly UnfinishedCount[]> {
  const { rows } = await pool.query<UnfinishedCount>(
    `select state, count(*)::float8 as count, min(since_ms)::float8 as "sinceMs"
     from registry.unfinished group by state`,
  );
  return rows;
}

function placeOf(storage: string, checkpoint: string): string {
  const root = storageRoot(JSON.parse(storage) as Record<string, unknown>);
  return root === null ? "" : `${root.replace(/\/$/, "")}/${checkpoint}`;
}
