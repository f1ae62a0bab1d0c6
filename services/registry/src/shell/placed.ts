/**
 * Lists the storages in which checkpoints were declared, by root, for adoptions and audits. The list is folded from the
 * log. The root of an object store is its address.
 */
import { storageRoot } from "@trainyard/blob";
import { type AnyEvent, decodeEvent, shortNameOf } from "@trainyard/contracts";
import { type Clock, Fault, idOf } from "@trainyard/kernel";
import { type Logger, type TableNames, View, type ViewSpec } from "@trainyard/runtime";
import type { EventLog } from "@trainyard/event-log";
import type { Pool } from "pg";
import { registryLimits } from "../limits.ts";

/** The checkpoints of a root that were declared with the same id. */
export type PlacedGroup = {
  readonly root: string;
  readonly storageId: string;
  readonly checkpoints: number;
  readonly condemned: number;
  readonly leftOver: number;
  /** Ids of some complete checkpoints. */
  readonly examples: readonly string[];
};

export type PlacedDeps = {
  readonly log: EventLog;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class Placed {
  readonly #deps: PlacedDeps;
  readonly view: View;

  /** `onDeleted` is called after checkpoints were deleted. */
  constructor(deps: PlacedDeps, onDeleted: () => void = () => {}) {
    this.#deps = deps;
    const spec: ViewSpec = {
      schema: "registry",
      view: "placed",
      version: 1,
      // A row of `gone` is deleted with the manifest.
      tables: [{ name: "placed" }, { name: "gone", mayBeGone: "true" }],
      concerns: (event) => changesOf(decodeEvent(event), idOf(event.stream), () => "").length > 0,
      apply: async (client, events, table) => {
        for (const event of events) {
          for (const change of changesOf(decodeEvent(event), idOf(event.stream), table)) {
            await client.query(change.text, change.values);
          }
        }
      },
      after: (events) => {
        if (events.some(({ type }) => shortNameOf(type) === "CheckpointDeleted")) onDeleted();
      },
    };
    this.view = new View(spec, deps.pool, deps.clock, deps.logger);
  }

  /**
   * The checkpoints in the log under a root whose files may be there, with their states. Deleted ones are left out, and
   * failed or abandoned ones whose files were cleared: what is at their names came later.
   */
  async statesAt(root: string): Promise<ReadonlyMap<string, string>> {
    const { log, pool } = this.#deps;
    await this.view.reach(await log.head());
    try {
      const { rows } = await pool.query<{ checkpoint: string; state: string }>(
        `select checkpoint, state from registry.placed p where root = $1 and (state <> 'void'
           or exists (select from registry.unfinished u where u.checkpoint = p.checkpoint))`,
        [root],
      );
      return new Map(rows.map(({ checkpoint, state }) => [checkpoint, state]));
    } catch (cause) {
      throw databaseAway(cause);
    }
  }

  /** The ids with which checkpoints under a root were declared; those of failed and abandoned ones do not count. */
  async idsAt(root: string): Promise<readonly string[]> {
    const { log, pool } = this.#deps;
    await this.view.reach(await log.head());
    try {
      const { rows } = await pool.query<{ id: string }>(
        `select distinct storage_id as id from registry.placed
         where root = $1 and state in ('complete', 'condemned') and storage_id <> '' order by id`,
        [root],
      );
      return rows.map(({ id }) => id);
    } catch (cause) {
      throw databaseAway(cause);
    }
  }

  /** Any checkpoint that was declared under a root and is not deleted; null for none. */
  async anyAt(root: string): Promise<string | null> {
    try {
      const any = "select checkpoint from registry.placed where root = $1 limit 1";
      const { rows } = await this.#deps.pool.query<{ checkpoint: string }>(any, [root]);
      return rows[0]?.checkpoint ?? null;
    } catch (cause) {
      throw databaseAway(cause);
    }
  }

  /** Every root with a checkpoint in the log. */
  async roots(): Promise<readonly string[]> {
    const { log, pool } = this.#deps;
    await this.view.reach(await log.head());
    try {
      const all = "select distinct root from registry.placed";
      return (await pool.query<{ root: string }>(all)).rows.map(({ root }) => root);
    } catch (cause) {
      throw databaseAway(cause);
    }
  }

  /** All groups in the log, root by root. */
  async groups(): Promise<readonly PlacedGroup[]> {
    const { log, pool } = this.#deps;
    await this.view.reach(await log.head());
    const { storagesShownMax, storageExamplesMax } = registryLimits;
    try {
      const { rows } = await pool.query<PlacedGroup>(
        `select root, storage_id as "storageId", checkpoints, condemned, "leftOver",
           array(select checkpoint from registry.placed e
             where e.root = g.root and e.storage_id = g.storage_id and e.state = 'complete'
             order by checkpoint limit $2) as examples
         from (
           select p.root, p.storage_id,
             (count(*) filter (where p.state <> 'void'))::int as checkpoints,
             (count(*) filter (where p.state = 'condemned'))::int as condemned,
             count(u.checkpoint)::int as "leftOver"
           from registry.placed p
           left join registry.unfinished u
             on p.state = 'void' and u.checkpoint = p.checkpoint and u.state = 'void'
           group by p.root, p.storage_id
         ) g
         where checkpoints + "leftOver" > 0 order by root, storage_id limit $1`,
        [storagesShownMax, storageExamplesMax],
      );
      return rows;
    } catch (cause) {
      throw databaseAway(cause);
    }
  }
}

function databaseAway(cause: unknown): Fault {
  const told = "the table of storages does not answer";
  return new Fault("database_away", told, { retry: "later", cause });
}

type Change = { readonly text: string; readonly values: unknown[] };

/** Applying the events again in the same order yields the same rows. */
function changesOf(event: AnyEvent, id: string, names: TableNames): readonly Change[] {
  const table = names("placed");
  switch (event.type) {
    case "CheckpointDeclared": {
      const { storage, storageId } = event.data;
      const root = storageRoot(storage ?? {});
      if (root === null) return [];
      const text = `insert into ${table} (checkpoint, root, storage_id, state)
               values ($1, $2, $3, 'declared')
               on conflict (checkpoint) do update set storage_id = excluded.storage_id`;
      return [{ text, values: [id, root, storageId ?? ""] }];
    }
    case "CheckpointCompleted":
    case "CheckpointSpared":
      return stateOf(table, id, "complete");
    case "CheckpointCondemned":
    case "CheckpointDeletionStarted":
      return stateOf(table, id, "condemned");
    case "CheckpointFailed":
    case "CheckpointAbandoned":
      return stateOf(table, id, "void");
    case "CheckpointDeleted":
      return [
        { text: `delete from ${table} where checkpoint = $1`, values: [id] },
        {
          text: `insert into ${names("gone")} (checkpoint) values ($1) on conflict do nothing`,
          values: [id],
        },
      ];
    default:
      return [];
  }
}

function stateOf(table: string, checkpoint: string, state: string): readonly Change[] {
  const text = `update ${table} set state = $2 where checkpoint = $1`;
  return [{ text, values: [checkpoint, state] }];
}
