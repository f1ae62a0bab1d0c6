/** Runs checkpoint-gc over a real PostgreSQL and real folders; tests append the events of the other services. */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { markStorage } from "@trainyard/blob";
import type { Service } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { vi } from "vitest";
import { parseConfig } from "../config.ts";
import { createService } from "../service.ts";

import {
  allocationEnded,
  completed,
  declared,
  experimentCreated,
  experimentEnded,
  runEnded,
  runRequested,
  type SavePolicy,
  trialCheckpointed,
  trialCreated,
  trialEnded,
  validated,
} from "./events.ts";

/** The timeout only stops a hanging test: other processes may keep the disk busy for long. */
export const soon = { timeout: 90_000, interval: 100 };

/** The storage of a test's checkpoints, the storage id that their writer sent, and their place in the event order. */
type Place = {
  readonly root: string;
  readonly storageId: string;
  readonly firstDigit?: string;
  /** A section for an object store; with it nothing is written to the root. */
  readonly storage?: Readonly<Record<string, string>>;
};

export class TestGc implements AsyncDisposable {
  readonly stage: DatabaseStage;
  readonly root: string;
  /** The id of the storage, as the writing host saw it. */
  readonly storageId: string;
  #service: Service | null = null;
  #experiments = 0;

  private constructor(stage: DatabaseStage, root: string, storageId: string) {
    this.stage = stage;
    this.root = root;
    this.storageId = storageId;
  }

  static async open(): Promise<TestGc> {
    const root = await mkdtemp(join(tmpdir(), "trainyard-gc-"));
    const storageId = await markStorage(root);
    return new TestGc(await DatabaseStage.start("checkpoint-gc"), root, storageId);
  }

  async start(
    graceSeconds: number,
    overrides: Parameters<typeof createService>[1] = {},
    variables: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const config = parseConfig({
      ...this.stage.variables,
      TRAINYARD_CHECKPOINT_GRACE_SECONDS: String(graceSeconds),
      ...variables,
    });
    const bus = this.stage.hub.connect("checkpoint-gc");
    this.#service = await createService(config, { bus, ...overrides });
    await this.#service.start();
  }

  async stop(): Promise<void> {
    await this.#service?.[Symbol.asyncDispose]();
    this.#service = null;
  }

  /** Starts an experiment and returns its id. `more`: other sections of its configuration. */
  async experiment(policy: SavePolicy, searcher: object = {}, more: object = {}): Promise<string> {
    this.#experiments += 1;
    const id = String(this.#experiments);
    const created = experimentCreated(this.root, policy, true, searcher, more);
    await this.stage.tell(`experiment-${id}`, created);
    return id;
  }

  async trial(id: string, warmStart = ""): Promise<void> {
    await this.stage.tell(`trial-${id}`, trialCreated(id, warmStart), runRequested(1, warmStart));
  }

  /** Makes a complete checkpoint of the trial's first run, with its files, validated unless the loss is null. */
  async checkpoint(
    trial: string,
    step: number,
    loss: number | null,
    id: string = randomUUID(),
    { root, storageId, storage }: Place = this,
  ): Promise<string> {
    if (storage === undefined) await this.checkpointFiles(id, root);
    if (loss !== null) {
      await this.stage.tell(`measurement-${trial}`, validated(trial, step, loss));
    }
    await this.stage.tell(
      `checkpoint-${id}`,
      declared(trial, step, storage ?? root, storageId),
      completed(trial, step, 2, 5),
    );
    await this.stage.tell(`trial-${trial}`, trialCheckpointed(id, 1, step));
    return id;
  }

  /** Writes the two files of a checkpoint. */
  async checkpointFiles(id: string, root = this.root): Promise<void> {
    const folder = join(root, id);
    await mkdir(join(folder, "deep"), { recursive: true });
    await writeFile(join(folder, "deep", "weights"), "www");
    await writeFile(join(folder, "metadata.json"), "{}");
  }

  /** Ends a trial. `sealed` lists the checkpoints that its run has left. */
  async endTrial(trial: string, sealed: readonly string[] = []): Promise<void> {
    await this.stage.tell(`allocation-${trial}#1`, allocationEnded(""));
    await this.stage.tell(`trial-${trial}`, runEnded(1, sealed), trialEnded());
  }

  async endExperiment(id: string): Promise<void> {
    await this.stage.tell(`experiment-${id}`, experimentEnded());
  }

  /** Makes an experiment of one trial with a checkpoint at each of the losses, in order. */
  async trained(
    policy: SavePolicy,
    losses: readonly (number | null)[],
    sealed: readonly string[] = [],
    place: Place = this,
  ) {
    const experiment = await this.experiment(policy);
    const trial = `${experiment}.1`;
    await this.trial(trial);
    const checkpoints: string[] = [];
    for (const [index, loss] of losses.entries()) {
      const digit = place.firstDigit ?? "";
      const id = digit + randomUUID().slice(digit.length);
      checkpoints.push(await this.checkpoint(trial, index + 1, loss, id, place));
    }
    await this.endTrial(trial, sealed);
    return { experiment, trial, checkpoints };
  }

  has(checkpoint: string, root = this.root): boolean {
    return existsSync(join(root, checkpoint));
  }

  /** The folder of the TensorBoard files of all experiments, below a root. */
  async tensorBoards(root = this.root): Promise<string> {
    return join(root, "tensorboard", await this.stage.identity.id(), "experiment");
  }

  async retention(checkpoint: string): Promise<readonly string[]> {
    return (await this.stage.events(`retention-${checkpoint}`)).map(({ type }) => type);
  }

  /** Waits until the service has reacted to all events of the test. It works in order, so it waits for the last one. */
  async settled(): Promise<void> {
    const { experiment, checkpoints } = await this.trained([0, 0, 0], [1]);
    await this.endExperiment(experiment);
    await vi.waitFor(async () => {
      const [last = ""] = checkpoints;
      if ((await this.retention(last)).length === 0) throw new Error("the last one is kept");
      const view = "select position from checkpoint_gc.view_cursor";
      const [cursor] = await this.stage.sql<{ position: string }>(view);
      const head = await this.stage.head();
      if (Number(cursor?.position ?? 0) < head) throw new Error("the tables are behind the log");
    }, soon);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.stage[Symbol.asyncDispose]();
    await rm(this.root, { recursive: true, force: true });
  }
}
