/**
 * The loop that deletes condemned checkpoints. Once the grace is over, every reference is checked again, and the
 * checkpoint is spared or its deletion starts. Then its files are removed, and then the deletion is recorded. Each step
 * follows from the state, so after a crash the interrupted step is repeated.
 *
 * A deletion starts, and is recorded, only while this host sees the storage that the checkpoint was written to. A
 * checkpoint that has to wait is retried with growing delays, and does not hold up the others. A mount that hangs holds
 * them up once, for a limited time: its root is asked again when the call that hangs has ended.
 *
 * While deletions are held, no step is taken: what the log condemns may have been saved in a part that it lost.
 */
import {
  type CheckpointStorageSection,
  checkpointRoot,
  globMatcher,
  type MarkedPlace,
  markedPlace,
  problemOfMarker,
  problemOfStorage,
  problemOfStore,
  removeCheckpointFiles,
  removeCheckpointFolder,
  removeCheckpointObjects,
  type Removed,
  removeMatchingObjects,
  removeTensorBoardFolder,
  removeTensorBoardObjects,
  storeAddress,
  type SeenStorage,
  type StorageClaims,
  type StorageDisk,
  StoreBrake,
  storageOfCheckpoint,
  storageRoot,
  storageStreamId,
  type Stores,
} from "@trainyard/blob";
import { type EventLog, newEventId } from "@trainyard/event-log";
import {
  assert,
  type Clock,
  Fault,
  isFault,
  isRejection,
  parseTrialId,
  streamName,
} from "@trainyard/kernel";
import {
  type DeletionGate,
  EffectLoop,
  type EffectSpan,
  type Executor,
  foldOf,
  type Logger,
  runtimeLimits,
  serviceMeta,
  type Work,
} from "@trainyard/runtime";
import { gcLimits } from "../limits.ts";
import type { Index } from "./index-view.ts";
import type { LogClock, LogTime } from "./log-time.ts";
import { judged } from "./condemn-by-policy.ts";
import { needOf } from "./needs.ts";
import { needOfRank } from "./saves.ts";
import type { CheckpointFacts } from "../core/foreign/checkpoint.ts";
import { adoptions, checkpoints, experiments, retentions } from "../streams.ts";

export type DeletionDeps = {
  readonly executor: Executor;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly time: LogTime & Pick<LogClock, "heldMs">;
  readonly logger: Logger;
  readonly disk: StorageDisk;
  readonly stores: Pick<Stores, "of">;
  readonly claims: StorageClaims;
  readonly hold: DeletionGate;
};

const { heldLookMs } = runtimeLimits;

export class Deletion {
  readonly #deps: DeletionDeps;
  readonly #index: Index;
  readonly loop: EffectLoop;
  /** A pass asks a silent store once: a page may have hundreds of checkpoints in one store. */
  readonly #brake: StoreBrake;
  /** The files that were removed from a checkpoint and are not recorded yet. */
  readonly #removed = new Map<string, Removed>();
  #adopted = false;
  /** The events that started this pass's removals are in the log at or before this position. */
  #startedTo = 0;
  #stopping = new AbortController().signal;
  #span: Pick<EffectSpan, "traceparent"> = { traceparent: "" };

