/**
 * Keeps with each run the grant whose lines are stored. Lines of another grant of the run, which a lost history gave,
 * are removed before the first line of this one: a line would else count as a repeat of a lost line with its number.
 */
import {
  type LostRuns,
  Problem,
  type RunTables,
  type RunTokenContent,
  tableFault,
} from "@trainyard/runtime";
import { isFault } from "@trainyard/kernel";
import { LRUCache } from "lru-cache";
import type { Pool, PoolClient } from "pg";
import type { LineOwner } from "../core/owner.ts";
import { logsLimits } from "../limits.ts";

const ensure = `
insert into logs.runs (trial, run, grant_position, grant_id) values ($1, $2, $3, $4)
on conflict (trial, run) do update set trial = excluded.trial
returning grant_id as "grantId"`;

const removeLines = `
with removed as (
  delete from logs.lines where experiment = $1 and trial = $2 and run = $3 returning octet_length(line) as bytes
)
update logs.experiments set bytes = greatest(0, bytes - (select coalesce(sum(bytes), 0) from removed))
where experiment = $1`;

export const lineTables: RunTables = {
  schema: "logs",
  async remove(client: PoolClient, { trial, run }) {
    await client.query(removeLines, [trial.split(".")[0], trial, run]);
  },
};

export class LineRuns {
  readonly #pool: Pool;
  readonly #lost: LostRuns;
  /** The stored grants of runs. */
  readonly #known = new LRUCache<string, string>({
    maxSize: logsLimits.runsKnownMax,
    sizeCalculation: () => 1,
  });

  constructor(pool: Pool, lost: LostRuns) {
    this.#pool = pool;
    this.#lost = lost;
  }

  /** Makes sure that a run has no lines of another grant. */
  async own({ trial, run }: LineOwner, grant: RunTokenContent): Promise<void> {
    const { allocation, grantPosition, grantId } = grant;
    if (this.#known.get(allocation) === grantId) return;
    try {
      const values = [trial, run, grantPosition, grantId];
      const { rows } = await this.#pool.query<{ grantId: string }>(ensure, values);
      if (rows[0]?.grantId !== grantId) await this.#lost.replace({ trial, run }, grant);
    } catch (cause) {
      if (cause instanceof Problem || isFault(cause)) throw cause;
      throw tableFault(cause, "lines_unavailable", "the table of lines");
    }
    this.#known.set(allocation, grantId);
  }
}
