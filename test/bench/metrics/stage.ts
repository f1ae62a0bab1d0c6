/** A durable PostgreSQL with the log and a run, the service as a separate process, and plain tables. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmod } from "node:fs/promises";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { ReportService } from "@trainyard/contracts/api";
import { runToken } from "@trainyard/runtime";
import { GrpcClient } from "@trainyard/runtime/grpc";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import pg from "pg";

const key = { id: "1", secret: Buffer.from("07".repeat(32), "hex") };

export class ReportStream implements Disposable {
  readonly #client: GrpcClient;
  readonly #stream: ReturnType<GrpcClient["exchangeBytes"]>;

  constructor(client: GrpcClient) {
    this.#client = client;
    this.#stream = client.exchangeBytes(ReportService.method.streamReports);
    this.#stream.on("error", () => {});
  }

  async report(batch: Buffer): Promise<void> {
    const acknowledged = once(this.#stream, "data");
    this.#stream.write(batch);
    await acknowledged;
  }

  [Symbol.dispose](): void {
    this.#stream.end();
    this.#client[Symbol.dispose]();
  }
}

export class MetricsStage implements AsyncDisposable {
  readonly stage: DatabaseStage;
  readonly pool: pg.Pool;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 });
  readonly #tokens = new Map<string, string>();
  #server: ChildProcess | null = null;
  #addresses: readonly string[] = [];
  /** The server through which gateways reach the service, from its next start on. */
  natsUrl: string | null = null;

  private constructor(stage: DatabaseStage) {
    this.stage = stage;
    const url = stage.url();
    this.pool = new pg.Pool({ connectionString: url, max: 8 });
    // The server is stopped before the pool when the data is saved, so the pool's errors are ignored.
    this.pool.on("error", () => {});
  }

  /** Starts a stage; with `copyOf`, over a copy of a saved stage's data. */
  static async start(copyOf?: string): Promise<MetricsStage> {
    const stage = await MetricsStage.withoutService(copyOf);
    await stage.restart();
    return stage;
  }

  /** Like `start`, but `restart` is the first start of the service. */
  static async withoutService(copyOf?: string): Promise<MetricsStage> {
    const settings = { max_wal_size: "8GB", shared_buffers: "512MB" };
    const copied = copyOf === undefined ? {} : { copyOf };
    const options = { fsync: true, settings, ...copied };
    return new MetricsStage(await DatabaseStage.start("metrics", options));
  }

  /** Stops the service and the server, and copies the data to a folder from which a stage can start. */
  async save(folder: string): Promise<void> {
    await this.#stop();
    await this.stage.postgres.stop();
    await promisify(execFile)("cp", ["-a", `${this.stage.postgres.data}/.`, folder]);
    await chmod(folder, 0o700);
  }

  get pid(): number {
    return this.#server?.pid ?? 0;
  }

  /** Restarts the service, which clears its memory. */
  async restart(): Promise<void> {
    await this.#stop();
    const { natsUrl } = this;
    const bus =
      natsUrl === null ? {} : { TRAINYARD_NATS_URL: natsUrl, TRAINYARD_BENCH_BUS: "nats" };
    const server = spawn(process.execPath, [join(import.meta.dirname, "server-main.ts")], {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        ...this.stage.variables,
        ...bus,
        TRAINYARD_LOG_LEVEL: "error",
        TRAINYARD_RUN_TOKEN_KEY: key.secret.toString("hex"),
      },
    });
    this.#server = server;
    for await (const line of createInterface({ input: server.stdout })) {
      this.#addresses = line.split(" ");
      return;
    }
    throw new Error("the metrics service ended before it listened");
  }

  async run(trial: string): Promise<void> {
    const [experiment = ""] = trial.split(".");
    const of = {
      fromCheckpoint: "",
      fromStep: 0,
      preemptible: true,
      experiment,
      delayMs: 0,
      workspace: "",
      owner: "",
    };
    const event = { type: "RunRequested" as const, data: { ...of, run: 1 } };
    await this.stage.tell(`trial-${trial}`, event);
  }

  /** Sends reports; resolves when they are durable. */
  async report(trial: string, body: string): Promise<void> {
    const run = `${trial}#1`;
    const token = await this.#tokenOf(trial);
    const path = `/api/v1/runs/${encodeURIComponent(run)}/reports`;
    await this.#post(`${this.#addresses[0]}${path}`, body, token);
  }

  /** Opens a gRPC stream of batches for sequential calls, each until its acknowledgement. */
  async openStream(trial: string): Promise<ReportStream> {
    const token = await this.#tokenOf(trial);
    return new ReportStream(new GrpcClient(this.#addresses[2] ?? "", token));
  }

  /** The token of a trial's first run. The event that requested the run grants it, too. */
  async #tokenOf(trial: string): Promise<string> {
    const known = this.#tokens.get(trial);
    if (known !== undefined) return known;
    const text =
      "select position::float8 as position, id from log.events where stream = $1 and version = 1";
    const [event] = await this.stage.sql<{ position: number; id: string }>(text, [
      `trial-${trial}`,
    ]);
    const grant = { grantPosition: event?.position ?? 0, grantId: event?.id ?? "" };
    const token = runToken(key, { allocation: `${trial}#1`, ...grant });
    this.#tokens.set(trial, token);
    return token;
  }

  async parse(body: string): Promise<void> {
    await this.#post(`${this.#addresses[1]}/parse`, body, "");
  }

  async series(query: object): Promise<unknown> {
    return JSON.parse(await this.#post(`${this.#addresses[1]}/series`, JSON.stringify(query), ""));
  }

  #post(url: string, body: string, token: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...(token === "" ? {} : { authorization: `Bearer ${token}` }),
      };
      const sent = request(url, { method: "POST", agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
        });
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  async #stop(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill();
    await ended;
    this.#server = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    await this.#stop();
    await this.pool.end();
    await this.stage[Symbol.asyncDispose]();
  }
}
