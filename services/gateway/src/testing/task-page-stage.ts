/**
 * The front of a gateway over real sockets: a platform that says "platform", and tasks whose ports are servers here.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import type { Target } from "@trainyard/tunnel";
import type { TokenDocument } from "../read-model/core/views/documents.ts";
import { digestOfSecret } from "../http/caller.ts";
import { Problem } from "../http/problem.ts";
import { OpenStreams } from "../http/open-streams.ts";
import { frontServer } from "../task-pages/front.ts";
import { TaskCallers } from "../task-pages/task-callers.ts";
import { TaskPages } from "../task-pages/task-pages.ts";
import type { OpenTunnel } from "../task-pages/tunnel-agent.ts";
import type { Asker, TaskPlace, TaskSession, TaskSessions } from "../task-pages/task-sessions.ts";
import { TrustedProxies } from "../rates/client-address.ts";
import { UnreadStreams } from "../tunnels/unread-streams.ts";

/** Sessions of tasks in memory. `closed` has the digests of sessions of the Web UI that have ended. */
class MemorySessions {
  readonly #codes = new Map<string, TaskPlace & Asker>();
  readonly #sessions = new Map<string, TaskPlace & TaskSession>();
  readonly closed = new Set<string>();
  isAway = false;

  async newCode(place: TaskPlace, asker: Asker) {
    const code = randomBytes(32).toString("base64url");
    this.#codes.set(code, { ...place, ...asker });
    return { code, expiresAtMs: 0 };
  }

  async redeem({ task, port }: TaskPlace, code: string): Promise<string | null> {
    const known = this.#codes.get(code);
    if (known === undefined || known.task !== task || known.port !== port) return null;
    this.#codes.delete(code);
    const secret = randomBytes(32).toString("base64url");
    const digest = digestOfSecret(secret);
    this.#sessions.set(digest, { ...known, digest, user: "", sessionEndsAtMs: null });
    return secret;
  }

  async find({ task, port }: TaskPlace, secret: string): Promise<TaskSession | null> {
    this.#require();
    const digest = digestOfSecret(secret);
    const known = this.#sessions.get(digest);
    return known?.task === task && known.port === port && this.#isOpen(known) ? known : null;
  }

  async alive(digests: readonly string[]): Promise<ReadonlyMap<string, TaskSession>> {
    this.#require();
    return new Map(
      digests.flatMap((digest) => {
        const known = this.#sessions.get(digest);
        return known !== undefined && this.#isOpen(known) ? [[digest, known] as const] : [];
      }),
    );
  }

  async touch(): Promise<void> {}

  #isOpen({ session }: TaskSession): boolean {
    return session === null || !this.closed.has(session);
  }

  #require(): void {
    if (this.isAway) throw new Problem(503, "unavailable", "the database does not answer now");
  }
}

type Listeners = [...answering: Tail<Parameters<typeof frontServer>>];
type Tail<List extends readonly unknown[]> = List extends readonly [unknown, ...infer Rest]
  ? Rest
  : never;

/** The network whose proxies are trusted; connections come from 127.0.0.1. */
const proxies = new TrustedProxies("127.0.0.0/8");

/** The most requests of one caller at once. */
export const pagesOfOneMax = 30;

export type TaskPageStage = AsyncDisposable & {
  readonly port: number;
  readonly sessions: MemorySessions;
  /** Tokens by id; a removed one is unknown. */
  readonly tokens: Map<string, TokenDocument>;
  /** Serves a port of a task; 0 is its own page. */
  readonly serve: (task: string, port: number, answer: RequestListener) => Promise<Server>;
  readonly taskPages: TaskPages;
  /** The clock of the limits for connections to the servers of tasks. */
  readonly pagesClock: ManualClock;
  /** The requests that reached the platform, by method and address. */
  readonly platform: string[];
  /** Returns the cookie of a new session with the host of a task. */
  readonly cookie: (task: string, port?: number, session?: string | null) => Promise<string>;
};

export async function startTaskPages(domain: string | null = null): Promise<TaskPageStage> {
  const stack = new AsyncDisposableStack();
  const sessions = new MemorySessions();
  const token = { id: "a1", owner: "ada", label: "", revoked: false, ancestors: [] };
  const tokens = new Map([["a1", token as unknown as TokenDocument]]);
  const ports = new Map<string, number>();
  const logger = createLogger("gateway", "silent");
  const callers = new TaskCallers({
    sessions,
    token: async (id) => tokens.get(id),
    requireEnabled: async () => {},
    mayOpen: async () => {},
    clock: systemClock,
    logger,
  });
  const pagesClock = new ManualClock();
  const taskPages = new TaskPages({
    sessions: sessions as unknown as TaskSessions,
    callers,
    serving: async ({ task, port }) => ({
      allocation: `${task}#1`,
      target: targetOf(task, port),
      secret: `secret of ${task}`,
    }),
    open: tunnelTo(ports),
    clock: pagesClock,
    unread: new UnreadStreams(systemClock, logger),
    openStreams: new OpenStreams({ ofOneMax: pagesOfOneMax, ofAllMax: 1_000 }),
    proxies,
    logger,
  });
  const platform: string[] = [];
  const front = frontServer({ taskPages, taskDomain: domain }, ...platformOf(platform));
  const ended = new AbortController();
  stack.defer(() => ended.abort());
  const checking = callers.run(ended.signal);
  const listen = async (server: Server): Promise<number> => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stack.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  stack.defer(async () => {
    ended.abort();
    await checking;
  });
  return {
    port: await listen(front),
    sessions,
    tokens,
    taskPages,
    platform,
    pagesClock,
    serve: async (task, port, answer) => {
      const server = createServer(answer);
      ports.set(`${task}#1:${port}`, await listen(server));
      return server;
    },
    cookie: async (task, port = 0, session = null) => {
      const { code } = await sessions.newCode({ task, port }, { token: "a1", session });
      return `trainyard_task=${await sessions.redeem({ task, port }, code)}`;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The task t9 has a page of its own, and others have that of their port 8080. */
function targetOf(task: string, port: number): Target {
  if (port === 0 && task === "t9") return { kind: "page" };
  return { kind: "port", port: port === 0 ? 8080 : port };
}

/** Returns a tunnel to servers of this process, by `<run>:<port>`. */
function tunnelTo(ports: ReadonlyMap<string, number>): OpenTunnel {
  return async (allocation, target): Promise<Duplex> => {
    const name = `${allocation}:${target.kind === "port" ? target.port : 0}`;
    const socket = connect(ports.get(name) ?? 1, "127.0.0.1");
    await once(socket, "connect");
    return socket;
  };
}

/** Returns a platform that writes down what reaches it. */
function platformOf(reached: string[]): Listeners {
  return [
    (request, response) => {
      reached.push(`${request.method} ${request.url}`);
      request.resume();
      response.setHeader("set-cookie", "trainyard_0a=session").end("platform");
    },
    (request, socket) => {
      reached.push(`upgrade ${request.url}`);
      socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n");
    },
  ];
}
