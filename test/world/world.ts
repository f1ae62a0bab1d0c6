/** A separate embedded cluster, driven as users do: through the command line, the API, and kill -9. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import type { Trial } from "@trainyard/contracts/api";
import { programFile } from "@trainyard/kernel/program-file";
import type { ClusterInfo, ProcessInfo } from "@trainyard/local-cluster";
import {
  checkout,
  clusterAccess,
  clusterDown,
  clusterStatus,
  clusterUp,
  restartProcess,
} from "@trainyard/local-cluster";
import { pythonEnvironment } from "../../scripts/lib/python-environment.ts";
import { eventually } from "./eventually.ts";

export type Said = { readonly code: number; readonly out: string; readonly err: string };

export type WorldOptions = {
  readonly processes?: boolean;
  readonly agents?: number;
  readonly slots?: number;
  readonly restart?: boolean;
  /** Whether the gateway serves the Web UI. */
  readonly web?: boolean;
  /** The default storage of checkpoints. */
  readonly storage?: { readonly address: string; readonly endpoint: string };
  /**
   * Makes `python3` of an entrypoint the project's Python, which has PyTorch; a test must first check that it exists.
   */
  readonly python?: boolean;
};

export class World implements AsyncDisposable {
  /** The folder of the cluster's home and of the test's files. */
  readonly folder: string;
  readonly home: string;
  readonly #options: WorldOptions;

