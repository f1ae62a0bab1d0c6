/**
 * Compares a view with the log, folded again by the view's `apply` into temporary tables of the same shape.
 *
 * The log is folded up to the live view's position, without any lock. Then the tables are compared page by page, in key
 * order. Each page is one transaction: it locks the view's cursor, folds the few new events, and joins both sides of
 * one range of keys. So each row is compared at one position, no transaction is long, memory is bounded by a page, and
 * the live view waits for only one page at a time. After a step that took longer than a statement may, all steps are
 * half as long.
 *
 * The first row that differs is reported. A new fold sets aside the same events as the live view of the same version,
 * so the other rows can be compared. A view with streams set aside counts as different, and its first such stream is
 * reported.
 */
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { Fault, isFault } from "@trainyard/kernel";
import type { Pool, PoolClient } from "pg";
import type { Check, Verdict } from "./check.ts";
import { type ComparedTable, comparedTable, firstDifference, pageEnd } from "./compare-tables.ts";
import { runtimeLimits } from "../limits.ts";
import { isDatabaseSlow } from "../table-fault.ts";
import { within } from "../views/transaction.ts";
import { applyCarefully, applyEvents, isOfTheWorld, readSetAside } from "../views/apply-events.ts";
import type { View } from "../views/view.ts";
import type { ViewSpec } from "../views/view-spec.ts";
import {
  isOfTheLog,
  liveSlot,
  readCursor,
  type ViewCursor,
  type ViewSlot,
} from "../views/view-tables.ts";

/** Creates the check of a service's view. */
export function viewCheck(service: string, view: View, log: EventLog): Check {
  return {
    name: `${service}.${view.spec.view}`,
    async run(signal) {
      await keepsUp(view, await log.head(), signal);
      return verifyView(view.spec, view.pool, log, signal);
    },
  };
}

/**
 * Waits until the view has reached the log's current end. A view that is being rebuilt may take long; one without
 * progress is not waited for.
 */
async function keepsUp(view: View, head: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const before = view.position;
    try {
      await view.reach(head, runtimeLimits.verifyStandstillMs);
      return;
    } catch (error) {
      if (!isFault(error)) throw error;
      if (view.position > before) continue;
      throw unverifiable(
        `it is at position ${before} and the log at ${head}; the log of its service has the reason`,
      );
    }
  }
}

async function verifyView(
  spec: ViewSpec,
  pool: Pool,
  log: EventLog,
  signal: AbortSignal,
): Promise<Verdict> {
  const client = await pool.connect();
  try {
    return await new Verification(spec, client, log, signal).run();
  } finally {
    // The temporary tables are dropped with the connection, also after a failure.
    client.release(true);
  }
}

const rebuilt: ViewSlot = {
  key: "rebuilt",
  table: (name) => `pg_temp.${name}`,
  setAside: "pg_temp.view_set_aside",
};

