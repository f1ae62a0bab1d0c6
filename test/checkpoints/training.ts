/**
 * A training on a cluster whose checkpoints go to a strict S3 server in this process, with the conditions that both
 * must meet.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import type { Checkpoint } from "@trainyard/contracts/api";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { eventually } from "../world/eventually.ts";
import { World, type WorldOptions } from "../world/world.ts";

const bucket = "models";
const prefix = "campaign";
const settleMs = 240_000;
const linesTold = 30;
const uploads = new Set(["PutObject", "UploadPart"]);

export type TrainingOptions = {
  readonly cluster: WorldOptions;
  readonly trials: number;
  readonly stepSeconds: number;
  readonly smallFiles: number;
  /** Files above 64 MiB are sent in parts. */
  readonly largeBytes: number;
};

export class StoredTraining implements AsyncDisposable {
  readonly world: World;
  readonly server: S3Server;
  readonly #stack: AsyncDisposableStack;
  readonly #aheadMs: { value: number };
  #experiment = "";

  private constructor(
    world: World,
    server: S3Server,
    stack: AsyncDisposableStack,
    aheadMs: { value: number },
  ) {
    this.world = world;
    this.server = server;
    this.#stack = stack;
    this.#aheadMs = aheadMs;
  }

  static async start(options: TrainingOptions): Promise<StoredTraining> {
    await using stack = new AsyncDisposableStack();
    const aheadMs = { value: 0 };
    const nowMs = () => Date.now() + aheadMs.value;
    const server = stack.use(await S3Server.start({ buckets: [bucket], nowMs }));
    openTo(server);
    const world = stack.use(await World.start(options.cluster));
    const training = new StoredTraining(world, server, stack.move(), aheadMs);
    await training.#submit(options);
    return training;
  }

