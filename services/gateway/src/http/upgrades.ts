/**
 * Requests that become WebSockets. Node hands them over by the event `upgrade`, past all hooks of Fastify, so what
 * these check is checked here by the same functions: path, origin, token and cookie. A refusal is a problem like every
 * other. Pages cannot read it, so a page whose caller is known gets an opened WebSocket that is closed with 4000 +
 * status.
 */
import { randomUUID } from "node:crypto";
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "@trainyard/kernel";
import { type Logger, type Problem, problemHeaders, problemText } from "@trainyard/runtime";
import { type LinkOptions, type WebSocket, WebSocketDoor } from "@trainyard/tunnel";
import type { Telemetry } from "../telemetry.ts";
import type { Access } from "./access.ts";
import { asProblem } from "./as-problem.ts";
import type { Caller } from "./caller.ts";
import { notFoundAt } from "./problem.ts";

export type Upgrade = {
  readonly request: IncomingMessage;
  /** The groups of the route's path, decoded. */
  readonly parameters: readonly string[];
  /** Returns the caller. Throws a Problem if there is none, or if a page of another origin asks. */
  readonly caller: () => Promise<Caller>;
  /** Aborts when the client leaves, or the gateway drains. */
  readonly gone: AbortSignal;
  /** Answers with 101 and calls back with the stream. */
  readonly accept: (
    options: Omit<LinkOptions, "clock">,
    opened: (stream: Duplex, webSocket: WebSocket) => void,
  ) => void;
};

export type UpgradeRoute = {
  /** The name in metrics. */
  readonly name: string;
  readonly path: RegExp;
  /** Accepts the upgrade, or throws a Problem. */
  readonly serve: (upgrade: Upgrade) => Promise<void>;
};

export type UpgradesDeps = {
  readonly upgrades: readonly UpgradeRoute[];
  readonly draining: AbortSignal;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
};

/** The most bytes of the reason in a close frame. */
const reasonBytesMax = 123;

export const asksForWebSocket = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === "websocket";

export class Upgrades {
  readonly #access: Access;
  readonly #deps: UpgradesDeps;
  readonly #door = new WebSocketDoor();

  constructor(access: Access, deps: UpgradesDeps) {
    this.#access = access;
    this.#deps = deps;
  }

  /** Answers an upgrade. Never rejects. */
  async answer(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const gone = new AbortController();
    socket.on("error", () => {});
    socket.once("close", () => gone.abort());
    // The server does not close what it has handed over.
    const drain = (): void => void socket.destroy();
    this.#deps.draining.addEventListener("abort", drain);
    socket.once("close", () => this.#deps.draining.removeEventListener("abort", drain));
    if (this.#deps.draining.aborted) return drain();
    let knows = false;
    const count = (name: string, status: number): void =>
      this.#deps.telemetry.answered({ method: "UPGRADE", route: name, status });
    let name = "none";
    try {
      const { route, parameters } = this.#route(request);
      name = route.name;
      await route.serve({
        request,
        parameters,
        gone: gone.signal,
        caller: async () => {
          const caller = await this.#access.callerOfUpgrade(request);
          knows = true;
          return caller;
        },
        accept: (options, opened) => {
          count(name, 101);
          const { clock } = this.#deps;
          this.#door.accept(request, socket, head, { ...options, clock }, opened);
        },
      });
    } catch (error) {
      if (gone.signal.aborted) return;
      const problem = asProblem(error, this.#deps.logger, randomUUID());
      count(name, problem.status);
      if (knows && request.headers.origin !== undefined) {
        this.#closeAtOnce(request, socket, head, problem);
      } else refuse(request, socket, problem);
    }
  }

  #route(request: IncomingMessage): { route: UpgradeRoute; parameters: readonly string[] } {
    const [path = ""] = (request.url ?? "").split("?");
    for (const route of this.#deps.upgrades) {
      const match = route.path.exec(path);
      const parameters = match === null ? null : decoded(match.slice(1));
      if (parameters !== null) return { route, parameters };
    }
    throw notFoundAt("a WebSocket", path);
  }

  #closeAtOnce(request: IncomingMessage, socket: Duplex, head: Buffer, problem: Problem): void {
    const { clock } = this.#deps;
    this.#door.accept(request, socket, head, { clock }, (_stream, webSocket) => {
      const reason = Buffer.from(`${problem.code}: ${problem.message}`);
      const whole = reason
        .subarray(0, reasonBytesMax)
        .toString()
        .replace(/\uFFFD$/, "");
      webSocket.close(4000 + problem.status, whole);
    });
  }
}

function decoded(parts: readonly (string | undefined)[]): readonly string[] | null {
  try {
    return parts.map((part) => decodeURIComponent(part ?? ""));
  } catch {
    return null;
  }
}

function refuse(request: IncomingMessage, socket: Duplex, problem: Problem): void {
  const text = problemText(problem, request.url ?? "");
  const headers = {
    ...problemHeaders(problem),
    "content-length": String(Buffer.byteLength(text)),
    "cache-control": "no-store",
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const status = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ""}\r\n`;
  socket.end(`${status}${lines.join("")}\r\n${text}`);
}
