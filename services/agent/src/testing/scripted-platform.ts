/**
 * A fake platform for an agent: a scheduler whose lists the test sets, a logs service and a registry on the bus, and
 * the HTTP of registry and metrics.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { agentDoSubject, agentReportSubject, type Bus } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  type AllocationReport,
  AllocationReportState,
  type Launch,
  type Report,
  ReportSchema,
  type RequestedRun,
  runKeyOf,
  type Spoken,
  spokenProtocol,
  WantedSchema,
  WantedState,
} from "@trainyard/contracts/agent";
import type { LogLine } from "@trainyard/contracts/commands";
import { pause, reject } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { commandHandlers, createLogger, type CommandTable } from "@trainyard/runtime";
import { vi } from "vitest";
import { answerBoards, type Boards } from "./scripted-boards.ts";

type Wish = { readonly state: WantedState; readonly launch: Plain<Launch> };

export class ScriptedPlatform implements AsyncDisposable {
  readonly #bus: Bus;
  readonly #agent: string;
  readonly #server: Server;
  readonly #wishes = new Map<string, Wish>();
  readonly #lines = new Map<string, Map<number, Plain<LogLine>>>();
  readonly contexts = new Map<string, Buffer>();
  /** The status of every answer of the metrics service. */
  metricsStatus = 200;
  /** The key of a report that a later run repeats: the request with this report is answered 409. */
  supersededKey = "";
  /** The status of every answer about checkpoints; 200 stores them, once their run is over. */
  checkpointStatus = 200;
  /** The time before every answer about checkpoints. */
  checkpointAnswerMs = 0;
  /** The code of every refusal of a checkpoint. */
  checkpointCode = "run_ended";
  /** Checkpoints that the platform knows, and that are not complete. */
  readonly incomplete = new Set<string>();
  /** Checkpoints of a lost run that the platform does not know yet. */
  readonly tooEarly = new Set<string>();
  checkpointRequests = 0;
  checkpointRoot = "/checkpoints";
  /** The object store of the files, which has all planned content already; empty for a directory. */
  store = "";
  /** Checkpoints whose files other hosts have not sent yet. */
  readonly unsent = new Set<string>();
  readonly boards: Boards = new Map();
  /** The TensorBoard files for which plans were requested. */
  readonly tensorBoard: string[] = [];
  /** All requests for a plan. */
  readonly uploads: string[] = [];
  /** The reasons of checkpoints that can never be sent, by checkpoint. */
  readonly failed = new Map<string, string>();
  /** Complete checkpoints in the order of their completion, with their requests. */
  readonly checkpoints = new Map<
    string,
    { readonly declared: object; readonly manifest: unknown }
  >();
  readonly #declared = new Map<string, object>();
  readonly received: { readonly key: string; readonly authorization: string }[] = [];
  epoch = 1;
  version = 0;
  /** The agent's start that the lists are for, and the reason why its name is taken, if it is. */
  address: { readonly incarnation?: string; readonly nameTaken?: string } = {};
  /** The protocol versions in the lists. */
  spoken: Spoken = spokenProtocol;
  report: Plain<Report> | null = null;
  logsAway = false;
  /** The runs whose lines the logs service refuses because the log has lost their history, with each refusal. */
  readonly lostLines = new Map<string, number>();
  /** Whether ended runs that are no longer wanted are forgotten. */
  forgets = true;
  /** The number of parts of the last report. */
  partsHeard = 1;
  readonly #parts: Plain<Report>[] = [];
  downloads = 0;
  /**
   * Model code is sent in pieces of this size, one every few milliseconds, and stops after this number of pieces; null
   * sends it whole.
   */
  drip: { readonly bytes: number; readonly piecesMax: number } | null = null;
  /** The status of every answer to downloads of model code. */
  contextStatus = 200;

  private constructor(bus: Bus, agent: string, server: Server) {
    this.#bus = bus;
    this.#agent = agent;
    this.#server = server;
  }

  static async start(bus: Bus, agent: string): Promise<ScriptedPlatform> {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    const platform = new ScriptedPlatform(bus, agent, server);
    server.on("request", (request, response) => {
      if (request.url === "/livez") return void response.writeHead(200).end();
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString("utf8");
        platform.#answer(request.url ?? "", request.headers.authorization ?? "", body, response);
      });
    });
    await platform.#serve();
    return platform;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #serve(): Promise<void> {
    const logger = createLogger("platform", "silent");
    const logs = commandHandlers(
      "logs",
      {
        WriteLines: async ({ lines }) => this.#refusalOfLost(lines) ?? this.#store(lines),
      },
      logger,
    );
    const { WriteLines } = logs;
    await this.#bus.serve("logs", {
      WriteLines: async (request) => {
        if (this.logsAway || WriteLines === undefined) {
          return { kind: "unavailable", detail: "away", retryAfterMs: 10 };
        }
        return WriteLines(request);
      },
    });
    const plan: CommandTable<"registry">["PlanContextDownload"] = async ({ digest }) => {
      if (!this.contexts.has(digest)) return { rejected: "not_found", detail: "no such context" };
      return { digest, url: `${this.url}/contexts/${digest}` };
    };
    await this.#bus.serve(
      "registry",
      commandHandlers("registry", { PlanContextDownload: plan }, logger),
    );
    await this.#bus.subscribe(agentReportSubject(this.#agent), ({ body }) => {
      const heard = codecOf<Plain<Report>>(ReportSchema).decode(new TextDecoder().decode(body));
      const report = this.#whole(heard);
      if (report === null) return;
      const isNewStart = this.report?.incarnation !== report.incarnation;
      this.report = report;
      // Lists for an earlier start are ignored, so a new one gets the list that the tests have asked for by then.
      if (isNewStart && this.version > 0) this.send();
      // The lists change as the scheduler's do: a launch is listed until a report names its run, and ended runs are
      // forgotten once unwanted.
      const forget = report.allocations.filter(
        (one) => one.state === AllocationReportState.ENDED && !this.#wishes.has(runKeyOf(one)),
      );
      if (forget.length > 0 && this.forgets) this.send(forget);
    });
  }

  /** Null until the last part of a report has arrived. */
  #whole(heard: Plain<Report>): Plain<Report> | null {
    this.#parts.push(heard);
    const parts = this.#parts.filter(({ sequence }) => sequence === heard.sequence);
    if (parts.length < (heard.parts ?? 1)) return null;
    this.#parts.length = 0;
    this.partsHeard = parts.length;
    return { ...heard, allocations: parts.flatMap(({ allocations }) => allocations) };
  }

  #refusalOfLost(lines: readonly Plain<LogLine>[]) {
    const run = lines[0]?.allocation ?? "";
    const refusals = this.lostLines.get(run);
    if (refusals === undefined) return null;
    this.lostLines.set(run, refusals + 1);
    return reject("history_lost", "this run's history is lost");
  }

  #store(lines: readonly Plain<LogLine>[]) {
    for (const line of lines) {
      const stored = this.#lines.get(line.allocation) ?? new Map<number, Plain<LogLine>>();
      this.#lines.set(line.allocation, stored);
      const standing = stored.get(line.sequence);
      if (standing !== undefined && standing.text !== line.text) throw new Error("a line changed");
      stored.set(line.sequence, line);
    }
    return { position: 0, stream: "" };
  }

  #answer(url: string, authorization: string, body: string, response: ServerResponse): void {
    const context = /^\/contexts\/([0-9a-f]+)$/.exec(url)?.[1];
    if (context !== undefined) {
      this.downloads += 1;
      const content = this.contexts.get(context) ?? Buffer.alloc(0);
      response.writeHead(this.contextStatus);
      if (this.drip === null || this.contextStatus !== 200) response.end(content);
      else void dripped(response, content, this.drip);
      return;
    }
    const checkpoint =
      /^\/api\/v1\/(?:runs\/[^/]+\/)?checkpoints(?:\/([^/]+)\/(?:complete|plan))?$/.exec(url);
    const upload = /checkpoints\/([^/]+)\/upload$/.exec(url)?.[1];
    if (upload !== undefined) {
      this.uploads.push(upload);
      answer(response, 200, JSON.stringify({ files: [] }));
      return;
    }
    const failing = /checkpoints\/([^/]+)\/fail$/.exec(url)?.[1];
    if (failing !== undefined) {
      this.failed.set(failing, (JSON.parse(body) as { reason: string }).reason);
      answer(response, 200, "{}");
      return;
    }
    if (url.endsWith("/tensorboard/upload")) {
      const asked = JSON.parse(body) as { files: { path: string }[] };
      this.tensorBoard.push(...asked.files.map(({ path }) => path));
      answer(response, 200, JSON.stringify({ files: [] }));
      return;
    }
    if (checkpoint !== null) {
      const status = this.#checkpointStatus(url, checkpoint[1], body);
      const text = this.#checkpointAnswer(body, this.#codeOf(url, status), checkpoint[1]);
      if (this.checkpointAnswerMs === 0) answer(response, status, text);
      else setTimeout(() => answer(response, status, text), this.checkpointAnswerMs);
      return;
    }
    if (url.includes("/signals") || url.endsWith("/environment")) {
      answer(response, 200, "{}");
      return;
    }
    if (answerBoards(url, this.boards, response)) return;
    // No test of the agent alone has the gateway's end of a run's tunnel.
    if (url.endsWith("/tunnel")) return answer(response, 503, "{}");
    // Nor the trials of a TensorBoard.
    if (/\/tensorboard(\?|$)/.test(url)) return answer(response, 503, "{}");
    const { reports } = JSON.parse(body) as { reports: { key: string }[] };
    const status = reports.some(({ key }) => key === this.supersededKey) ? 409 : this.metricsStatus;
    if (status === 200) {
      for (const { key } of reports) this.received.push({ key, authorization });
    }
    answer(response, status, "{}");
  }

  #codeOf(url: string, status: number): string {
    if (this.checkpointStatus === status) return this.checkpointCode;
    if (!url.endsWith("/plan")) return "unavailable";
    return status === 404 ? "checkpoint_not_found" : "checkpoint_not_complete";
  }

  #checkpointAnswer(body: string, code: string, checkpoint = ""): string {
    const sent = (body === "" ? { checkpoint } : JSON.parse(body)) as { checkpoint?: string };
    const path = `${this.checkpointRoot}/${sent.checkpoint ?? ""}`;
    const { store } = this;
    const { manifest } = this.checkpoints.get(checkpoint) ?? {};
    const said = { code, detail: "as the test says", manifest };
    return JSON.stringify({ ...said, ...(store === "" ? { path } : { store }) });
  }

  #checkpointStatus(url: string, checkpoint: string | undefined, body: string): number {
    this.checkpointRequests += 1;
    if (url.endsWith("/plan")) {
      const isRefused = this.checkpointStatus !== 200 && this.checkpointCode !== "run_ended";
      if (this.checkpointStatus >= 500 || isRefused) return this.checkpointStatus;
      if (this.checkpoints.has(checkpoint ?? "")) return 200;
      return this.incomplete.has(checkpoint ?? "") ? 409 : 404;
    }
    if (this.checkpointStatus !== 200) return this.checkpointStatus;
    const sent = JSON.parse(body) as { checkpoint: string; manifest?: unknown };
    if (this.tooEarly.has(checkpoint ?? sent.checkpoint)) return 425;
    if (checkpoint !== undefined && this.unsent.has(checkpoint)) return 503;
    if (checkpoint === undefined) this.#declared.set(sent.checkpoint, sent);
    else {
      const declared = this.#declared.get(checkpoint);
      if (declared === undefined) return 404;
      this.checkpoints.set(checkpoint, { declared, manifest: sent.manifest });
    }
    return 200;
  }

  addContext(packed: Buffer): string {
    const digest = createHash("sha256").update(packed).digest("hex");
    this.contexts.set(digest, packed);
    return digest;
  }

  run(launch: Plain<Launch>): void {
    this.#want(launch, WantedState.RUN);
  }

  kill(launch: Plain<Launch>): void {
    this.#want(launch, WantedState.KILL);
  }

  /** Asks the run to stop by itself. */
  stop(launch: Plain<Launch>): void {
    this.#want(launch, WantedState.STOP);
  }

  /** Stops listing the run, as after its end was recorded. */
  unwant(launch: Plain<Launch>): void {
    this.#wishes.delete(runKeyOf(launch));
    this.version += 1;
    this.send();
  }

  #want(launch: Plain<Launch>, state: WantedState): void {
    this.#wishes.set(runKeyOf(launch), { state, launch });
    this.version += 1;
    this.send();
  }

  send(forgotten: readonly RequestedRun[] = []): void {
    const named = new Set(this.report?.allocations.map(runKeyOf));
    const allocations = [...this.#wishes].map(([key, { state, launch }]) => {
      const { allocation, requestId } = launch;
      const wanted = { allocation, requestId, state };
      return state === WantedState.RUN && !named.has(key) ? { ...wanted, launch } : wanted;
    });
    const { epoch, version, address, spoken } = this;
    const forget = forgotten.map(({ allocation, requestId }) => ({ allocation, requestId }));
    const incarnation = this.report?.incarnation ?? "";
    const rest = { probe: 7, incarnation, ...address, ...spoken };
    const wanted = { epoch, version, allocations, forget, ...rest };
    const text = codecOf<object>(WantedSchema).encode(wanted);
    this.#bus.publish(agentDoSubject(this.#agent), new TextEncoder().encode(text));
  }

  reported(allocation: string, requestId?: string): Plain<AllocationReport> | undefined {
    const isNamed = (one: RequestedRun): boolean =>
      one.allocation === allocation && (requestId ?? one.requestId) === one.requestId;
    return this.report?.allocations.find(isNamed);
  }

  async up(launch: Plain<Launch>): Promise<Plain<AllocationReport>> {
    return await this.#inState(launch, AllocationReportState.RUNNING);
  }

  async ended(launch: Plain<Launch>): Promise<Plain<AllocationReport>> {
    return await this.#inState(launch, AllocationReportState.ENDED);
  }

  #inState(launch: Plain<Launch>, state: AllocationReportState): Promise<Plain<AllocationReport>> {
    return vi.waitFor(
      () => {
        const found = this.reported(launch.allocation, launch.requestId);
        if (found?.state !== state) {
          throw new Error(
            `${launch.allocation} is ${JSON.stringify(found)}, not in state ${state}`,
          );
        }
        return found;
      },
      { timeout: 90_000, interval: 50 },
    );
  }

  /** The lines that were stored, in order; a gap is an error. */
  lines(launch: Plain<Launch>): readonly Plain<LogLine>[] {
    const stored = this.#lines.get(launch.allocation) ?? new Map<number, Plain<LogLine>>();
    return Array.from({ length: stored.size }, (_, n) => {
      const line = stored.get(n + 1);
      if (line === undefined) throw new Error(`line ${n + 1} of ${stored.size} is missing`);
      return line;
    });
  }

  texts(launch: Plain<Launch>): readonly string[] {
    return this.lines(launch).map(({ text }) => text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function dripped(
  response: ServerResponse,
  content: Buffer,
  { bytes, piecesMax }: NonNullable<ScriptedPlatform["drip"]>,
): Promise<void> {
  for (let piece = 0; piece * bytes < content.length; piece += 1) {
    if (piece >= piecesMax) return;
    response.write(content.subarray(piece * bytes, (piece + 1) * bytes));
    await pause(systemClock, 20);
  }
  response.end();
}

function answer(response: ServerResponse, status: number, text: string): void {
  const kind = status < 300 ? "application/json" : "application/problem+json";
  response.writeHead(status, { "content-type": kind, "retry-after": "0" }).end(text);
}
