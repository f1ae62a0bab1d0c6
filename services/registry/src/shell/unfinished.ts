/**
 * The remains of checkpoints that were never completed: those whose run is over are abandoned, and the files of the
 * failed and abandoned ones are cleared once their grace is over, so that a person can still save them. The registry
 * does both, since it alone knows of checkpoints that were never complete. The table is folded from the log; doing a
 * thing again does nothing. What cannot be done now has a time of its next try, and holds up nothing else.
 */
import {
  removeCheckpointFolder,
  removeCheckpointObjects,
  type StoreBrake,
  type Stores,
} from "@trainyard/blob";
import { decodeEvent } from "@trainyard/contracts";
import { newEventId, type StoredEvent } from "@trainyard/event-log";
import { assert, type Clock, idOf, isFault, parseTrialId, streamName } from "@trainyard/kernel";
import {
  EffectLoop,
  type Executor,
  foldOf,
  type Logger,
  serviceMeta,
  View,
  type ViewSpec,
  type Work,
} from "@trainyard/runtime";
import type { Pool } from "pg";
import { refusalOf } from "../core/foreign/trial.ts";
import type { Telemetry } from "../telemetry.ts";
import { registryLimits } from "../limits.ts";
import { storageSection } from "./declare.ts";
import { storageOf } from "./storages.ts";
import { checkpoints, trialRuns } from "../streams.ts";
import { changesOf, type Told } from "./unfinished-rows.ts";

type Row = {
  readonly checkpoint: string;
  readonly trial: string;
  readonly run: number;
  readonly step: number;
  /** Null until it is declared. */
  readonly storage: string | null;
  readonly state: "named" | "run_over" | "void";
};

export type UnfinishedDeps = {
  readonly executor: Executor;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Telemetry;
  readonly stores: Pick<Stores, "of" | "idOf">;
  readonly brake: StoreBrake;
  readonly checkpointDir: string;
  /** How long the files of a failed or abandoned checkpoint are kept. */
  readonly graceMs: number;
};

/**
 * Agents that bring one that is not declared have it refused, and so recorded with all that is known of it: they come
 * first.
 */
const dueMs = `case state
  when 'void' then since_ms + $1
  when 'run_over' then case when storage is null then since_ms + $2 else 0 end
  else since_ms + $2 end`;

/** Further ahead than any wait only a clock has put it that was ahead: then it is tried now. */
const nextTryMs = `case when next_try_ms <= $3::float8 + ${registryLimits.tryAgainLastMs} then next_try_ms else 0 end`;

const toDo = `from registry.unfinished left join registry.unfinished_tries using (checkpoint)
  where state <> 'declared'`;

const told = (stored: StoredEvent): Told => ({
  event: decodeEvent(stored),
  id: idOf(stored.stream),
  timeMs: stored.timeMs,
});

export class Unfinished {
  readonly #deps: UnfinishedDeps;
  readonly view: View;
  readonly loop: EffectLoop;

  constructor(deps: UnfinishedDeps) {
    this.#deps = deps;
    this.loop = new EffectLoop("unfinished", deps, (signal) => this.#step(signal));
    const spec: ViewSpec = {
      schema: "registry",
      view: "unfinished",
      version: 2,
      // A cleared entry is removed, which no event records.
      tables: [{ name: "unfinished", mayBeGone: "state <> 'declared'" }],
      concerns: (stored) => changesOf(told(stored), "").length > 0,
      apply: async (client, events, table) => {
        const changes = events.flatMap((stored) => changesOf(told(stored), table("unfinished")));
        for (const { text, values } of changes) await client.query(text, values);
      },
      after: () => this.loop.wake(),
    };
    this.view = new View(spec, deps.pool, deps.clock, deps.logger);
  }

  /** Deals with all that is due, a page at a time; gives the milliseconds until more is. */
  async #step(signal: AbortSignal): Promise<number | null> {
    for (let after: string | null = ""; after !== null; ) {
      const rows = await this.#due(after);
      for (const row of rows) {
        if (signal.aborted) return null;
        await this.#deal(row);
      }
      after =
        rows.length < registryLimits.unfinishedPage ? null : (rows.at(-1)?.checkpoint ?? null);
    }
    return this.#untilNextMs();
  }

  get #graces(): readonly number[] {
    return [this.#deps.graceMs, registryLimits.namedMs];
  }

