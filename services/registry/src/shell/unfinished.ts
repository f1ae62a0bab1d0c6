/**
 * Clears up checkpoints that were never completed: it abandons those whose run is over, and deletes the files of failed
 * and abandoned ones after a grace, in which a person can still save them. Only the registry knows of incomplete
 * checkpoints, so it does both.
 *
 * The table is folded from the log, and repeating a step changes nothing. A step that fails gets a time for its retry
 * and does not delay others.
 */
import {
  type BrakedDisk,
  checkpointRoot,
  type MarkedPlace,
  markedPlace,
  removeCheckpointFolder,
  removeCheckpointObjects,
  type StorageClaims,
  type StoreBrake,
  type Stores,
} from "@trainyard/blob";
import { decodeEvent } from "@trainyard/contracts";
import { type EventLog, newEventId, type StoredEvent } from "@trainyard/event-log";
import { assert, type Clock, idOf, isFault, type Rejection, streamName } from "@trainyard/kernel";
import {
  type DeletionGate,
  EffectLoop,
  type EffectSpan,
  type Executor,
  foldOf,
  type Logger,
  runtimeLimits,
  serviceMeta,
  View,
  type ViewSpec,
  type Work,
} from "@trainyard/runtime";
import type { Pool } from "pg";
import { isSameRun, type Maker, makerNamed, runOf } from "../core/maker.ts";
import { refusalOf } from "../core/foreign/trial.ts";
import type { Telemetry } from "../telemetry.ts";
import { registryLimits } from "../limits.ts";
import { storageSection } from "./declare.ts";
import { refusalOfFolder } from "./folder-owner.ts";
import type { ManifestTable } from "./manifest-table.ts";
import type { KnownStorages } from "./known-storages.ts";
import { storageOf } from "./storages.ts";
import { checkpoints, runsOf } from "../streams.ts";
import { unfinishedPage, type UnfinishedPage } from "./unfinished-list.ts";
import { changesOf, type RecordedEvent } from "./unfinished-rows.ts";

type Row = {
  readonly checkpoint: string;
  /** The id of the trial or the task; empty for a folder that a person uploads. */
  readonly maker: string;
  readonly run: number;
  readonly step: number;
  /** The storage; null until the checkpoint is declared. */
  readonly storage: string | null;
  readonly state: "named" | "run_over" | "void";
};

export type UnfinishedDeps = {
  readonly executor: Executor;
  readonly log: Pick<EventLog, "head">;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Telemetry;
  readonly stores: Pick<Stores, "of">;
  readonly claims: StorageClaims;
  readonly known: Pick<KnownStorages, "idOf" | "requireOpen">;
  readonly brake: StoreBrake;
  readonly disk: BrakedDisk;
  readonly manifests: Pick<ManifestTable, "forget">;
  readonly hold: DeletionGate;
  readonly checkpointDir: string;
  /** Time that the files of a failed or abandoned checkpoint are kept. */
  readonly graceMs: number;
};

/**
 * The time at which a row is due. An undeclared checkpoint waits: an agent that brings it in this time gets a refusal,
 * which records the checkpoint with all details.
 */
const dueMs = `case state
  when 'void' then since_ms + $1
  when 'run_over' then case when storage is null then since_ms + $2 else 0 end
  else since_ms + $2 end`;

/** A retry time further ahead than the longest wait was set by a clock that ran ahead: the retry is due now. */
const nextTryMs = `case when next_try_ms <= $3::float8 + ${registryLimits.tryAgainLastMs} then next_try_ms else 0 end`;

const toDo = `from registry.unfinished left join registry.unfinished_tries using (checkpoint)
  where state <> 'declared'`;

const told = (stored: StoredEvent): RecordedEvent => ({
  event: decodeEvent(stored),
  id: idOf(stored.stream),
  timeMs: stored.timeMs,
});

