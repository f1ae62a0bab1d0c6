/** A separate nats-server on 127.0.0.1 for a test, which can start, kill and empty it; it is stopped by its pid. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Fault } from "@trainyard/kernel";
import { freePort } from "@trainyard/testing";
import { busLimits } from "../limits.ts";
import { type NatsUser, renderNatsConfig } from "../nats-config.ts";
import { natsServerBinary } from "../server/nats-binary.ts";

export type TestNatsOptions = {
  /** A folder that outlives the server; by default a temporary folder that is deleted with the server. */
  readonly storeDir?: string;
  readonly port?: number;
  /** Without users the server requires no login. */
  readonly users?: readonly NatsUser[];
  /** Further lines of its configuration. */
  readonly configuration?: string;
  /** Variables of its environment besides those of the test. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The servers of its cluster by the ports of their routes; by default the server is alone. */
  readonly cluster?: { readonly port: number; readonly ports: readonly number[] };
};

const pollMs = 10;

/** Starts a server and resolves when it accepts connections. */
export async function startNats(options: TestNatsOptions = {}): Promise<TestNats> {
  const cacheDir = process.env["TRAINYARD_CACHE"] ?? join(checkout(), ".cache");
  const binary = await natsServerBinary({ cacheDir, env: process.env });
  const folder = mkdtempSync(join(tmpdir(), "trainyard-nats-"));
  const storeDir = options.storeDir ?? join(folder, "store");
  const port = options.port ?? (await freePort());
  const configFile = join(folder, "nats.conf");
  const users = options.users === undefined ? {} : { users: options.users };
  const config = `${renderNatsConfig({ port, storeDir, ...users })}${options.configuration ?? ""}`;
  const text = options.cluster === undefined ? config : clustered(config, options.cluster);
  writeFileSync(configFile, text, { mode: 0o600 });
  const server = new TestNats(binary, configFile, folder, storeDir, port, options.environment);
  await server.start();
  return server;
}

/** Starts servers that are one cluster. It accepts requests for streams a few seconds later, when it has a leader. */
export async function startNatsCluster(size: number): Promise<readonly TestNats[]> {
  const ports: number[] = [];
  while (ports.length < size) ports.push(await freePort());
  return Promise.all(ports.map((port) => startNats({ cluster: { port, ports } })));
}

function clustered(config: string, { port, ports }: { port: number; ports: readonly number[] }) {
  const routes = ports.map((one) => `"nats://127.0.0.1:${one}"`).join(", ");
  const cluster = `cluster { name: test, listen: "127.0.0.1:${port}", routes: [${routes}] }\n`;
  return `${config.replace("server_name: trainyard", `server_name: n${port}`)}${cluster}`;
}

export class TestNats implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly storeDir: string;
  readonly #binary: string;
  readonly #configFile: string;
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  #process: ChildProcess | null = null;

  constructor(
    binary: string,
    configFile: string,
    folder: string,
    storeDir: string,
    port: number,
    environment: Readonly<Record<string, string>> = {},
  ) {
    this.#environment = environment;
    this.#binary = binary;
    this.#configFile = configFile;
    this.#folder = folder;
    this.storeDir = storeDir;
    this.port = port;
    this.url = `nats://127.0.0.1:${port}`;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async start(): Promise<void> {
    if (this.#process !== null) return;
    mkdirSync(this.storeDir, { recursive: true });
    const logFile = join(this.#folder, "nats.log");
    const child = spawn(this.#binary, ["-c", this.#configFile, "-l", logFile], {
      stdio: "ignore",
      env: { ...process.env, ...this.#environment },
    });
    this.#process = child;
    const deadline = performance.now() + busLimits.serverStartMs;
    while (!(await accepts(this.port))) {
      if (child.exitCode !== null || performance.now() > deadline) {
        throw new Fault("nats_did_not_start", readFileSync(logFile, "utf8").slice(-2_000), {
          retry: "never",
        });
      }
      await delay(pollMs);
    }
  }

  /** Kills the server with SIGKILL. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Kills the server with SIGKILL, even while it is paused and no longer reads or answers. */
  async crash(): Promise<void> {
    await this.#end("SIGKILL", false);
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Kills the server and deletes its data folder; `start` brings it back empty. */
  async wipe(): Promise<void> {
    await this.kill();
    rmSync(this.storeDir, { recursive: true, force: true });
  }

  /** Stops the process, like on an overloaded machine, until `resume`. Resolves when all its threads have stopped. */
  async pause(): Promise<void> {
    const child = this.#process;
    if (child?.pid === undefined) return;
    child.kill("SIGSTOP");
    while (!hasStopped(child.pid)) await delay(pollMs);
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  async #end(signal: "SIGKILL" | "SIGTERM", resumed = true): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    if (resumed) child.kill("SIGCONT");
    child.kill(signal);
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function checkout(): string {
  return resolve(dirname(new URL(import.meta.url).pathname), "../../../..");
}

/** Whether all threads of the process are stopped, by the state in their lines of proc(5), which follows the name. */
function hasStopped(pid: number): boolean {
  const folder = `/proc/${pid}/task`;
  const states = readdirSync(folder).map((thread) => {
    const line = readFileSync(join(folder, thread, "stat"), "utf8");
    return line[line.lastIndexOf(")") + 2];
  });
  return states.every((state) => state === "T");
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return await new Promise((resolveAccepts) => {
    socket.once("error", () => resolveAccepts(false));
    // The server sends INFO when it is ready; the operating system accepts connections earlier.
    socket.once("data", () => {
      socket.destroy();
      resolveAccepts(true);
    });
  });
}
