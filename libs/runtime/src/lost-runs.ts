/**
 * Removes what a service has stored of lost runs. After a restore or a failover with loss, the log may give a run's
 * name again, and tables on a server of their own still have the rows of the run that had it before. Each run is
 * therefore stored with its grant. Rows of two grants are never merged: a run that another grant has made begins again.
 * Runs that nobody replaces are found by looking their grants up.
 *
 * The row of `proven` makes that cheap. It names an event of the log: a log that still has it has every grant up to
 * there that was found before. It also names the log, so that the tables of one log lose nothing by another one.
 */
import type { EventLog } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";
import type { Pool, PoolClient } from "pg";
import { eventAt } from "./history/event-cursor.ts";
import { runtimeLimits } from "./limits.ts";
import { lostRun, type RunGrants } from "./run-grants.ts";
import type { RunTokenContent } from "./run-token.ts";
import { inTransaction } from "./views/transaction.ts";

type RunName = { readonly trial: string; readonly run: number };

type Proven = { readonly log: string; readonly position: number; readonly id: string };

type StoredRun = RunName & { readonly grantPosition: number; readonly grantId: string };

/** The tables of a service: `<schema>.runs` (trial, run, grant_position, grant_id) and `<schema>.proven`. */
export type RunTables = {
  readonly schema: string;
  /** Removes what is stored of a run, within the transaction that has locked its row. */
  readonly remove: (client: PoolClient, run: RunName) => Promise<void>;
};

export class LostRuns {
  readonly #pool: Pool;
  readonly #log: EventLog;
  readonly #grants: RunGrants;
  readonly #tables: RunTables;

  constructor(deps: {
    readonly pool: Pool;
    readonly log: EventLog;
    readonly grants: RunGrants;
    readonly tables: RunTables;
  }) {
    this.#pool = deps.pool;
    this.#log = deps.log;
    this.#grants = deps.grants;
    this.#tables = deps.tables;
  }

  /** Removes what another grant of this run has stored, and records this grant. */
  async replace(run: RunName, grant: RunTokenContent): Promise<void> {
    if ((await this.#grants.ask(grant)) !== "held") throw lostRun(grant.allocation);
    await this.#provenOfThisLog();
    const { schema, remove } = this.#tables;
    await inTransaction(this.#pool, async (client) => {
      if ((await this.#lock(client, run)) === grant.grantId) return;
      await remove(client, run);
      const text = `update ${schema}.runs set grant_position = $3, grant_id = $4 where trial = $1 and run = $2`;
      await client.query(text, [run.trial, run.run, grant.grantPosition, grant.grantId]);
    });
  }

  /** Removes the runs whose grant the log lacks. Returns their number. */
  async sweep(signal: AbortSignal): Promise<number> {
    const head = await eventAt(this.#log, await this.#log.head());
    const proven = await this.#provenOfThisLog();
    if (head === null) return 0;
    const isProven = (await eventAt(this.#log, proven.position))?.id === proven.id;
    let removed = 0;
    let page = await this.#runsAfter({ grantPosition: isProven ? proven.position : 0 });
    for (; page.length > 0 && !signal.aborted; page = await this.#runsAfter(page.at(-1) ?? {})) {
      for (const run of page) removed += (await this.#removeIfLost(run)) ? 1 : 0;
    }
    if (page.length === 0) {
      await this.#prove({ log: proven.log, position: head.position, id: head.id });
    }
    return removed;
  }

  async #runsAfter({ grantPosition = 0, trial = "", run = 0 }: Partial<StoredRun>) {
    const text = `
      select trial, run, grant_position::float8 as "grantPosition", grant_id as "grantId"
      from ${this.#tables.schema}.runs
      where (grant_position, trial, run) > ($1, $2, $3) order by grant_position, trial, run limit $4`;
    const values = [grantPosition, trial, run, runtimeLimits.runsProvenAtOnce];
    return (await this.#pool.query<StoredRun>(text, values)).rows;
  }

  async #removeIfLost(run: StoredRun): Promise<boolean> {
    const allocation = `${run.trial}#${run.run}`;
    if ((await this.#grants.ask({ ...run, allocation })) !== "lost") return false;
    const { schema, remove } = this.#tables;
    await inTransaction(this.#pool, async (client) => {
      if ((await this.#lock(client, run)) !== run.grantId) return;
      await remove(client, run);
      const text = `delete from ${schema}.runs where trial = $1 and run = $2`;
      await client.query(text, [run.trial, run.run]);
    });
    return true;
  }

  /** Locks a run's row, and returns its grant. */
  async #lock(client: PoolClient, { trial, run }: RunName): Promise<string | null> {
    const text = `select grant_id as "grantId" from ${this.#tables.schema}.runs
      where trial = $1 and run = $2 for update`;
    const { rows } = await client.query<{ grantId: string }>(text, [trial, run]);
    return rows[0]?.grantId ?? null;
  }

  /** Throws a Fault if the tables belong to another log. */
  async #provenOfThisLog(): Promise<Proven> {
    const { schema } = this.#tables;
    const log = (await eventAt(this.#log, 1))?.id ?? "";
    const text = `select log, position::float8 as position, id from ${schema}.proven`;
    const { rows } = await this.#pool.query<Proven>(text);
    const proven = rows[0] ?? { log, position: 0, id: "" };
    if (rows.length === 0 && log !== "") await this.#prove(proven);
    if (proven.log === log) return proven;
    const detail = `the tables of ${schema} belong to the log that begins with event ${proven.log}, and this log begins with ${log || "none"}: no stored run is removed`;
    throw new Fault("other_log", detail, { retry: "later" });
  }

  async #prove({ log, position, id }: Proven): Promise<void> {
    const text = `insert into ${this.#tables.schema}.proven (log, position, id) values ($1, $2, $3)
      on conflict (one) do update set position = excluded.position, id = excluded.id`;
    await this.#pool.query(text, [log, position, id]);
  }
}
