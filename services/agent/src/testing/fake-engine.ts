/**
 * A container engine that is as strict as Docker's: it refuses a body with a key or a type that the Docker Engine API
 * 1.41 does not have, and devices that it was not given. Its "containers" are processes of this host, run as they would
 * be.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { constants } from "node:os";
import { basename, join } from "node:path";
import { ownVariables } from "./agent-config.ts";
import { newFolder } from "./examples.ts";

type Body = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;
type Made = { readonly body: Body; child: ChildProcess | null; code: number; endedMs: number };
type Answer = { readonly status: number; readonly body?: unknown };
/**
 * Requests that fail with 500 or without an answer: those that begin with `call`, such as "POST start", this many
 * times.
 */
export type EngineFault = {
  readonly call: string;
  times: number;
  /** True if the engine carries out the request before it fails. */
  readonly done?: boolean;
  readonly silent?: boolean;
};

const pullEveryMs = 10;

const text: Check = (value) => typeof value === "string";
const whole: Check = (value) => Number.isInteger(value);
const flag: Check = (value) => typeof value === "boolean";
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const mapOf =
  (check: Check): Check =>
  (value) =>
    typeof value === "object" && value !== null && Object.values(value).every(check);
const shapeOf =
  (shape: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).every(([key, one]) => shape[key]?.(one) === true);

const device = shapeOf({ PathOnHost: text, PathInContainer: text, CgroupPermissions: text });
const deviceRequest = shapeOf({
  Driver: text,
  Count: whole,
  DeviceIDs: listOf(text),
  Capabilities: listOf(listOf(text)),
  Options: mapOf(text),
});
const mount = shapeOf({
  Type: text,
  Source: text,
  Target: text,
  ReadOnly: flag,
  BindOptions: shapeOf({ Propagation: text }),
});
const hostConfig = shapeOf({
  PortBindings: mapOf(listOf(shapeOf({ HostIp: text, HostPort: text }))),
  Init: flag,
  NetworkMode: text,
  LogConfig: shapeOf({ Type: text, Config: mapOf(text) }),
  Mounts: listOf(mount),
  ShmSize: whole,
  Memory: whole,
  MemorySwap: whole,
  NanoCpus: whole,
  Ulimits: listOf(shapeOf({ Name: text, Soft: whole, Hard: whole })),
  CapAdd: listOf(text),
  CapDrop: listOf(text),
  Devices: listOf(device),
  DeviceRequests: listOf(deviceRequest),
  SecurityOpt: listOf(text),
});
const create = shapeOf({
  Image: text,
  Entrypoint: listOf(text),
  Cmd: listOf(text),
  Env: listOf(text),
  WorkingDir: text,
  User: text,
  Labels: mapOf(text),
  ExposedPorts: mapOf(shapeOf({})),
  HostConfig: hostConfig,
  // dockerode also sends its argument; Docker takes the name from the query.
  name: text,
});

export class FakeEngine implements AsyncDisposable {
  readonly socket: string;
  /** The bodies of the containers that were made, in order. */
  readonly made: Body[] = [];
  readonly faults: EngineFault[] = [];
  /** While true, the engine answers nothing. */
  isAway = false;
  /** The time for which an ended container is reported as running, as by an engine that cleans up first. */
  endUnsaidMs = 0;
  /** Ports of the host, as "6006", that another program uses. */
  readonly takenPorts: string[] = [];
  /** The progress of a pull, one piece every few milliseconds; null if all images exist. */
  pulling: (() => Iterable<object>) | null = null;
  /** The number of starts of each container, in the order of their first starts. */
  readonly starts = new Map<string, number>();
  readonly #server: Server;
  readonly #containers = new Map<string, Made>();
  readonly #gpus: readonly string[];

  private constructor(server: Server, gpus: readonly string[]) {
    this.#server = server;
    this.#gpus = gpus;
    this.socket = join(newFolder(), "engine.sock");
  }

