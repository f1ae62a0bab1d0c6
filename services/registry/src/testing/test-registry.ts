/** The registry over a real PostgreSQL and real folders, with events of other services. */
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { markStorage, type StorageDisk } from "@trainyard/blob";
import type { AnyEvent } from "@trainyard/contracts";
import { RunEndWhy } from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { type ListeningService } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { vi } from "vitest";
import { parseConfig } from "../config.ts";
import { createService } from "../service.ts";

export class TestRegistry implements AsyncDisposable {
  readonly stage: DatabaseStage;
  readonly folder: string;
  /** The id of the storage, as the writing host saw it. */
  readonly storageId: string;
  service: ListeningService;
  readonly #variables: Variables;
  #trials = 0;

  private constructor(
    stage: DatabaseStage,
    folder: string,
    storageId: string,
    service: ListeningService,
    variables: Variables,
  ) {
    this.#variables = variables;
    this.stage = stage;
    this.folder = folder;
    this.storageId = storageId;
    this.service = service;
  }

  /** Starts the registry; `variables` are added to the service's environment. */
  static async start(variables: Variables = {}): Promise<TestRegistry> {
    const stage = await DatabaseStage.start("registry");
    const folder = await mkdtemp(join(tmpdir(), "trainyard-registry-"));
    await mkdir(join(folder, "checkpoints"));
    const storageId = await markStorage(join(folder, "checkpoints"));
    const service = await startService(stage, folder, variables);
    const test = new TestRegistry(stage, folder, storageId, service, variables);
    await stage.tell("experiment-1", experimentCreated(join(folder, "checkpoints")));
    return test;
  }

  get storage(): string {
    return join(this.folder, "checkpoints");
  }