  private constructor(options: WorldOptions) {
    this.folder = mkdtempSync(join(tmpdir(), "ty-world-"));
    this.home = join(this.folder, "home");
    this.#options = options;
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const world = new World(options);
    try {
      await world.up();
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
    return world;
  }

  async up(): Promise<ClusterInfo> {
    // The cluster's processes inherit this: tests of runs that fail must not wait for the delays of a real cluster.
    process.env["TRAINYARD_RETRY_DELAY_SECONDS"] ??= "0.05";
    const { python = false, ...options } = this.#options;
    const environment = pythonEnvironment();
    const pathFirst = python && environment.python !== null ? environment.bin : undefined;
    const up = { home: this.home, slots: 4, ...options };
    return (await clusterUp(pathFirst === undefined ? up : { ...up, pathFirst })).cluster;
  }

  async down(): Promise<void> {
    await clusterDown(this.home);
  }

  get client(): Client {
    const { api: url, token } = this.access;
    return new Client({ url, token });
  }

  /** The API's address, such as http://127.0.0.1:8080. */
  get api(): string {
    return this.access.api;
  }

  get access(): { readonly api: string; readonly token: string } {
    const access = clusterAccess(this.home);
    if (access === null) throw new Error("the cluster is not up");
    return access;
  }

  async processes(): Promise<readonly ProcessInfo[]> {
    return (await clusterStatus(this.home))?.processes ?? [];
  }

  async pidOf(name: string): Promise<number> {
    const found = (await this.processes()).find((one) => one.name === name);
    if (found?.pid == null) throw new Error(`${name} does not run`);
    return found.pid;
  }

  /** Sends kill -9; returns the pid of the killed process. */
  async kill(name: string): Promise<number> {
    const pid = await this.pidOf(name);
    process.kill(pid, "SIGKILL");
    return pid;
  }

  /** Starts a dead process again, as `yard cluster restart` does. */
  async restart(name: string): Promise<void> {
    await restartProcess(name, this.home);
  }

  /** Waits until a process of this name serves that has another pid. */
  async untilUp(name: string, otherThan: number): Promise<void> {
    await eventually(`${name} is up again`, async () => {
      const found = (await this.processes()).find((one) => one.name === name);
      return found?.state === "running" && found.pid !== otherThan;
    });
  }

  /** Starts the command line once, with the arguments of `npm run -s yard -- …`. */
  yard(...args: readonly string[]): Promise<Said> {
    return this.yardWith({}, ...args);
  }

  yardWith(environment: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Said> {
    const yard = programFile(join(checkout, "services", "cli", "src", "main.ts"));
    const child = spawn(process.execPath, [yard, ...args], {
      cwd: this.folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        TRAINYARD_HOME: this.home,
        TRAINYARD_CALLER_DIR: this.folder,
        ...environment,
      },
    });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (err += chunk));
    return new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) =>
        resolve({ code: code ?? 128, out, err: err + (signal ?? "") }),
      );
    });
  }

  /** The JSON that a call with -o json prints; the call must succeed. */
  async json(...args: readonly string[]): Promise<unknown> {
    const said = await this.yard(...args, "-o", "json");
    if (said.code !== 0) throw new Error(`yard ${args.join(" ")}: ${said.code} ${said.err}`);
    return JSON.parse(said.out);
  }

  /** Writes a file below the world's folder; returns its path relative to it. */
  write(path: string, text: string): string {
    mkdirSync(join(this.folder, path, ".."), { recursive: true });
    writeFileSync(join(this.folder, path), text);
    return path;
  }

  /** Makes a folder with one of the training programs of ./code as train.py; returns its name. */
  code(program: string): string {
    const folder = `code-${program}`;
    const text = readFileSync(join(import.meta.dirname, "code", `${program}.py`), "utf8");
    this.write(`${folder}/train.py`, text);
    return folder;
  }

  /** Returns the archive of a folder with code, as createExperiment takes it. */
  context(code: string): Buffer {
    const packed = ["-czf", "-", "--exclude=__pycache__", "-C", resolve(this.folder, code), "."];
    return execFileSync("tar", packed, { maxBuffer: 64 * 1024 * 1024 });
  }

  /**
   * Submits an experiment; returns its id. Without options it calls the API directly, since a start of the command line
   * costs more than all work of the platform for an experiment.
   */
  async submit(config: string, code: string, ...options: readonly string[]): Promise<string> {
    if (options.length === 0) return await this.#create(config, code, false);
    const file = this.write("config.yaml", config);
    const answer = (await this.json("experiment", "create", file, code, ...options)) as {
      readonly experiment: { readonly id: string };
    };
    return answer.experiment.id;
  }

  /** Submits an experiment that begins when it is activated, as the option --paused does; returns its id. */
  async submitPaused(config: string, code: string): Promise<string> {
    return await this.#create(config, code, true);
  }

  async #create(config: string, code: string, paused: boolean): Promise<string> {
    const context = this.context(code);
    const answer = await this.client.call("createExperiment", { config, context, paused });
    return answer.experiment?.id ?? "";
  }

  /** The output of a trial, as `yard trial logs` prints it, for tests that poll it. */
  async logs(trial: string): Promise<string> {
    const texts: string[] = [];
    let pageToken = "";
    do {
      const page = await this.client.call("listTrialLogs", { trial, pageSize: 1_000, pageToken });
      texts.push(...page.items.map(({ text }) => `${text}\n`));
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return texts.join("");
  }

  /** Waits until the trials of an experiment, at least one, match the description. */
  async untilTrials(
    experiment: string,
    holds: (trials: readonly Plain<Trial>[]) => boolean,
  ): Promise<void> {
    await eventually(`the trials of ${experiment} are as expected`, async () => {
      const { items } = await this.client.call("listTrials", { experiment, pageSize: 100 });
      return items.length > 0 && holds(items);
    });
  }

  /**
   * Waits until an experiment has ended; returns its last state. `yard experiment wait` does the same, and costs a
   * start of the command line.
   */
  async end(experiment: string): Promise<string> {
    let last = "";
    await eventually(`experiment ${experiment} has ended`, async () => {
      last = (await this.client.call("getExperiment", { experiment })).state;
      return /^(COMPLETED|ERROR|CANCELED)$/.test(last);
    });
    return last;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await clusterDown(this.home, { purge: true });
    rmSync(this.folder, { recursive: true, force: true });
  }
}