  constructor(deps: DeletionDeps, index: Index) {
    this.#deps = deps;
    const { clock } = deps;
    this.#brake = new StoreBrake({ clock, restMs: Number.POSITIVE_INFINITY, atOnceMax: 1 });
    this.#index = index;
    this.loop = new EffectLoop("deletion", deps, (signal, span) => this.#step(signal, span));
  }

  /**
   * Wakes the loop after a change of a checkpoint's retention. After the adoption of a storage all waiting checkpoints
   * are retried at once.
   */
  wake(adopted: boolean): void {
    this.#adopted ||= adopted;
    this.loop.wake();
  }

  /** Runs one pass. Returns the milliseconds until the next one is due; 0 if there is more to do, null for none. */
  async #step(signal: AbortSignal, span: EffectSpan): Promise<number | null> {
    const { log, time } = this.#deps;
    this.#stopping = signal;
    this.#span = span;
    this.#brake.askAgain();
    // The index then has each run that was requested before its checkpoint was condemned.
    await this.#index.view.reach(await log.head());
    if (this.#adopted) await this.#index.forgetRetries(null);
    this.#adopted = false;
    await time.look();
    const due = time.heldMs() > 0 ? [] : await this.#index.due(time.nowMs());
    if (!(await this.#each(due, (checkpoint) => this.#settle(checkpoint)))) return heldLookMs;
    this.#startedTo = await log.head();
    await this.#index.view.reach(this.#startedTo);
    const deleting = await this.#index.deleting(time.nowMs());
    if (!(await this.#each(deleting, (checkpoint) => this.#delete(checkpoint)))) return heldLookMs;
    const thinning = await this.#index.thinning(time.nowMs());
    const thin = (checkpoint: string) => this.#deleteFiles(checkpoint);
    if (!(await this.#each(thinning, thin))) return heldLookMs;
    const boards = await this.#index.tensorboards(time.nowMs());
    const clear = (experiment: string) => this.#deleteTensorboard(experiment);
    if (!(await this.#each(boards, clear))) return heldLookMs;
    const most = Math.max(due.length, deleting.length, thinning.length, boards.length);
    if (most === gcLimits.page) return 0;
    const next = await this.#index.nextDueMs(time.nowMs());
    if (next === null) return null;
    return Math.min(Math.max(next - time.nowMs(), time.heldMs(), 0), gcLimits.lookAgainMs);
  }

  /**
   * Runs the step for each name, unless deletions are held: then it returns false. A name that has to wait is put off;
   * one warning reports the first fault for all.
   */
  async #each(names: readonly string[], step: (name: string) => Promise<void>): Promise<boolean> {
    const { time, logger, hold } = this.#deps;
    if (names.length > 0 && (await hold.reason()) !== null) return false;
    let first: Fault | null = null;
    let waiting = 0;
    for (const name of names) {
      if (this.#stopping.aborted) return true;
      try {
        await step(name);
        await this.#index.forgetRetries(name);
      } catch (error) {
        if (!isFault(error) || error.code === "lease_lost") throw error;
        if (this.#stopping.aborted) return true;
        await this.#index.putOff(name, time.nowMs(), error.message);
        first ??= error;
        waiting += 1;
      }
    }
    if (first !== null) logger.warn({ err: first, waiting }, "deletion_waits");
    return true;
  }

  #settle(checkpoint: string): Promise<void> {
    return this.#execute(async (work) => {
      const { status, graceEndMs } = await work.load(foldOf(retentions), checkpoint);
      // The checkpoint may have been spared and condemned again since the rows were read.
      if (status !== "condemned" || graceEndMs > this.#deps.time.nowMs()) return;
      await this.#lookForUndo(work, checkpoint);
      const need = await this.#needNow(work, checkpoint);
      if (need === null) await this.#lookForStorage(await work.load(checkpoints, checkpoint));
      const command =
        need === null
          ? ({ kind: "start_deletion", atMs: this.#deps.time.nowMs() } as const)
          : ({ kind: "spare", reason: need } as const);
      const decided = await work.decide(retentions, checkpoint, command);
      assert(!isRejection(decided), `the grace of checkpoint ${checkpoint} is over`);
    });
  }

  /** Throws a retryable fault while a deletion of the checkpoint's experiment can still be undone. */
  async #lookForUndo(work: Work, checkpoint: string): Promise<void> {
    const { trial } = await work.load(checkpoints, checkpoint);
    const experiment = parseTrialId(trial)?.experiment;
    // A save of a task and an uploaded folder belong to no experiment.
    if (experiment === undefined) return;
    const { deletion } = await work.guard(experiments, experiment);
    if (deletion !== "asked") return;
    const detail = `the deletion of experiment ${experiment} may still be undone`;
    throw new Fault("deletion_asked", detail, { retry: "later" });
  }

  /** Returns why the checkpoint is to be kept after all; null if it is not. */
  async #needNow(work: Work, checkpoint: string): Promise<string | null> {
    const need = await needOf(work, this.#index, checkpoint);
    if (need !== null) return need;
    // A deletion by a person does not depend on the policy.
    if ((await work.load(foldOf(retentions), checkpoint)).by !== "") return null;
    const { trial, task } = await work.load(checkpoints, checkpoint);
    if (task !== "") return needOfRank(this.#index, work, task, checkpoint);
    const experiment = parseTrialId(trial)?.experiment;
    assert(experiment !== undefined, `checkpoint ${checkpoint} is a trial's`);
    if ((await work.guard(experiments, experiment)).deletion === "done") return null;
    // The ranking may have changed during the grace, by late validations of an ended run's agent or by a new policy.
    const given = await judged({ index: this.#index, time: this.#deps.time }, work, experiment);
    return given.has(checkpoint) ? null : "its rank is now among those to keep";
  }

  /** Returns the id of the storage that a checkpoint is in; empty if it is unknown. */
  async #storageOf({ storage, storageId }: CheckpointFacts): Promise<string> {
    const id = storageStreamId(storageRoot(storage) ?? "");
    const { cache } = this.#deps.executor;
    // The cached state of another service's stream may be stale, and a deletion must not depend on it.
    cache.forget(streamName(adoptions.category, id));
    return storageOfCheckpoint(storageId, (await cache.load(adoptions, id)).state);
  }

  /**
   * Throws a retryable fault while this host does not see the checkpoint's storage. A checkpoint whose deletion has
   * started cannot be restored from, so a deletion starts only where its files can be removed.
   */
  async #lookForStorage(facts: CheckpointFacts): Promise<void> {
    const problem = await this.#problemOf(facts);
    if (problem !== null) throw new Fault("storage_away", problem, { retry: "later" });
  }

  async #problemOf(facts: CheckpointFacts): Promise<string | null> {
    const store = await this.#deps.stores.of(facts.storage);
    const id = await this.#storageOf(facts);
    if (store !== null) {
      const problem = await this.#brake.ask(store, () => problemOfStore(store, id));
      return problem ?? this.#held(facts.storage);
    }
    const root = checkpointRoot(facts.storage) ?? "";
    const problem = problemOfStorage(root, id, await this.#seen(root));
    return problem ?? this.#held(facts.storage);
  }

  /** Returns why nothing may be removed in the storage, by the log that its marker names. */
  #held(storage: CheckpointStorageSection): Promise<string | null> {
    return this.#atMarker(storage, (place) => this.#deps.claims.problem(place));
  }

  /** Lets the marker name an event that is not older than those that started the removals of this pass. */
  #secure(storage: CheckpointStorageSection, storageId: string): Promise<void> {
    return this.#atMarker(storage, (place) =>
      this.#deps.claims.secure(place, storageId, this.#startedTo),
    );
  }

  async #atMarker<Result>(
    storage: CheckpointStorageSection,
    work: (place: MarkedPlace) => Promise<Result>,
  ): Promise<Result> {
    const { disk, stores } = this.#deps;
    const store = await stores.of(storage);
    const place = markedPlace(storage, store, disk);
    if (store !== null) return this.#brake.ask(store, () => work(place));
    const limit = { ms: gcLimits.seenMs, signal: this.#stopping };
    return this.#brake.ask(place.name, () => work(place), limit);
  }

  #seen(root: string): Promise<SeenStorage> {
    const limit = { ms: gcLimits.seenMs, signal: this.#stopping };
    return this.#brake.ask(root, () => this.#deps.disk.seen(root), limit);
  }

  /** Removes files below a root, after a look there: a mount that already hangs is noticed in the shorter time. */
  #removeFrom<Result>(
    storage: CheckpointStorageSection,
    remove: () => Promise<Result>,
  ): Promise<Result> {
    const limit = { ms: gcLimits.removeMs, signal: this.#stopping };
    return this.#brake.ask(checkpointRoot(storage) ?? "", remove, limit);
  }

  async #remove(checkpoint: string, facts: CheckpointFacts): Promise<void> {
    const { disk, stores } = this.#deps;
    const store = await stores.of(facts.storage);
    const id = await this.#storageOf(facts);
    await this.#secure(facts.storage, id);
    if (store !== null) {
      return this.#brake.ask(store, () => removeCheckpointObjects(store, checkpoint, id));
    }
    await this.#seen(checkpointRoot(facts.storage) ?? "");
    const remove = () => removeCheckpointFolder(facts.storage, checkpoint, id, disk);
    await this.#removeFrom(facts.storage, remove);
  }

  async #delete(checkpoint: string): Promise<void> {
    const { executor } = this.#deps;
    const { state } = await executor.cache.load(checkpoints, checkpoint);
    await this.#remove(checkpoint, state);
    const { files, bytes } = state;
    await this.#execute(async (work) => {
      const command = { kind: "record_deletion", files, bytes } as const;
      const decided = await work.decide(retentions, checkpoint, command);
      assert(!isRejection(decided), `the deletion of checkpoint ${checkpoint} had started`);
    });
  }

  /** Removes the files that match the patterns of a person. A repeat finds nothing more to remove. */
  async #removeFiles(
    checkpoint: string,
    { storage }: CheckpointFacts,
    globs: readonly string[],
  ): Promise<Removed> {
    const { disk, stores } = this.#deps;
    const store = await stores.of(storage);
    if (store !== null) {
      return this.#brake.ask(store, () =>
        removeMatchingObjects(store, checkpoint, globMatcher(globs)),
      );
    }
    return this.#removeFrom(storage, async () => {
      const before = this.#removed.get(checkpoint) ?? { files: 0, bytes: 0 };
      const { files, bytes } = await removeCheckpointFiles(storage, checkpoint, globs, disk);
      const removed = { files: before.files + files, bytes: before.bytes + bytes };
      this.#removed.set(checkpoint, removed);
      return removed;
    });
  }

  async #deleteFiles(checkpoint: string): Promise<void> {
    const { executor } = this.#deps;
    const { state } = await executor.cache.load(checkpoints, checkpoint);
    const { globs } = (await executor.cache.load(foldOf(retentions), checkpoint)).state;
    await this.#lookForStorage(state);
    await this.#secure(state.storage, await this.#storageOf(state));
    const removed = await this.#removeFiles(checkpoint, state, globs);
    // If the share was unmounted meanwhile, its files are still there, and the removal must not be recorded.
    await this.#lookForStorage(state);
    await this.#execute(async (work) => {
      await work.decide(retentions, checkpoint, { kind: "record_files", ...removed });
    });
    this.#removed.delete(checkpoint);
  }

  /**
   * Removes an experiment's TensorBoard files. Without a tensorboard_storage they are beside its checkpoints. If the
   * experiment has no checkpoints either, its configuration names their bucket; a directory is named by no event, and
   * nothing is removed.
   */
  async #deleteTensorboard(experiment: string): Promise<void> {
    const { cache } = this.#deps.executor;
    const { tensorboards, storage } = (await cache.load(experiments, experiment)).state;
    if (tensorboards !== null) {
      await this.#removeTensorboard(experiment, tensorboards, () =>
        this.#lookForMarker(tensorboards),
      );
    } else {
      const checkpoint = await this.#index.anyOf(experiment);
      if (checkpoint !== null) {
        const { state: facts } = await cache.load(checkpoints, checkpoint);
        await this.#removeTensorboard(experiment, facts.storage, () => this.#lookForStorage(facts));
      } else if (storage !== null && storeAddress(storage) !== null) {
        await this.#removeTensorboard(experiment, storage, async () => {});
      }
    }
    await this.#index.forgetTensorboard(experiment);
  }

  async #removeTensorboard(
    experiment: string,
    storage: CheckpointStorageSection,
    look: () => Promise<void>,
  ): Promise<void> {
    const { disk, stores } = this.#deps;
    await look();
    await this.#secure(storage, "");
    const log = await this.#deps.claims.log();
    const store = await stores.of(storage);
    if (store === null) {
      const remove = () => removeTensorBoardFolder(storage, log, experiment, disk);
      await this.#removeFrom(storage, remove);
    } else await this.#brake.ask(store, () => removeTensorBoardObjects(store, log, experiment));
    // If the share was unmounted meanwhile, its files are still there, and the removal must not be recorded.
    await look();
  }

  /**
   * Throws a retryable fault while the root has no marker, as a mount point without its share. No event has the id of a
   * storage of TensorBoard files, so any marker is accepted.
   */
  async #lookForMarker(storage: CheckpointStorageSection): Promise<void> {
    const root = checkpointRoot(storage);
    const problem = root === null ? null : problemOfMarker(root, await this.#seen(root));
    if (problem !== null) throw new Fault("storage_away", problem, { retry: "later" });
  }

  async #execute(handler: (work: Work) => Promise<void>): Promise<void> {
    const meta = serviceMeta("checkpoint-gc", { traceparent: this.#span.traceparent });
    await this.#deps.executor.execute({ commitId: newEventId(), meta }, handler);
  }
}