  async #submit({ trials, stepSeconds, smallFiles, largeBytes }: TrainingOptions): Promise<void> {
    const store = { type: "s3", bucket, prefix, endpoint_url: this.server.url };
    const kept = { save_trial_latest: 1, save_trial_best: 1, save_experiment_best: 0 };
    const environment_variables = [
      `STOP=${this.#stopFile}`,
      `STEP_SECONDS=${stepSeconds}`,
      `SMALL_FILES=${smallFiles}`,
      `LARGE_BYTES=${largeBytes}`,
    ];
    const config = {
      name: "stored",
      entrypoint: "python3 train.py",
      hyperparameters: { lr: { type: "double", minval: 0, maxval: 1 } },
      searcher: { name: "random", metric: "loss", max_trials: trials },
      max_restarts: 100,
      checkpoint_storage: { ...store, ...kept },
      environment: { environment_variables },
    };
    this.#experiment = await this.world.submit(
      JSON.stringify(config),
      this.world.code("kept_weights"),
    );
  }

  get #stopFile(): string {
    return join(this.world.folder, "stop");
  }

  /** Expires all plans made so far, by moving the store's clock two hours ahead. */
  expirePlans(): void {
    this.#aheadMs.value += 2 * 60 * 60 * 1_000;
  }

  /** Waits until the store gets a request for one of these operations. */
  async untilAsked(...operations: readonly string[]): Promise<void> {
    const from = this.server.asked.length;
    await eventually(`the store is asked for ${operations.join(" or ")}`, async () =>
      this.server.asked.slice(from).some((operation) => operations.includes(operation)),
    );
  }

  /** Waits until each trial has one more complete checkpoint than at the call. */
  async untilMoreCheckpoints(): Promise<void> {
    const before = new Map<string, number>();
    await eventually("every trial has another complete checkpoint", async () => {
      const latest = latestOf(await this.checkpoints());
      if (before.size === 0) for (const [trial, step] of latest) before.set(trial, step);
      return (
        before.size > 0 && [...before].every(([trial, step]) => (latest.get(trial) ?? 0) > step)
      );
    });
  }

  /** Describes the state of the training and its checkpoints, for a failure. */
  async told(): Promise<string> {
    const lines: string[] = [];
    for (const { uuid, state, stepsCompleted, reason } of await this.checkpoints()) {
      if (state !== "DELETED")
        lines.push(`${uuid} of step ${stepsCompleted} is ${state} ${reason}`);
    }
    for (const trial of await this.trials()) {
      lines.push(...(await this.world.logs(trial)).split("\n").slice(-linesTold));
    }
    const requests = this.server.served.slice(-linesTold);
    lines.push(...requests.map(({ operation, key, status }) => `${status} ${operation} ${key}`));
    return lines.join("\n");
  }

  async checkpoints(): Promise<readonly Plain<Checkpoint>[]> {
    const found: Plain<Checkpoint>[] = [];
    let pageToken = "";
    do {
      const { client } = this.world;
      const experiment = this.#experiment;
      const page = await client.call("listCheckpoints", { experiment, pageSize: 200, pageToken });
      found.push(...page.items);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return found;
  }

  async trials(): Promise<readonly string[]> {
    const experiment = this.#experiment;
    const { items } = await this.world.client.call("listTrials", { experiment, pageSize: 100 });
    return items.map(({ id }) => id);
  }

  /** The pid that a trial's script printed last. */
  async pidOf(trial: string): Promise<number> {
    const said = (await this.world.logs(trial)).matchAll(/as pid (\d+)$/gm);
    return Number([...said].at(-1)?.[1] ?? 0);
  }

  /** Lets the training end, and waits until no upload or deletion is left. Returns a sentence for each problem. */
  async end(): Promise<readonly string[]> {
    writeFileSync(this.#stopFile, "");
    const { client } = this.world;
    let state = "";
    const isOver = async (): Promise<boolean> => {
      ({ state } = await client.call("getExperiment", { experiment: this.#experiment }));
      return ["COMPLETED", "CANCELED", "ERROR"].includes(state);
    };
    await eventually("the training has ended", isOver, settleMs).catch(() => {});
    const found = state === "COMPLETED" ? [] : [`the experiment is ${state}`];
    return [...found, ...(await this.#leftToDo())];
  }

  /**
   * The files left when nothing has changed for a while: a busy machine may have many checkpoints to send and delete.
   */
  async #leftToDo(): Promise<readonly string[]> {
    let left: readonly string[] = [];
    for (;;) {
      const before = left.join("\n");
      const isMoving = async (): Promise<boolean> => {
        left = await this.#unsettled();
        return left.length === 0 || left.join("\n") !== before;
      };
      const moved = await eventually("something moves", isMoving, settleMs).then(
        () => true,
        () => false,
      );
      if (left.length === 0 || !moved) return left;
    }
  }

  async #unsettled(): Promise<readonly string[]> {
    const checkpoints = await this.checkpoints();
    const pending = checkpoints
      .filter((one) => ["ACTIVE", "CONDEMNED"].includes(one.state) || this.#isLeftOver(one))
      .map(({ uuid, state, reason }) => `checkpoint ${uuid} stays ${state}: ${reason}`);
    return [...pending, ...(await this.#unlikePolicy(checkpoints))];
  }

  #isLeftOver({ uuid, state }: Plain<Checkpoint>): boolean {
    return state !== "COMPLETED" && this.#keysOf(uuid).length > 0;
  }

  #keysOf(uuid: string): readonly string[] {
    const below = `${prefix}/${uuid}/`;
    const objects = this.server.buckets.get(bucket)?.objects.keys() ?? [];
    return [...objects]
      .filter((key) => key.startsWith(below))
      .map((key) => key.slice(below.length));
  }

  /** Returns a sentence for each mistake in the stored files. */
  async violations(): Promise<readonly string[]> {
    const checkpoints = await this.checkpoints();
    const found: string[] = [];
    for (const one of checkpoints) found.push(...(await this.#problemsOf(one)));
    for (const trial of await this.trials()) {
      const text = await this.world.logs(trial);
      if (text.includes("DAMAGED")) found.push(`trial ${trial} restored a damaged checkpoint`);
    }
    return [
      ...found,
      ...this.#sentAgain(),
      ...this.#unfinished(),
      ...(await this.#audited()),
      ...(await this.#parked()),
    ];
  }

  /** Checks that every trial keeps only its latest checkpoint, which may be declared only some time after its run. */
  async #unlikePolicy(checkpoints: readonly Plain<Checkpoint>[]): Promise<readonly string[]> {
    const found: string[] = [];
    for (const trial of await this.trials()) {
      const text = await this.world.logs(trial);
      const last = Number([...text.matchAll(/^stored (\d+)$/gm)].at(-1)?.[1] ?? 0);
      const kept = checkpoints
        .filter((one) => one.trial === trial && one.state === "COMPLETED")
        .map(({ stepsCompleted }) => stepsCompleted);
      // The loss falls with each step, so the latest checkpoint is also the best.
      if (kept.length === 1 && kept[0] === last) continue;
      found.push(`trial ${trial} stored step ${last} last and keeps those of ${kept.join(", ")}`);
    }
    return found;
  }

  async #problemsOf({ uuid, state }: Plain<Checkpoint>): Promise<readonly string[]> {
    const { client } = this.world;
    const keys = this.#keysOf(uuid);
    if (state !== "COMPLETED") {
      const offered = await client.call("planDownload", { checkpoint: uuid }).then(
        () => [`checkpoint ${uuid}, which is ${state}, is offered`],
        () => [],
      );
      return keys.length === 0
        ? offered
        : [...offered, `${state} checkpoint ${uuid} has ${keys.join(", ")}`];
    }
    let verified = await client.call("verifyCheckpoint", { checkpoint: uuid });
    while (!verified.done) verified = await client.call("verifyCheckpoint", { checkpoint: uuid });
    return verified.problems.map(({ path, detail }) => `${uuid}: ${path} ${detail}`);
  }

  /** Returns the acknowledged parts that were sent a second time; there must be none. */
  #sentAgain(): readonly string[] {
    const times = new Map<string, number>();
    for (const { operation, key, part, status } of this.server.served) {
      if (!uploads.has(operation) || status !== 200) continue;
      const name = `${key}${part === null ? "" : ` part ${part}`}`;
      times.set(name, (times.get(name) ?? 0) + 1);
    }
    return [...times]
      .filter(
        ([name, count]) =>
          count > 1 && name.startsWith(`${prefix}/`) && name.includes("/", prefix.length + 1),
      )
      .map(([name, count]) => `${name} was taken ${count} times`);
  }

  #unfinished(): readonly string[] {
    const left = [...(this.server.buckets.get(bucket)?.uploads.values() ?? [])];
    return left.map(({ key }) => `an upload of ${key} was never finished or given back`);
  }

  async #audited(): Promise<readonly string[]> {
    const audit = await this.world.client.call("auditStorage", { root: "", reason: "" });
    if (audit.roots.length !== 1) return [`the audit found ${audit.roots.length} storages`];
    return [
      ...audit.roots
        .filter(({ problem }) => problem !== "")
        .map(({ problem }) => `audit: ${problem}`),
      ...audit.findings.map(({ name, kind }) => `audit: ${name} is ${kind}`),
    ];
  }

  async #parked(): Promise<readonly string[]> {
    const { items } = await this.world.client.call("listParked", {});
    return items.map((one) => `parked: ${one.consumer} ${one.key} ${one.reason}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

/** Sets the variables that the cluster's processes inherit. Abandoned checkpoints are deleted without a grace. */
function openTo(server: S3Server): void {
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = testUser;
  const file = join(mkdtempSync(join(tmpdir(), "ty-storage-")), "credentials.json");
  const text = JSON.stringify({ s3: { access_key_id, secret_access_key } });
  writeFileSync(file, text, { mode: 0o600 });
  process.env["TRAINYARD_STORAGE_CREDENTIALS"] = file;
  process.env["TRAINYARD_STORAGE_ENDPOINTS"] = server.url;
  process.env["TRAINYARD_CHECKPOINT_GRACE_SECONDS"] = "0";
  process.env["TRAINYARD_ABANDONED_GRACE_SECONDS"] = "0";
}

function latestOf(checkpoints: readonly Plain<Checkpoint>[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>();
  for (const { trial, state, stepsCompleted } of checkpoints) {
    if (state === "COMPLETED") latest.set(trial, Math.max(latest.get(trial) ?? 0, stepsCompleted));
  }
  return latest;
}
