/**
 * The facts about each experiment and task that retention needs, as rows of a service: its policy, its end and its
 * deletion. The rows follow the log, so a sweep selects the few that are due, and reads no stream of the others.
 *
 * The rows of a page change in the transaction that moves the cursor and has locked it: of several replicas one applies
 * a page. If the log went back, all rows are made again.
 */
import { decodeEvent } from "@trainyard/contracts";
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { idOf, type JsonObject } from "@trainyard/kernel";
import type { Pool, PoolClient } from "pg";
import { positionInLog, readSomeTo } from "./history/event-cursor.ts";
import type { KnownEvent } from "./history/log-history.ts";
import { runtimeLimits } from "./limits.ts";
import { inTransaction } from "./views/transaction.ts";

export type Life = {
  /** The retention of the configuration; empty for a task. */
  readonly policy: JsonObject;
  /** Null while it runs, also after it was continued. */
  readonly endedMs: number | null;
  /** "asked": the deletion can still be undone, so nothing may be removed. "done": deleted for good. */
  readonly deletion: "none" | "asked" | "done";
};

export type LivesParts = {
  readonly pool: Pool;
  readonly log: EventLog;
  /** The schema of the tables `lives` and `lives_cursor`. */
  readonly schema: string;
  readonly policyOf: (config: JsonObject | undefined) => JsonObject;
};

type Row = Life & { readonly id: string };

const read = { names: [], beginnings: ["experiment-", "task-"] };
const unknown: Life = { policy: {}, endedMs: null, deletion: "none" };

export class Lives {
  readonly #parts: LivesParts;

  constructor(parts: LivesParts) {
    this.#parts = parts;
  }

  /** Applies the events up to the end of the log. */
  async follow(signal: AbortSignal): Promise<void> {
    for (let more = true; more && !signal.aborted; ) {
      more = await inTransaction(this.#parts.pool, (client) => this.#page(client));
    }
  }

  /** Applies one page. Returns whether more may follow. */
  async #page(client: PoolClient): Promise<boolean> {
    const { log, schema } = this.#parts;
    const cursor = await client.query<KnownEvent>(
      `select position::float8 as position, event as id from ${schema}.lives_cursor for update`,
    );
    const from = await positionInLog(log, cursor.rows[0]);
    if (from === 0) await client.query(`truncate ${schema}.lives`);
    const to = Math.min(await log.head(), from + runtimeLimits.pageEvents);
    const page = await readSomeTo(log, read, from, to);
    if (page === null) return false;
    const { events, last } = page;
    await this.#apply(client, events);
    const moved = `update ${schema}.lives_cursor set position = $1, event = $2`;
    await client.query(moved, [last.position, last.id]);
    return last.position < to || to === from + runtimeLimits.pageEvents;
  }

  async #apply(client: PoolClient, events: readonly StoredEvent[]): Promise<void> {
    const { schema, policyOf } = this.#parts;
    const ids = [...new Set(events.map(({ stream }) => idOf(stream)))];
    // A row that is written again has no due time: the sweep looks at it once more.
    const { rows } = await client.query<Row>(
      `select id, policy, ended_ms as "endedMs", deletion from ${schema}.lives where id = any($1)`,
      [ids],
    );
    const lives = new Map(rows.map((row) => [row.id, row]));
    const changed = new Set<string>();
    for (const event of events) {
      const id = idOf(event.stream);
      const before: Life = lives.get(id) ?? unknown;
      const after = evolveLife(before, event, policyOf);
      if (after === before) continue;
      changed.add(id);
      lives.set(id, { ...after, id });
    }
    const written = [...lives.values()].filter(({ id }) => changed.has(id));
    if (written.length === 0) return;
    await client.query(`delete from ${schema}.lives where id = any($1)`, [[...changed]]);
    await client.query(
      `insert into ${schema}.lives (id, policy, ended_ms, deletion)
       select * from unnest($1::text[], $2::jsonb[], $3::float8[], $4::text[])`,
      [
        written.map(({ id }) => id),
        written.map(({ policy }) => JSON.stringify(policy)),
        written.map(({ endedMs }) => endedMs),
        written.map(({ deletion }) => deletion),
      ],
    );
  }
}

/** Returns the same life if the event does not change it. */
export function evolveLife(
  life: Life,
  stored: StoredEvent,
  policyOf: LivesParts["policyOf"],
): Life {
  const event = decodeEvent(stored);
  switch (event.type) {
    case "ExperimentCreated":
      return { ...life, policy: policyOf(event.data.config) };
    case "ExperimentEnded":
    case "TaskEnded":
      return { ...life, endedMs: stored.timeMs };
    case "ExperimentContinued":
    case "TaskResumed":
      return { ...life, endedMs: null };
    case "ExperimentDeletionRequested":
      return { ...life, deletion: "asked" };
    case "ExperimentDeletionUndone":
      return { ...life, deletion: "none" };
    case "ExperimentDeleted":
    case "TaskDeleted":
      return { ...life, deletion: "done" };
    default:
      return life;
  }
}