  async #due(after: string): Promise<readonly Row[]> {
    const { rows } = await this.#deps.pool.query<Row>(
      `select checkpoint, trial, run, step, storage, state ${toDo}
       and checkpoint > $4 and greatest(${dueMs}, ${nextTryMs}) <= $3
       order by checkpoint limit $5`,
      [...this.#graces, this.#deps.clock.nowMs(), after, registryLimits.unfinishedPage],
    );
    return rows;
  }

  async #untilNextMs(): Promise<number | null> {
    const nowMs = this.#deps.clock.nowMs();
    const { rows } = await this.#deps.pool.query<{ at: number | null }>(
      `select min(greatest(${dueMs}, ${nextTryMs})) as at ${toDo}`,
      [...this.#graces, nowMs],
    );
    const at = rows[0]?.at ?? null;
    return at === null ? null : Math.max(at - nowMs, 0);
  }

  async #deal(row: Row): Promise<void> {
    try {
      if (row.state === "void") return await this.#clear(row);
      await this.#abandon(row);
    } catch (error) {
      if (!isFault(error) || error.code === "lease_lost") throw error;
      this.#deps.events.notCleared(row.checkpoint, error);
      await this.#later(row);
    }
  }

  async #later({ checkpoint }: Row): Promise<void> {
    const { tryAgainFirstMs, tryAgainLastMs } = registryLimits;
    await this.#deps.pool.query(
      `insert into registry.unfinished_tries as row (checkpoint, tries, next_try_ms)
       values ($1, 1, $2::float8 + $3::float8)
       on conflict (checkpoint) do update set tries = row.tries + 1,
         next_try_ms = $2::float8 + least($3::float8 * 2 ^ least(row.tries, 30), $4::float8)`,
      [checkpoint, this.#deps.clock.nowMs(), tryAgainFirstMs, tryAgainLastMs],
    );
  }

  /** The next step is in the table once it has been folded there; until then the row is not looked at again. */
  async #abandon(row: Row): Promise<void> {
    const { executor, events } = this.#deps;
    const { checkpoint, trial } = row;
    const meta = serviceMeta("registry");
    const found: { outcome: "abandoned" | "settled" | "open" } = { outcome: "open" };
    if (trial !== "") executor.cache.forget(streamName("trial", trial));
    await executor.execute({ commitId: newEventId(), meta }, async (work) => {
      found.outcome = await this.#decide(work, row);
    });
    if (found.outcome === "abandoned") events.abandoned(checkpoint);
    if (found.outcome === "settled") await this.#drop(row);
    else await this.#later(row);
  }

  async #decide(work: Work, row: Row): Promise<"abandoned" | "settled" | "open"> {
    const { checkpoint, trial, run, step } = row;
    if (trial === "") return this.#decideFolder(work, checkpoint);
    const runs = await work.guard(trialRuns, trial);
    const { status, declared } = await work.load(foldOf(checkpoints), checkpoint);
    const isAnothers = declared !== null && (declared.trial !== trial || declared.run !== run);
    if (status === "completed" || isAnothers) return "settled";
    const refusal = refusalOf(runs, trial, run, checkpoint);
    if (row.state === "run_over" && (refusal === null || refusal.rejected === "run_unheard")) {
      return "open";
    }
    if (declared === null) {
      // It was never declared; its place is known all the same, so it can be cleared.
      const experiment = parseTrialId(trial)?.experiment;
      assert(experiment !== undefined, `${trial} is a trial`);
      const storage = await storageSection(work, experiment, this.#deps.checkpointDir);
      const about = { trial, run, step, storage, format: "" };
      await work.decide(checkpoints, checkpoint, { kind: "declare", declared: about });
    }
    const reason =
      refusal === null || refusal.rejected === "run_unheard"
        ? `run ${trial}#${run} ended before it was complete, and no agent delivered the rest of it`
        : `run ${trial}#${run} ended before it was complete`;
    await work.decide(checkpoints, checkpoint, { kind: "abandon", reason });
    return "abandoned";
  }

  async #decideFolder(work: Work, checkpoint: string): Promise<"abandoned" | "settled" | "open"> {
    const { status, declared } = await work.load(foldOf(checkpoints), checkpoint);
    if (status === "completed") return "settled";
    // Its row names the files to clear: it stays until the failure is folded into the table.
    if (status !== "declared") return "open";
    const reason = `${declared?.uploadedBy} did not complete the upload of the folder in time`;
    await work.decide(checkpoints, checkpoint, { kind: "abandon", reason });
    return "abandoned";
  }

  async #clear(row: Row): Promise<void> {
    const storage = JSON.parse(row.storage ?? "{}") as Record<string, unknown>;
    const { executor } = this.#deps;
    const { declared } = (await executor.cache.load(foldOf(checkpoints), row.checkpoint)).state;
    assert(declared !== null, `checkpoint ${row.checkpoint} was declared`);
    const { stores, brake } = this.#deps;
    const store = await stores.of(storage);
    if (store === null) {
      await removeCheckpointFolder(storage, row.checkpoint, await storageOf(executor, declared));
    } else {
      await brake.ask(store, async () => {
        // One that was declared for the run by the registry has no id: nothing else has written to its prefix.
        const id = declared.storageId ?? (await stores.idOf(store));
        await removeCheckpointObjects(store, row.checkpoint, id);
      });
    }
    await this.#drop(row);
    this.#deps.events.cleared(row.checkpoint);
  }

  /** Nothing is left to be done about it. */
  async #drop({ checkpoint, state }: Row): Promise<void> {
    const { pool } = this.#deps;
    const gone = "delete from registry.unfinished where checkpoint = $1 and state = $2";
    await pool.query(gone, [checkpoint, state]);
    await pool.query("delete from registry.unfinished_tries where checkpoint = $1", [checkpoint]);
  }
}
