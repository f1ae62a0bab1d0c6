/**
 * A trial of an embedded cluster stores and reads checkpoints, until the platform has completed them. This is compared
 * with copying the same files by `cp` and by boto3. The S3 server is a separate process that discards content, so that
 * it costs both sides equally little. The two sides alternate within one trial.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Client } from "@trainyard/client";
import { type Boto3, makeBoto3 } from "../../../scripts/lib/boto3-environment.ts";
import { type Bar, type BenchContext, type BenchResult, costResult } from "../support/bench.ts";
import { benchCluster } from "../support/cluster.ts";
import { median } from "../support/measure.ts";

const scripts = import.meta.dirname;
const bar = (id: string, goal: number | null): Bar => ({ id, unit: "s", floor: null, goal });
const bars = {
  raw: bar("upload_2gb_1file_vs_raw", 0.8),
  upload: bar("s3_upload_2gb_vs_boto3", 0.8),
  download: bar("s3_download_2gb_vs_boto3", 0.8),
  uploads: bar("s3_upload_1000_files_vs_boto3", 0.8),
  downloads: bar("s3_download_1000_files_vs_boto3", 0.8),
  changed: bar("second_upload_1pct_changed", null),
} as const;
const trialMs = 280_000;

type Sizes = { readonly large: number; readonly many: number; readonly files: number };
type Trial = {
  readonly what: "directory" | "objects" | "changed";
  readonly files: number;
  readonly bytes: number;
  readonly rounds: number;
};
type Seconds = Readonly<Record<string, { readonly ours?: number[]; readonly theirs?: number[] }>>;

export async function run(context: BenchContext): Promise<readonly BenchResult[]> {
  const wants = (...asked: readonly Bar[]): boolean => context.wants(...asked.map(({ id }) => id));
  if (!wants(...Object.values(bars))) return [];
  const boto3 = await makeBoto3(context.say);
  const tiny = context.size === "tiny";
  const mebibyte = 1_024 ** 2;
  const sizes: Sizes = tiny
    ? { large: 8 * mebibyte, many: mebibyte, files: 20 }
    : { large: 2_048 * mebibyte, many: 250 * mebibyte, files: 1_000 };
  const rounds = { tiny: 1, short: 3, full: 9 }[context.size];
  await using bench = await TransferBench.start(context, boto3);
  const { large: bytes, many, files } = sizes;
  const size = (count: number): string => `${count / mebibyte} MiB`;
  const peer = boto3.python === null ? boto3.why : "boto3's transfer manager, by default";
  const results: BenchResult[] = [];
  if (wants(bars.raw)) {
    const { upload } = await bench.trial({ what: "directory", files: 1, bytes, rounds });
    const note = `${size(bytes)}, hashed on both sides, until completed; cp and fsync`;
    results.push(result(bars.raw, upload, note));
  }
  if (wants(bars.upload, bars.download)) {
    const one = await bench.trial({ what: "objects", files: 1, bytes, rounds });
    const note = `${size(bytes)} in one file; ${peer}`;
    results.push(result(bars.upload, one["upload"], note));
    results.push(result(bars.download, one["download"], note));
  }
  if (wants(bars.uploads, bars.downloads)) {
    const thousand = await bench.trial({ what: "objects", files, bytes: many, rounds });
    const note = `${files} files of ${size(many / files)}; ${peer}`;
    results.push(result(bars.uploads, thousand["upload"], note));
    results.push(result(bars.downloads, thousand["download"], note));
  }
  if (wants(bars.changed)) {
    const { second } = await bench.trial({ what: "changed", files, bytes: many, rounds });
    const note = `${changedOf(files)} of ${files} files changed, beside the checkpoint before`;
    results.push(result(bars.changed, second, note));
  }
  return results;
}

const changedOf = (files: number): number => Math.max(files / 100, 1);

/** Returns the medians of all rounds but the first. */
function result(of: Bar, seconds: Seconds[string] | undefined, note: string): BenchResult {
  const middle = (taken: readonly number[]): number => median(taken.slice(1));
  if (seconds?.ours === undefined) throw new Error(`${of.id} was not measured`);
  const theirs = seconds.theirs === undefined ? null : middle(seconds.theirs);
  return costResult(of, middle(seconds.ours), theirs, note);
}

class TransferBench implements AsyncDisposable {
  readonly #context: BenchContext;
  readonly #server: string;
  readonly #boto3: Boto3;
  readonly #stack: AsyncDisposableStack;
  readonly #client: Client;
  readonly #folder: string;

  private constructor(
    context: BenchContext,
    server: string,
    boto3: Boto3,
    stack: AsyncDisposableStack,
    client: Client,
    folder: string,
  ) {
    this.#context = context;
    this.#server = server;
    this.#boto3 = boto3;
    this.#stack = stack;
    this.#client = client;
    this.#folder = folder;
  }

  static async start(context: BenchContext, boto3: Boto3): Promise<TransferBench> {
    await using stack = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), "trainyard-transfers-"));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const cluster = stack.use(benchCluster(context, { slots: 1, objectStore: true }));
    await cluster.up();
    const { url } = cluster.store();
    return new TransferBench(context, url, boto3, stack.move(), cluster.client(), folder);
  }

  /** Runs one trial and returns the seconds of each round. */
  async trial({ what, files, bytes, rounds }: Trial): Promise<Seconds> {
    const folder = join(this.#folder, randomUUID());
    const settings = {
      ...{ what, files, bytes, rounds, folder, scripts },
      changed: changedOf(files),
      url: this.#server,
      boto3: this.#boto3.python ?? "",
    };
    const store = { type: "s3", bucket: "bench", prefix: what, endpoint_url: this.#server };
    const config = {
      name: `bench-${what}`,
      entrypoint: "python3 stored_trial.py",
      searcher: { name: "single", metric: "loss" },
      resources: { slots_per_trial: 1 },
      max_restarts: 0,
      environment: { environment_variables: [`BENCH=${JSON.stringify(settings)}`] },
      ...(what === "directory" ? {} : { checkpoint_storage: store }),
    };
    const packing = ["-czf", "-", "-C", scripts, "stored_trial.py"];
    const { stdout } = await promisify(execFile)("tar", packing, { encoding: "buffer" });
    this.#context.say(`${what}: ${files} files, ${bytes} bytes`);
    const seconds = await this.#follow(JSON.stringify(config), stdout);
    rmSync(folder, { recursive: true, force: true });
    return seconds;
  }

  async #follow(config: string, context: Uint8Array): Promise<Seconds> {
    const signal = AbortSignal.timeout(trialMs);
    const created = { config, context };
    const { experiment } = await this.#client.call("createExperiment", created, { signal });
    const id = experiment?.id ?? "";
    const said: string[] = [];
    let found: Seconds | null = null;
    const lines = this.#client.stream("followExperimentLogs", { experiment: id }, { signal });
    for await (const { message } of lines) {
      said.push(message.text);
      if (message.text.startsWith("BENCH ")) found = JSON.parse(message.text.slice(6)) as Seconds;
      else this.#context.say(`  ${message.text}`);
    }
    if (found === null) throw new Error(`the trial printed no figures:\n${said.join("\n")}`);
    return found;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
