/**
 * A storage of checkpoints as several hosts see it: the one on which runs write, the registry's and checkpoint-gc's.
 * The folder that each host sees at the same path changes at random. The registry's commands and verifier, gc's
 * reactions and deletion are the real ones, over real folders; gc's table is a model. All chance comes from the seed.
 *
 * No file is ever damaged, so none may be judged so; no existing file counts as deleted; and once all hosts see the
 * share again, and a person has adopted it, all checkpoints are verified, and condemned ones are deleted.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { markStorage, StorageClaims, storageStreamId, StoreBrake, Stores } from "@trainyard/blob";
import { createMemoryBlobStore } from "@trainyard/blob/testing";
import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { assert, idOf, isFault, isRejection } from "@trainyard/kernel";
import { Executor, emptyMeta, FoldCache, LogIdentity } from "@trainyard/runtime";
import { Deletion } from "@trainyard/service-checkpoint-gc/deletion";
import { LogClock } from "@trainyard/service-checkpoint-gc/log-time";
import { reactionHandlers } from "@trainyard/service-checkpoint-gc/reactions";
import { completeCheckpoint } from "@trainyard/service-registry/complete";
import { declareCheckpoint } from "@trainyard/service-registry/declare";
import { Inspector } from "@trainyard/service-registry/inspect";
import { Unchanged } from "@trainyard/service-registry/unchanged";
import { UploadProgress } from "@trainyard/service-registry/upload-progress";
import { Verifier } from "@trainyard/service-registry/verifier";
import { verifyFiles } from "@trainyard/service-registry/verify-files";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { Chance } from "./chance.ts";
import { ModelIndex } from "./model-index.ts";
import { Host, Pending, views } from "./storage-hosts.ts";
import { configOf, documentOf, single } from "./submissions.ts";
import { Teller } from "./teller.ts";

/** The root's path on every host, each of which has a folder of its own there. */
const root = "/shared/checkpoints";
const trial = "1.1";
const clockOfStores = new ManualClock();
const stores = new Stores({ clock: clockOfStores });
const brake = new StoreBrake({ clock: clockOfStores, restMs: 0, atOnceMax: 1 });
const content = "the weights";
const sha256 = createHash("sha256").update(content).digest("hex");
const manifest = [{ path: "weights", bytes: content.length, sha256 }];
const steps = 40;
const graceMs = 1_000;
/** Longer than a missing folder is waited for. */
const longMs = 180_000;
const logger = pino({ enabled: false });
const silent = {
  ...{ declared() {}, completed() {}, refused() {}, abandoned() {}, cleared() {} },
  ...{
    notCleared() {},
    markerNotRenewed() {},
    folderKept() {},
    verified() {},
    damageReported() {},
    contextServed() {},
    versionRegistered() {},
    requestFailed() {},
    storageRefused() {},
  },
};

type Hosts = Readonly<Record<"writer" | "registry" | "gc", Host>>;
type Stored = { readonly id: string; readonly folder: string };

class StorageWorld {
  readonly #chance: Chance;
  readonly #clock = new ManualClock();
  readonly #log: MemoryLog = createMemoryLog({ clock: this.#clock });
  readonly #teller = new Teller(this.#log);
  readonly #pending: Pending;
  readonly #hosts: Hosts;
  readonly #deletion: Deletion;
  readonly #time: LogClock;
  readonly #index: ModelIndex;
  readonly #registry: Executor;
  readonly #gc: Executor;
  readonly #verifier: Verifier;
  readonly #waiting = new Map<string, Stored>();
  readonly #stored: Stored[] = [];
  #checked = 0;
  readonly violations: string[] = [];

  constructor(seed: number, hosts: Hosts, pending: Pending) {
    this.#chance = new Chance(seed, "storage");
    this.#hosts = hosts;
    this.#pending = pending;
    this.#registry = executorOf(this.#log, "registry");
    this.#gc = executorOf(this.#log, "checkpoint-gc");
    this.#verifier = new Verifier(
      (place, files) => {
        assert("folder" in place, "the storage is a directory");
        return verifyFiles(hosts.registry.disk, place, files);
      },
      this.#clock,
      silent,
    );
    this.#index = new ModelIndex(this.#log, (adopted) => this.#deletion.wake(adopted));
    const log = this.#log.as("checkpoint-gc");
    this.#time = new LogClock(log, this.#clock, graceMs);
    const [executor, clock, time] = [this.#gc, this.#clock, this.#time];
    const hold = { reason: async () => null };
    const claims = new StorageClaims(new LogIdentity(log));
    const deps = { executor, log, clock, time, logger, disk: hosts.gc.disk, stores, hold, claims };
    this.#deletion = new Deletion(deps, this.#index);
  }