  /** Kills the process and starts another. Its clock may be ahead, and its grace above 0. */
  async restart(start: Start = {}): Promise<void> {
    await this.service[Symbol.asyncDispose]();
    this.service = await startService(this.stage, this.folder, this.#variables, start);
    await vi.waitFor(() => this.plan(randomUUID()), { timeout: 90_000, interval: 100 });
  }

  /** Creates a trial and requests its first run. */
  async newTrial(experiment = "1"): Promise<string> {
    this.#trials += 1;
    const trial = `${experiment}.${this.#trials}`;
    const created = trialCreated(this.#trials, experiment);
    await this.stage.tell(`trial-${trial}`, created, runRequested(1, experiment));
    return trial;
  }

  async declare(
    trial: string,
    run = 1,
    checkpoint: string = randomUUID(),
    step = 10,
    more: { readonly format?: string; readonly metadata?: { readonly [key: string]: string } } = {},
  ) {
    return this.declareIn({ trial, run, checkpoint, step, storageId: this.storageId, ...more });
  }

  /** Declares like a host that sees another storage, or that could not mark its storage and sends no id. */
  async declareIn(given: {
    readonly trial: string;
    readonly task?: string;
    readonly run?: number;
    readonly checkpoint?: string;
    readonly step?: number;
    readonly storageId?: string;
    readonly format?: string;
    readonly lastValidation?: string;
    readonly metadata?: { readonly [key: string]: string };
  }) {
    const { run = 1, checkpoint = randomUUID(), step = 10, ...more } = given;
    const metadata = { steps_completed: step };
    const message = { checkpoint, run, step, metadata, format: "", ...more };
    const answer = await this.stage.ask("registry", "DeclareCheckpoint", message);
    return { checkpoint, answer };
  }

  complete(
    checkpoint: string,
    trial: string,
    manifest: readonly ReturnType<typeof entry>[],
    run = 1,
  ) {
    const message = { checkpoint, trial, run, manifest };
    return this.stage.ask("registry", "CompleteCheckpoint", message);
  }

  readAhead(checkpoint: string, trial: string, paths: readonly string[], run = 1) {
    const message = { checkpoint, trial, run, paths };
    return this.stage.ask("registry", "ReadAhead", message);
  }

  reportDamage(checkpoint: string, trial: string, detail = "weights is missing") {
    const message = { checkpoint, trial, run: 1, detail };
    return this.stage.ask("registry", "ReportDamage", message);
  }

  async storages() {
    const answer = await this.stage.ask("registry", "ListStorages", {});
    return answer.kind === "ok" ? answer.reply.storages : [];
  }

  adopt(root: string, storageId: string, ...replacedIds: string[]) {
    const message = { root, storageId, replacedIds };
    return this.stage.ask("registry", "AdoptStorage", message);
  }

  plan(checkpoint: string) {
    return this.stage.ask("registry", "PlanCheckpointDownload", { checkpoint });
  }

  /** Writes files like the SDK. Returns their manifest. */
  async write(checkpoint: string, files: Readonly<Record<string, string>>) {
    for (const [path, content] of Object.entries(files)) {
      const file = join(this.storage, checkpoint, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    return Object.entries(files).map(([path, content]) => entry(path, content));
  }

  /** Declares, writes and completes a checkpoint. */
  async stored(trial: string, files = { weights: "w", "metadata.json": "{}" }) {
    const { checkpoint } = await this.declare(trial);
    const manifest = await this.write(checkpoint, files);
    const answer = await this.complete(checkpoint, trial, manifest);
    return { checkpoint, manifest, answer };
  }

  has(checkpoint: string, path = ""): boolean {
    return existsSync(join(this.storage, checkpoint, path));
  }

  async names(checkpoint: string): Promise<readonly string[]> {
    return (await this.stage.events(`checkpoint-${checkpoint}`)).map(({ type }) => type);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service[Symbol.asyncDispose]();
    await this.stage[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}

type Variables = Readonly<Record<string, string>>;
type Start = {
  readonly aheadMs?: number;
  readonly graceSeconds?: number;
  /** Variables in addition to those of the registry's first start. */
  readonly more?: Variables;
  readonly disk?: StorageDisk;
};

async function startService(
  stage: DatabaseStage,
  folder: string,
  variables: Variables,
  { aheadMs = 0, graceSeconds = 0, more = {}, disk }: Start = {},
): Promise<ListeningService> {
  const config = parseConfig({
    ...stage.variables,
    TRAINYARD_BLOB_DIR: join(folder, "blobs"),
    ...variables,
    TRAINYARD_CHECKPOINT_DIR: join(folder, "default"),
    TRAINYARD_RUN_TOKEN_KEY: "ab".repeat(32),
    TRAINYARD_ABANDONED_GRACE_SECONDS: String(graceSeconds),
    ...more,
  });
  const bus = stage.hub.connect("registry");
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  const service = await createService(config, { bus, clock, ...(disk && { disk }) });
  await service.start();
  return service;
}

export function entry(path: string, content: string) {
  const sha256 = createHash("sha256").update(content).digest("hex");
  return { path, bytes: Buffer.byteLength(content), sha256, partSha256: [], md5: "" };
}

export function experimentCreated(root: string): AnyEvent {
  return experimentStoredIn({ type: "directory", container_path: root });
}

/** An experiment with this checkpoint storage; `more` has other sections of its configuration. */
export function experimentStoredIn(checkpoint_storage: Variables, more: object = {}): AnyEvent {
  return {
    type: "ExperimentCreated",
    data: {
      config: { checkpoint_storage, ...more },
      configSourceDigest: "",
      contextDigest: "",
      contextBytes: 0,
      submissionDigest: "",
      tokenId: "",
      seed: 1,
      name: "",
      description: "",
      labels: [],
      owner: "",
      workspace: "",
      project: "",
    },
  };
}

export function trialCreated(number: number, experiment = "1"): AnyEvent {
  return {
    type: "TrialCreated",
    data: {
      experiment,
      number,
      seed: 1,
      warmStartCheckpoint: "",
      sourceTrial: "",
      origin: "drawn",
    },
  };
}

/** A task whose saves are stored below this folder. */
export function taskCreated(root: string): AnyEvent {
  return taskStoredIn({ type: "directory", container_path: root });
}

export function taskStoredIn(checkpoint_storage: Variables): AnyEvent {
  return {
    type: "TaskCreated",
    data: {
      ...{ kind: "notebook", config: { checkpoint_storage }, name: "", owner: "" },
      ...{ contextDigest: "", contextBytes: 0, workspace: "", tokenId: "", sources: [] },
    },
  };
}

export function runRequested(run: number, experiment = "1"): AnyEvent {
  return {
    type: "RunRequested",
    data: {
      run,
      fromCheckpoint: "",
      fromStep: 0,
      preemptible: true,
      experiment,
      delayMs: 0,
      workspace: "",
      owner: "",
    },
  };
}

/** The end of a run; `sealed` lists the checkpoints that it left. */
export function runEnded(
  run: number,
  why: RunEndWhy = RunEndWhy.FINISHED,
  sealed: readonly string[] = [],
): AnyEvent {
  const named = sealed.length === 0 ? {} : { sealed: { checkpoints: sealed.map(left) } };
  const data = { run, why, exits: [], message: "", countsAsRestart: false };
  return { type: "RunEnded", data: { ...data, ...named } };
}

export function runCheckpointsNamed(run: number, sealed: readonly string[]): AnyEvent {
  const checkpoints = sealed.map(left);
  return { type: "RunCheckpointsNamed", data: { run, checkpoints, awaitedUntilMs: 0 } };
}

function left(checkpoint: string) {
  return { checkpoint, step: 10, bytes: 1 };
}