  /** `gpus` are the UUIDs that the engine's container toolkit knows. */
  static async start(gpus: readonly string[]): Promise<FakeEngine> {
    const server = createServer();
    const engine = new FakeEngine(server, gpus);
    server.on("request", (request, response) => {
      if (engine.isAway) return void response.destroy();
      if (request.url?.startsWith("/images/create") === true) return engine.#pull(response);
      void engine.#faulty(request).then(({ status, body }) => {
        if (status === 0) return void response.destroy();
        response.writeHead(status, { "content-type": "application/json" });
        response.end(body === undefined ? "" : JSON.stringify(body));
      });
    });
    server.listen(engine.socket);
    await once(server, "listening");
    return engine;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The names of all existing containers. */
  get containers(): readonly string[] {
    return [...this.#containers.keys()];
  }

  async #faulty(request: IncomingMessage): Promise<Answer> {
    const { pathname } = new URL(request.url ?? "", "http://engine");
    const [, verb = ""] = /^\/containers\/(create$|[^/]+\/\w+$)/.exec(pathname) ?? [];
    const call = request.method === "DELETE" ? "DELETE" : `${request.method} ${basename(verb)}`;
    const fault = this.faults.find((one) => one.call === call && one.times > 0);
    if (fault === undefined) return await this.#answer(request);
    fault.times -= 1;
    if (fault.done === true) await this.#answer(request);
    return fault.silent === true ? { status: 0 } : refuse(500, "the played engine is unwell");
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(request.url ?? "", "http://engine");
    const called = `${request.method} ${pathname}`;
    if (called === "GET /_ping") return { status: 200 };
    if (called === "GET /version")
      return { status: 200, body: { Components: [{ Name: "Engine" }] } };
    if (/^GET \/images\/.+\/json$/.test(called)) {
      if (this.pulling !== null) return refuse(404, "no such image");
      return { status: 200, body: { Config: { Env: [] } } };
    }
    if (called === "GET /containers/json") return { status: 200, body: this.#list() };
    if (called === "POST /containers/create") {
      const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Body;
      return this.#create(searchParams.get("name") ?? "", body);
    }
    const [, id = "", verb = ""] = /^\w+ \/containers\/([^/]+)(?:\/(\w+))?$/.exec(called) ?? [];
    const container = this.#containers.get(id);
    if (container === undefined) return refuse(404, `No such container: ${id}`);
    return await this.#act(`${request.method} ${verb}`, id, container);
  }

  /** The image exists once all lines were sent without an error. */
  #pull(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "application/json" });
    const news: Iterator<object> = (this.pulling?.() ?? [])[Symbol.iterator]();
    let hasFailed = false;
    const timer = setInterval(() => {
      const told: IteratorResult<object, unknown> = news.next();
      if (told.done !== true) {
        hasFailed ||= "error" in told.value;
        return void response.write(`${JSON.stringify(told.value)}\n`);
      }
      if (!hasFailed) this.pulling = null;
      response.end();
    }, pullEveryMs);
    response.once("close", () => clearInterval(timer));
  }

  #list(): readonly object[] {
    return [...this.#containers].map(([Id, { body }]) => ({ Id, Labels: body["Labels"] }));
  }

  #create(name: string, body: Body): Answer {
    if (!create(body)) return refuse(400, "invalid JSON: unknown or mistyped field");
    if (this.#containers.has(name)) return refuse(409, `The container name "/${name}" is in use`);
    const host = body["HostConfig"] as { DeviceRequests?: readonly { DeviceIDs: string[] }[] };
    const asked = (host.DeviceRequests ?? []).flatMap(({ DeviceIDs }) => DeviceIDs);
    const unknown = asked.find((gpu) => !this.#gpus.includes(gpu));
    if (unknown !== undefined) return refuse(500, `unknown device ${unknown}`);
    this.made.push(body);
    this.#containers.set(name, { body, child: null, code: 0, endedMs: Infinity });
    return { status: 201, body: { Id: name, Warnings: [] } };
  }

  async #act(what: string, id: string, container: Made): Promise<Answer> {
    const { child } = container;
    const taken = publishedPorts(container).find((port) => this.takenPorts.includes(port));
    const isRunning = child !== null && performance.now() < container.endedMs + this.endUnsaidMs;
    switch (what) {
      case "POST start":
        if (isRunning) return { status: 304 };
        if (taken !== undefined) {
          return refuse(500, `Bind for 0.0.0.0:${taken} failed: port is already allocated`);
        }
        this.starts.set(id, (this.starts.get(id) ?? 0) + 1);
        return start(container);
      case "GET json": {
        const State = {
          Running: isRunning,
          Status: child === null ? "created" : isRunning ? "running" : "exited",
          Pid: isRunning ? child.pid : 0,
          ExitCode: container.code,
        };
        return { status: 200, body: { Id: id, State } };
      }
      case "POST wait":
        if (child !== null && container.endedMs === Infinity) await once(child, "exit");
        return { status: 200, body: { StatusCode: container.code } };
      case "DELETE ":
        child?.kill("SIGKILL");
        this.#containers.delete(id);
        return { status: 204 };
      default:
        return refuse(404, "page not found");
    }
  }
}

function start(container: Made): Answer {
  const { Entrypoint, Cmd, Env, WorkingDir } = container.body as {
    Entrypoint: string[];
    Cmd: string[];
    Env: string[];
    WorkingDir: string;
  };
  const [program = "", ...argv] = [...Entrypoint, ...Cmd];
  const env: NodeJS.ProcessEnv = { ...ownVariables() };
  for (const variable of Env) {
    const at = variable.indexOf("=");
    env[variable.slice(0, at)] = variable.slice(at + 1);
  }
  const child = spawn(program, argv, { cwd: WorkingDir, env, stdio: "ignore" });
  child.once("exit", (code, signal) => {
    container.endedMs = performance.now();
    container.code = code ?? 128 + constants.signals[signal ?? "SIGKILL"];
  });
  container.child = child;
  return { status: 204 };
}

function refuse(status: number, message: string): Answer {
  return { status, body: { message } };
}

function publishedPorts({ body }: Made): readonly string[] {
  const { PortBindings = {} } = body["HostConfig"] as {
    PortBindings?: Readonly<Record<string, readonly { HostPort: string }[]>>;
  };
  return Object.values(PortBindings).flatMap((bindings) =>
    bindings.map(({ HostPort }) => HostPort),
  );
}
