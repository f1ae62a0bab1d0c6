/**
 * What is left of checkpoints that were never completed: those whose run is over are abandoned, and the files of the
 * failed and abandoned ones are cleared. The table is folded from the log; doing a thing again does nothing.
 */
import { removeCheckpointFolder } from "@trainyard/blob";
import { decodeEvent, type AnyEvent } from "@trainyard/contracts";
import { newEventId, type StoredEvent } from "@trainyard/event-log";
import { assert, type Clock, type Fault, idOf, isFault, streamName } from "@trainyard/kernel";
import {
  EffectLoop,
  type Executor,
  foldOf,
  type Logger,
  View,
  type ViewSpec,
} from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import { refusalOf } from "../core/foreign/trial.ts";
import type { RegistryEvents } from "../events.ts";
import { registryLimits } from "../limits.ts";
import { storageOf } from "./storages.ts";
import { checkpoints, trialRuns } from "./streams.ts";

type Row = {
  readonly checkpoint: string;
  readonly trial: string;
  readonly run: number;
  readonly storage: string;
  readonly state: "run_over" | "void";
};

export type UnfinishedDeps = {
  readonly executor: Executor;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: RegistryEvents;
};

export class Unfinished {
  readonly #deps: UnfinishedDeps;
  readonly view: View;
  readonly loop: EffectLoop;

  constructor(deps: UnfinishedDeps) {
    this.#deps = deps;
    this.loop = new EffectLoop("unfinished", deps, () => this.#step());
    const spec: ViewSpec = {
      schema: "registry",
      view: "unfinished",
      // What is void goes when its files are cleared, which the log does not tell.
      tables: [{ name: "unfinished", mayBeGone: "state = 'void'" }],
      apply: async (client, events, table) => {
        for (const event of events) await applyEvent(client, event, table("unfinished"));
      },
      after: () => this.loop.wake(),
    };
    this.view = new View(spec, deps.pool, deps.clock, deps.logger);
  }

  /** Deals with a page of them; 0 when there may be more. */
  async #step(): Promise<number | null> {
    const { rows } = await this.#deps.pool.query<Row>(
      `select checkpoint, trial, run, storage, state from registry.unfinished
       where state <> 'declared' order by checkpoint limit $1`,
      [registryLimits.unfinishedPage],
    );
    let firstFault: Fault | null = null;
    for (const row of rows) {
      try {
        if (row.state === "run_over") await this.#abandon(row);
        else await this.#clear(row);
      } catch (error) {
        // One storage that is away must not keep the others waiting.
        if (!isFault(error) || error.code === "lease_lost") throw error;
        firstFault ??= error;
      }
    }
    if (firstFault !== null) throw firstFault;
    return rows.length === registryLimits.unfinishedPage ? 0 : null;
  }

  async #abandon({ checkpoint, trial, run }: Row): Promise<void> {
    const { executor, events } = this.#deps;
    const meta = {
      source: "/trainyard/registry",
      workspace: "",
      correlationid: "",
      causationid: "",
      authid: "",
      traceparent: "",
    };
    executor.cache.forget(streamName("trial", trial));
    await executor.execute({ commitId: newEventId(), meta }, async (work) => {
      const runs = await work.guard(trialRuns, trial);
      if (refusalOf(runs, trial, run) === null) return;
      const reason = `run ${trial}#${run} ended before it was complete`;
      await work.decide(checkpoints, checkpoint, { kind: "abandon", reason });
    });
    events.abandoned(checkpoint);
  }

  async #clear({ checkpoint, storage }: Row): Promise<void> {
    const { cache } = this.#deps.executor;
    const { declared } = (await cache.load(foldOf(checkpoints), checkpoint)).state;
    assert(declared !== null, `checkpoint ${checkpoint} was declared`);
    const storageId = await storageOf(this.#deps.executor, declared);
    const section = JSON.parse(storage) as Record<string, unknown>;
    await removeCheckpointFolder(section, checkpoint, storageId);
    const gone = "delete from registry.unfinished where checkpoint = $1 and state = 'void'";
    await this.#deps.pool.query(gone, [checkpoint]);
    this.#deps.events.cleared(checkpoint);
  }
}

/** Events that were applied already change nothing, save that a cleared checkpoint may be cleared again. */
async function applyEvent(client: PoolClient, stored: StoredEvent, table: string): Promise<void> {
  const change = changeOf(decodeEvent(stored), idOf(stored.stream), table);
  if (change !== null) await client.query(change.text, change.values);
}

type Change = { readonly text: string; readonly values: unknown[] };

function changeOf(event: AnyEvent, id: string, table: string): Change | null {
  switch (event.type) {
    case "CheckpointDeclared": {
      const { trial, run, storage } = event.data;
      return {
        text: `insert into ${table} (checkpoint, trial, run, storage, state)
               values ($1, $2, $3, $4, 'declared') on conflict do nothing`,
        values: [id, trial, run, JSON.stringify(storage ?? {})],
      };
    }
    case "CheckpointCompleted":
      return { text: `delete from ${table} where checkpoint = $1`, values: [id] };
    case "CheckpointFailed":
    case "CheckpointAbandoned":
      return {
        text: `update ${table} set state = 'void' where checkpoint = $1`,
        values: [id],
      };
    case "RunEnded":
      return runsOver(table, id, event.data.run);
    case "RunRequested":
      return runsOver(table, id, event.data.run - 1);
    default:
      return null;
  }
}

function runsOver(table: string, trial: string, run: number): Change {
  return {
    text: `update ${table} set state = 'run_over'
           where trial = $1 and run <= $2 and state = 'declared'`,
    values: [trial, run],
  };
}
