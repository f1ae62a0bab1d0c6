/**
 * The registry with an experiment that stores checkpoints on an S3 server, and a client without credentials that sends
 * them.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ObjectStore } from "@trainyard/blob";
import { openS3Store } from "@trainyard/blob/s3";
import type { Plain } from "@trainyard/contracts";
import type { FileUploads, PlannedRequest } from "@trainyard/contracts/commands";
import { systemClock } from "@trainyard/kernel/system-clock";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { entry, experimentStoredIn, TestRegistry } from "./test-registry.ts";

const bucket = "models";
const prefix = "team/a";
const experiment = "2";

export type Stored = {
  readonly checkpoint: string;
  readonly trial: string;
  readonly manifest: readonly ReturnType<typeof entry>[];
};

export class BucketStage implements AsyncDisposable {
  readonly registry: TestRegistry;
  readonly server: S3Server;
  /** The store with the platform's credentials, for changes by other programs. */
  readonly store: ObjectStore;
  /** The registry's variables for the server. */
  readonly variables: Readonly<Record<string, string>>;
  readonly #stack: AsyncDisposableStack;
  readonly #late: { ms: number };

  private constructor(
    registry: TestRegistry,
    server: S3Server,
    store: ObjectStore,
    variables: Readonly<Record<string, string>>,
    stack: AsyncDisposableStack,
    late: { ms: number },
  ) {
    this.registry = registry;
    this.server = server;
    this.store = store;
    this.variables = variables;
    this.#stack = stack;
    this.#late = late;
  }

  static async start(options: { readonly keepsChecksums?: boolean } = {}): Promise<BucketStage> {
    await using stack = new AsyncDisposableStack();
    const late = { ms: 0 };
    const nowMs = () => Date.now() + late.ms;
    const server = stack.use(await S3Server.start({ buckets: [bucket], nowMs, ...options }));
    const folder = await mkdtemp(join(tmpdir(), "trainyard-bucket-"));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, "credentials.json");
    const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = testUser;
    const text = JSON.stringify({ s3: { access_key_id, secret_access_key } });
    await writeFile(file, text, { mode: 0o600 });
    const variables = {
      TRAINYARD_STORAGE_CREDENTIALS: file,
      TRAINYARD_STORAGE_ENDPOINTS: server.url,
    };
    const registry = stack.use(await TestRegistry.start(variables));
    const storage = sectionAt(server.url);
    await registry.stage.tell(`experiment-${experiment}`, experimentStoredIn(storage));
    const { url: endpoint } = server;
    const opened = { bucket, prefix, endpoint, credentials: testUser, clock: systemClock };
    const store = stack.use(openS3Store(opened));
    return new BucketStage(registry, server, store, variables, stack.move(), late);
  }

  /** The storage's root, as an audit names it. */
  get root(): string {
    return `s3://${bucket}/${prefix} at ${this.server.url}`;
  }

  /** The section of the experiment's configuration. */
  get section(): ReturnType<typeof sectionAt> {
    return sectionAt(this.server.url);
  }

  newTrial(): Promise<string> {
    return this.registry.newTrial(experiment);
  }

  /** Plans the upload of the missing files, by default for the first run. */
  planUpload({ checkpoint, trial, manifest }: Stored, { run = 1 }: { readonly run?: number } = {}) {
    const request = { checkpoint, trial, run, files: manifest };
    return this.registry.stage.ask("registry", "PlanUpload", request);
  }

  /** Gets a plan; retries like a client while the answer takes long. */
  async planned(stored: Stored): Promise<Plain<FileUploads>["files"]> {
    let plan = await this.planUpload(stored);
    while (plan.kind === "unavailable") plan = await this.planUpload(stored);
    if (plan.kind !== "ok") throw new Error(`planned: ${JSON.stringify(plan)}`);
    return plan.reply.files;
  }

  async declared(files: Readonly<Record<string, string>>): Promise<Stored> {
    const trial = await this.newTrial();
    const checkpoint = randomUUID();
    const { answer } = await this.registry.declareIn({ trial, checkpoint });
    if (answer.kind !== "ok") throw new Error(`declared: ${JSON.stringify(answer)}`);
    const manifest = Object.entries(files).map(([path, content]) => entry(path, content));
    return { checkpoint, trial, manifest };
  }

  /** Sends the parts of a plan. Returns the status of each. */
  async sendAll(
    files: Plain<FileUploads>["files"],
    contents: Readonly<Record<string, string>>,
  ): Promise<readonly number[]> {
    const statuses: number[] = [];
    for (const { path, parts } of files) {
      for (const { request } of parts) statuses.push(await send(request, contents[path] ?? ""));
    }
    return statuses;
  }

  /** Declares a checkpoint and sends its files. */
  async sent(files: Readonly<Record<string, string>>): Promise<Stored> {
    const stored = await this.declared(files);
    await this.sendAll(await this.planned(stored), files);
    return stored;
  }

  complete({ checkpoint, trial, manifest }: Stored, run = 1) {
    return this.registry.complete(checkpoint, trial, manifest, run);
  }

  /** Completes like a client, which retries if the store takes longer than an answer waits. */
  async decided(stored: Stored) {
    let answer = await this.complete(stored);
    while (answer.kind === "unavailable") answer = await this.complete(stored);
    return answer;
  }

  /** Declares, sends and completes a checkpoint. */
  async completed(files: Readonly<Record<string, string>>): Promise<Stored> {
    const stored = await this.sent(files);
    const answer = await this.decided(stored);
    if (answer.kind !== "ok") throw new Error(`completed: ${JSON.stringify(answer)}`);
    return stored;
  }

  /** Sets the store's clock ahead of all others while `during` runs. */
  async ahead<Result>(ms: number, during: () => Promise<Result>): Promise<Result> {
    this.#late.ms = ms;
    try {
      return await during();
    } finally {
      this.#late.ms = 0;
    }
  }

  /** Sets the age of everything below a name. */
  age(name: string, ms: number): void {
    const objects = this.server.buckets.get(bucket)?.objects;
    for (const [key, object] of objects ?? []) {
      if (!key.startsWith(`${prefix}/${name}/`)) continue;
      objects?.set(key, { ...object, modifiedMs: Date.now() - ms });
    }
  }

  /** The keys below the prefix. */
  keys(): readonly string[] {
    const keys = [...(this.server.buckets.get(bucket)?.objects.keys() ?? [])];
    return keys.map((key) => key.slice(prefix.length + 1)).toSorted();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

const sectionAt = (endpoint_url: string) => ({ type: "s3", bucket, prefix, endpoint_url });

async function send(request: Plain<PlannedRequest> | undefined, body: string): Promise<number> {
  if (request === undefined) throw new Error("a part has no request");
  const { method, url, headers } = request;
  const { "content-length": _, ...signed } = headers;
  const response = await fetch(url, { method, headers: signed, body });
  await response.arrayBuffer();
  return response.status;
}