class Verification {
  readonly #spec: ViewSpec;
  readonly #client: PoolClient;
  readonly #log: EventLog;
  readonly #signal: AbortSignal;
  /** The position of the temporary tables. */
  #position = 0;
  /** The events that are folded and the rows that are compared in one step. */
  #step: { readonly events: number; readonly rows: number } = {
    events: runtimeLimits.verifyPageEvents,
    rows: runtimeLimits.verifyPageRows,
  };

  constructor(spec: ViewSpec, client: PoolClient, log: EventLog, signal: AbortSignal) {
    this.#spec = spec;
    this.#client = client;
    this.#log = log;
    this.#signal = signal;
  }

  async run(): Promise<Verdict> {
    const { schema, tables } = this.#spec;
    for (const { name } of tables) {
      await this.#client.query(
        `create temporary table ${name} (like ${schema}.${name} including all)`,
      );
    }
    await this.#client.query(
      `create temporary table view_set_aside (like ${schema}.view_set_aside including all)`,
    );
    await this.#catchUp();
    await this.#analyze();
    for (const table of tables) {
      const compared = await comparedTable(this.#client, schema, table);
      const finding = await this.#compare(compared);
      if (finding !== "") return { position: this.#position, finding };
    }
    return { position: this.#position, finding: await this.#lacking() };
  }

  /**
   * Gives the planner the sizes of the temporary tables, from few rows. Nobody waits for it, so it has no limit of
   * time.
   */
  #analyze(): Promise<void> {
    return within(this.#client, async (client) => {
      await client.query("set local statement_timeout = 0");
      await client.query("set local default_statistics_target = 10");
      for (const { name } of this.#spec.tables) await client.query(`analyze pg_temp.${name}`);
    });
  }

  /** Describes the streams that the live view has set aside; empty for none. */
  async #lacking(): Promise<string> {
    const streams = await readSetAside(this.#client, liveSlot(this.#spec));
    const [first] = streams;
    if (first === undefined) return "";
    return `it has all but ${streams.length} streams that are set aside, the first of them ${first.stream} from position ${first.position} on: ${first.reason}; rebuild it when the cause is corrected`;
  }

  /** Folds until at most one page is missing. */
  async #catchUp(): Promise<void> {
    for (;;) {
      const live = await this.#liveCursor("");
      if (live.position - this.#position <= this.#step.events) return;
      const events = await this.#read(live.position);
      try {
        await this.#applyPage(events);
        this.#position = events.at(-1)?.position ?? this.#position;
      } catch (error) {
        this.#shorten(error);
      }
    }
  }

  /** Halves the steps after one that was too slow; throws any other error. */
  #shorten(error: unknown): void {
    const { events, rows } = this.#step;
    if (events === 1 || !isDatabaseSlow(error)) throw error;
    this.#step = { events: Math.ceil(events / 2), rows: Math.ceil(rows / 2) };
  }

  async #compare(table: ComparedTable): Promise<string> {
    let after: readonly string[] | null = null;
    for (;;) {
      const page = await this.#comparePage(table, after);
      if (page === "again") {
        await this.#catchUp();
        continue;
      }
      if (page.finding !== "" || page.end === null) return page.finding;
      after = page.end;
    }
  }

  async #comparePage(
    table: ComparedTable,
    after: readonly string[] | null,
  ): Promise<"again" | { readonly finding: string; readonly end: readonly string[] | null }> {
    const before = this.#position;
    try {
      return await within(this.#client, async (client) => {
        // The lock on this row makes the live view's next page wait.
        const live = await this.#liveCursor("for update");
        if (live.position - this.#position > this.#step.events) return "again";
        const finding = await this.#reach(live);
        if (finding !== "") return { finding, end: null };
        const end = await pageEnd(client, table, after, this.#step.rows);
        return { finding: await firstDifference(client, table, after, end), end };
      });
    } catch (error) {
      // The rollback also undoes the folds of this transaction.
      this.#position = before;
      this.#shorten(error);
      return "again";
    }
  }

  /** Folds the last events before a comparison; returns a finding if the cursor does not name the log's commit. */
  async #reach(live: ViewCursor): Promise<string> {
    while (this.#position < live.position) {
      const events = await this.#read(live.position);
      await applyCarefully(this.#client, this.#spec, rebuilt, events);
      this.#position = events.at(-1)?.position ?? this.#position;
    }
    if (live.position === 0) return "";
    const [event] = await this.#log.readAll(live.position - 1, 1);
    if (isOfTheLog(live, event ?? null)) return "";
    return `the cursor names commit ${live.commitId} at position ${live.position}, where the log has ${event?.commitId ?? "none"}`;
  }

  async #applyPage(events: readonly StoredEvent[]): Promise<void> {
    const client = this.#client;
    try {
      await within(client, () => applyEvents(client, this.#spec, rebuilt, events));
    } catch (error) {
      if (isOfTheWorld(error)) throw error;
      await within(client, () => applyCarefully(client, this.#spec, rebuilt, events));
    }
  }

  async #read(upTo: number): Promise<readonly StoredEvent[]> {
    if (this.#signal.aborted) throw unverifiable("the client no longer waits for it");
    const limit = Math.min(this.#step.events, upTo - this.#position);
    const events = await this.#log.readAll(this.#position, limit);
    if (events.length === 0) {
      throw unverifiable(`the log ends at ${this.#position}, before the view's position ${upTo}`);
    }
    return events;
  }

  async #liveCursor(lock: "" | "for update"): Promise<ViewCursor> {
    if (this.#signal.aborted) throw unverifiable("the client no longer waits for it");
    const cursor = await readCursor(this.#client, this.#spec, liveSlot(this.#spec), lock);
    if (cursor === null) throw unverifiable("it was never built; wait until its service is ready");
    if (cursor.position < this.#position) {
      throw unverifiable("it was set back in the meantime and is being rebuilt; verify again");
    }
    return cursor;
  }
}

function unverifiable(detail: string): Fault {
  return new Fault("unverifiable", detail, { retry: "later" });
}