export class Unfinished {
  readonly #deps: UnfinishedDeps;
  readonly view: View;
  readonly loop: EffectLoop;
  #readTo = 0;

  constructor(deps: UnfinishedDeps) {
    this.#deps = deps;
    this.loop = new EffectLoop("unfinished", deps, (signal, span) => this.#step(signal, span));
    const spec: ViewSpec = {
      schema: "registry",
      view: "unfinished",
      version: 1,
      // A cleared row is removed without an event.
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

  /** Handles all due rows, page by page. Returns the milliseconds until the next one is due. */
  async #step(signal: AbortSignal, span: EffectSpan): Promise<number | null> {
    for (let after: string | null = ""; after !== null; ) {
      const rows = await this.#due(after);
      // After the log went back a checkpoint may be complete although the log says that it is not.
      if (rows.length > 0 && (await this.#deps.hold.reason()) !== null) {
        return runtimeLimits.heldLookMs;
      }
      if (rows.length > 0) this.#readTo = (await this.#deps.claims.owner()).witness.position;
      for (const row of rows) {
        if (signal.aborted) return null;
        await this.#deal(row, signal, span);
      }
      after =
        rows.length < registryLimits.unfinishedPage ? null : (rows.at(-1)?.checkpoint ?? null);
    }
    return this.#untilNextMs();
  }

  /** Returns a page of all unfinished checkpoints, those without anything to do included. */
  async page(after: string, limit: number): Promise<UnfinishedPage> {
    const { pool, log } = this.#deps;
    await this.view.reach(await log.head());
    return unfinishedPage(pool, after, limit);
  }

  get #graces(): readonly number[] {
    return [this.#deps.graceMs, registryLimits.namedMs];
  }

  async #due(after: string): Promise<readonly Row[]> {
    const { rows } = await this.#deps.pool.query<Row>(
      `select checkpoint, maker, run, step, storage, state ${toDo}
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

  async #deal(row: Row, signal: AbortSignal, span: EffectSpan): Promise<void> {
    try {
      if (row.state === "void") return await this.#clear(row, signal);
      await this.#abandon(row, span);
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

  /** Abandons a checkpoint. The row is due again once the event is folded into the table. */
  async #abandon(row: Row, { traceparent }: EffectSpan): Promise<void> {
    const { executor, events } = this.#deps;
    const { checkpoint, maker } = row;
    const meta = serviceMeta("registry", { traceparent });
    const found: { outcome: "abandoned" | "settled" | "open" } = { outcome: "open" };
    const { fold, id } = runsOf(makerNamed(maker, row.run));
    if (maker !== "") executor.cache.forget(streamName(fold.category, id));
    await executor.execute({ commitId: newEventId(), meta }, async (work) => {
      found.outcome = await this.#decide(work, row);
    });
    if (found.outcome === "abandoned") events.abandoned(checkpoint);
    if (found.outcome === "settled") await this.#drop(row);
    else await this.#later(row);
  }

  async #decide(work: Work, row: Row): Promise<"abandoned" | "settled" | "open"> {
    const { checkpoint, step } = row;
    if (row.maker === "") return this.#decideFolder(work, checkpoint);
    const maker = makerNamed(row.maker, row.run);
    const { fold, id } = runsOf(maker);
    const runs = await work.guard(fold, id);
    const { status, declared } = await work.load(foldOf(checkpoints), checkpoint);
    const isAnothers = declared !== null && !isSameRun(declared, maker);
    if (status === "completed" || isAnothers) return "settled";
    const refusal = refusalOf(runs, maker, checkpoint);
    if (row.state === "run_over" && (refusal === null || refusal.rejected === "run_unheard")) {
      return "open";
    }
    if (declared === null) {
      // The checkpoint was never declared; its place follows from its experiment or task, so it can still be cleared.
      const storage = await storageSection(work, maker, this.#deps.checkpointDir);
      const mayCome = refusal === null || refusal.rejected === "run_unheard";
      if (mayCome) await this.#requireOpen(storage);
      const about = { ...maker, step, storage, format: "" };
      await work.decide(checkpoints, checkpoint, { kind: "declare", declared: about });
    }
    const reason =
      refusal === null || refusal.rejected === "run_unheard"
        ? `run ${runOf(maker)} ended before it was complete, and no agent delivered the rest of it`
        : `run ${runOf(maker)} ended before it was complete`;
    await work.decide(checkpoints, checkpoint, { kind: "abandon", reason });
    return "abandoned";
  }

  /** While its storage takes no declaration, the agent cannot deliver a checkpoint, and it is not given up. */
  async #requireOpen(storage: Readonly<Record<string, unknown>>): Promise<void> {
    const { stores, known } = this.#deps;
    await known.requireOpen(storage, await stores.of(storage));
  }

  async #decideFolder(work: Work, checkpoint: string): Promise<"abandoned" | "settled" | "open"> {
    const { status, declared } = await work.load(foldOf(checkpoints), checkpoint);
    if (status === "completed") return "settled";
    // The row names the files to clear, so it stays until the failure is folded into the table.
    if (status !== "declared") return "open";
    const reason = `${declared?.uploadedBy} did not complete the upload of the folder in time`;
    await work.decide(checkpoints, checkpoint, { kind: "abandon", reason });
    return "abandoned";
  }

  async #clear(row: Row, signal: AbortSignal): Promise<void> {
    const storage = JSON.parse(row.storage ?? "{}") as Record<string, unknown>;
    const { executor } = this.#deps;
    const { declared } = (await executor.cache.load(foldOf(checkpoints), row.checkpoint)).state;
    assert(declared !== null, `checkpoint ${row.checkpoint} was declared`);
    const { stores, brake, disk, known } = this.#deps;
    const store = await stores.of(storage);
    const id = await storageOf(executor, declared);
    const marked = markedPlace(storage, store, disk);
    if (store === null) {
      const foreign = await this.#foreign(row, storage, declared);
      if (foreign !== null) {
        this.#deps.events.folderKept(row.checkpoint, foreign.detail);
        return this.#drop(row);
      }
      await this.#secure(marked, id);
      await removeCheckpointFolder(storage, row.checkpoint, id, disk.until(signal));
    } else {
      // A checkpoint that the registry declared for the run has no storage id: no other program has written to its
      // prefix.
      const own = id === "" ? await known.idOf(storage, store) : id;
      await brake.ask(store, async () => {
        await this.#secure(marked, own);
        await removeCheckpointObjects(store, row.checkpoint, own);
      });
    }
    // A completion that a crash interrupted has stored its manifest.
    await this.#deps.manifests.forget([row.checkpoint]);
    await this.#drop(row);
    this.#deps.events.cleared(row.checkpoint);
  }

  /** The events of this page's rows are in the log at or before this position. */
  #secure(marked: MarkedPlace, storageId: string): Promise<void> {
    return this.#deps.claims.secure(marked, storageId, this.#readTo);
  }

  /** The reason why a folder is not the run's that declared it, so that it is not removed; null if it is. */
  async #foreign(
    { checkpoint }: Row,
    storage: Readonly<Record<string, unknown>>,
    { trial, run, task }: Maker,
  ): Promise<Rejection | null> {
    const root = checkpointRoot(storage);
    if (root === null) return null;
    return refusalOfFolder(this.#deps, root, { checkpoint, trial, run, task });
  }

  /** Drops a row that needs no further work. */
  async #drop({ checkpoint, state }: Row): Promise<void> {
    const { pool } = this.#deps;
    const gone = "delete from registry.unfinished where checkpoint = $1 and state = $2";
    await pool.query(gone, [checkpoint, state]);
    await pool.query("delete from registry.unfinished_tries where checkpoint = $1", [checkpoint]);
  }
}