  async run(): Promise<void> {
    const stop = new AbortController();
    const deleting = this.#deletion.loop.run(stop.signal);
    await this.#begin();
    for (let step = 1; step <= steps; step += 1) await this.#step(step);
    await this.#mend();
    stop.abort();
    await this.#pass(1);
    await deleting;
  }

  async #begin(): Promise<void> {
    const storage = { type: "directory", container_path: root, save_trial_latest: 1 };
    const config = documentOf(configOf(single, 0));
    const about = {
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      seed: 1,
      name: "",
    };
    const rest = { description: "", labels: [], owner: "", workspace: "", project: "" };
    const data = { ...about, ...rest, config: { ...config, checkpoint_storage: storage } };
    await this.#tell("experiment-1", { type: "ExperimentCreated", data });
    await this.#tell(
      `trial-${trial}`,
      {
        type: "TrialCreated",
        data: {
          experiment: "1",
          number: 1,
          seed: 1,
          origin: "drawn",
          warmStartCheckpoint: "",
          sourceTrial: "",
        },
      },
      {
        type: "RunRequested",
        data: {
          run: 1,
          fromCheckpoint: "",
          fromStep: 0,
          preemptible: true,
          experiment: "1",
          delayMs: 0,
          workspace: "",
          owner: "",
        },
      },
    );
    // The experiment has ended for gc, which then condemns its checkpoints, while the run keeps storing.
    await this.#tell("experiment-1", { type: "ExperimentEnded", data: { outcome: 1, reason: "" } });
  }

  async #tell(stream: string, ...events: readonly AnyEvent[]): Promise<void> {
    await this.#teller.tell(stream, events);
    this.#index.level();
  }

  /**
   * One random step: a host's view changes, a checkpoint is stored, waiting ones are retried, gc checks, or time
   * passes.
   */
  async #step(step: number): Promise<void> {
    const chance = this.#chance;
    for (const host of Object.values(this.#hosts)) {
      if (chance.happens(0.3)) host.view = chance.pick(views);
    }
    if (chance.happens(0.3)) this.#hosts.gc.afterLook = chance.pick(views);
    if (chance.happens(0.5)) await this.#store(step);
    await this.#completeAll();
    if (chance.happens(0.4)) await this.#sweep();
    await this.#pass(chance.happens(0.3) ? longMs : chance.between(10, 5_000));
    this.#check();
  }

  /**
   * Stores a checkpoint as a run does: into the folder that its host sees, whose marker it makes and reads; a
   * host that could not mark the root reports no marker.
   */
  async #store(step: number): Promise<void> {
    const { writer } = this.#hosts;
    const id = `00000000-0000-4000-8000-${String(step).padStart(12, "0")}`;
    const storageId = await markStorage(writer.root);
    const folder = join(writer.root, id);
    await mkdir(folder);
    await writeFile(join(folder, "weights"), content);
    const named = this.#chance.happens(0.75) ? { storageId } : {};
    const request = { checkpoint: id, trial, run: 1, step, format: "", ...named };
    const answer = await declareCheckpoint(this.#commands, request, contextOf());
    if (isRejection(answer)) throw new Error(`declared: ${JSON.stringify(answer)}`);
    const stored = { id, folder };
    this.#waiting.set(id, stored);
    this.#stored.push(stored);
  }

  get #commands() {
    return {
      executor: this.#registry,
      log: this.#log.as("registry"),
      manifests: { put: async () => {}, get: async () => manifest },
      verifier: this.#verifier,
      readAheads: { begin: () => false },
      stores,
      brake,
      disk: this.#hosts.registry.disk,
      // Verifications on request and audits do not happen in this world.
      inspector: new Inspector(async () => ({ kind: "unreadable", detail: "" }), this.#clock),
      hold: { reason: async () => null, lostEnd: async () => null },
      unfinished: { page: async () => ({ unfinished: [], more: false }) },
      placed: {
        groups: async () => [],
        roots: async () => [],
        statesAt: async () => new Map(),
        anyAt: async () => null,
      },
      claims: new StorageClaims(new LogIdentity(this.#log.as("registry"))),
      // Declarations in storages of other ids are admitted here: their checkpoints have to wait then.
      known: { admit: async () => {}, idOf: async () => "" },
      renewals: { completed() {} },
      unchanged: new Unchanged(),
      uploads: new UploadProgress(this.#clock),
      blobs: createMemoryBlobStore(),
      clock: this.#clock,
      events: silent,
      checkpointDir: root,
      urlKey: Buffer.alloc(32),
      publicUrl: () => "",
    };
  }

  async #completeAll(): Promise<void> {
    for (const { id } of [...this.#waiting.values()]) {
      try {
        const entries = manifest.map((file) => ({ ...file, partSha256: [], md5: "" }));
        const request = { checkpoint: id, trial, run: 1, manifest: entries };
        const answer = await completeCheckpoint(this.#commands, request, contextOf());
        if (isRejection(answer)) this.violations.push(`${id} is refused: ${answer.detail}`);
        this.#waiting.delete(id);
      } catch (error) {
        if (!isFault(error) || error.retry !== "later") throw error;
      }
    }
    this.#index.level();
  }

  /** Does gc's work after an experiment has ended. */
  async #sweep(): Promise<void> {
    const handlers = reactionHandlers({ index: this.#index, time: this.#time, graceMs });
    const stored = this.#log.store.stream("experiment-1").at(-1);
    if (stored === undefined) return;
    const event = decodeEvent(stored);
    if (event.type !== "ExperimentEnded") return;
    const told = { stored, data: event.data, id: "1" };
    await this.#gc.execute(contextOf().identity, async (work) =>
      handlers.ExperimentEnded?.(told, work),
    );
    this.#index.level();
  }

  async #pass(ms: number): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + ms;
    await this.#rest();
    while (await this.#clock.step(untilMs)) await this.#rest();
    await this.#clock.advance(untilMs - this.#clock.monotonicMs());
  }

  async #rest(): Promise<void> {
    for (;;) {
      await this.#clock.advance(0);
      if (this.#pending.count === 0) return;
      await new Promise((resolve) => {
        setTimeout(resolve, 1);
      });
    }
  }

  /** Makes all hosts see the share, and a user adopt it as the storage of the root. */
  async #mend(): Promise<void> {
    for (const host of Object.values(this.#hosts)) {
      host.view = "share";
      host.afterLook = null;
    }
    const storageId = await markStorage(this.#hosts.writer.root);
    await this.#pass(longMs);
    this.#check();
    const data = { root, storageId, replacedIds: [], by: "somebody" };
    await this.#tell(`storage-${storageStreamId(root)}`, { type: "StorageAdopted", data });
    for (let n = 0; n < 3; n += 1) {
      await this.#completeAll();
      await this.#sweep();
      await this.#pass(longMs);
      this.#check();
    }
    const { root: share } = this.#hosts.writer;
    const there = this.#stored.filter(({ folder }) => folder.startsWith(share));
    for (const { id, folder } of there) {
      if (this.#waiting.has(id)) this.violations.push(`${id} is not complete in the end`);
      const condemned = this.#names(`retention-${id}`);
      if (condemned.length > 0 && existsSync(folder)) {
        this.violations.push(`${id} is still there: ${condemned.join()}`);
      }
    }
  }

  #names(stream: string): readonly string[] {
    return this.#log.store.stream(stream).map((stored) => decodeEvent(stored).type);
  }

  #check(): void {
    const fresh = this.#log.store.events.slice(this.#checked);
    this.#checked += fresh.length;
    for (const stored of fresh) {
      const { type } = decodeEvent(stored);
      if (type === "CheckpointFailed") this.violations.push(`${stored.stream} is judged as failed`);
      const folder = this.#stored.find(({ id }) => id === idOf(stored.stream))?.folder ?? "";
      const hasSeen = this.#hosts.gc.looked.has(dirname(folder));
      if (type === "CheckpointDeletionStarted" && !hasSeen) {
        this.violations.push(
          `${stored.stream}: its deletion begins on a host that does not see it`,
        );
      }
    }
    this.#hosts.gc.looked.clear();
    for (const { id, folder } of this.#stored) {
      const names = this.#names(`retention-${id}`);
      const isThere = existsSync(folder);
      if (names.includes("CheckpointDeleted") && isThere) {
        this.violations.push(`${id} counts as deleted, and its files are there`);
      }
      if (!isThere && !names.includes("CheckpointDeletionStarted")) {
        this.violations.push(`${id} is gone, and nobody had begun to delete it`);
      }
    }
  }
}

function executorOf(log: MemoryLog, role: string): Executor {
  const client = log.as(role);
  return new Executor(client, new FoldCache(client, undefined, logger));
}

function contextOf() {
  return {
    identity: { commitId: newEventId(), meta: emptyMeta },
    authid: "",
    throwIfLate: () => {},
  };
}

/** Returns the violations in the world of a seed. */
export async function judgeStorageWorld(seed: number): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "trainyard-sim-"));
  try {
    const pending = new Pending();
    const open = (name: string): Promise<Host> => Host.open(folder, name, pending);
    const hosts = {
      writer: await open("writer"),
      registry: await open("registry"),
      gc: await open("gc"),
    };
    const world = new StorageWorld(seed, hosts, pending);
    await world.run();
    return [...new Set(world.violations)];
  } finally {
    await rm(folder, { recursive: true });
  }
}
