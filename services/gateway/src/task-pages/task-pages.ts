/**
 * The hosts of tasks: `t12.localhost`, or `t12.DOMAIN`. The server behind a page may be hostile, so such a host reaches
 * its own task and nothing else, and requests to it are served here and nowhere else.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import type { Clock } from "@trainyard/kernel";
import { type Logger, problemHeaders, problemText } from "@trainyard/runtime";
import type { Target } from "@trainyard/tunnel";
import { clientOf } from "../http/access.ts";
import { asProblem } from "../http/as-problem.ts";
import { countedAs, type UserCaller } from "../http/caller.ts";
import { Problem } from "../http/problem.ts";
import { cameByHttps } from "../http/session-cookie.ts";
import type { OpenStreams } from "../http/open-streams.ts";
import { WrongCodes } from "../http/wrong-codes.ts";
import type { TrustedProxies } from "../rates/client-address.ts";
import { bytesIn, type UnreadStreams } from "../tunnels/unread-streams.ts";
import { KnownRuns } from "./known-runs.ts";
import { ownPath, sendOpenPage, sendSentence } from "./html.ts";
import { taskPageLimits } from "./limits.ts";
import { type Passing, passRequest, problemOfTask } from "./pass-request.ts";
import { passUpgrade } from "./pass-upgrade.ts";
import { isNavigation, refuseForeignRequest } from "./request-rules.ts";
import { cookieOf, secretOf } from "./task-cookie.ts";
import type { TaskCaller, TaskCallers } from "./task-callers.ts";
import type { TaskAddress } from "./task-host.ts";
import type { TaskSessions } from "./task-sessions.ts";
import { type OpenTunnel, TunnelAgent } from "./tunnel-agent.ts";

/** A run that serves pages. */
export type ServingRun = {
  readonly allocation: string;
  /** The end that the address stands for: the task's own page, or a declared port. */
  readonly target: Target;
  /** The secret by which the run's server knows the gateway. */
  readonly secret: string;
};

export type TaskPagesDeps = {
  readonly sessions: TaskSessions;
  readonly callers: TaskCallers;
  /** Returns the run behind an address. Throws a Problem if the person may not open it, or if none serves there. */
  readonly serving: (address: TaskAddress, caller: UserCaller) => Promise<ServingRun>;
  readonly open: OpenTunnel;
  readonly openStreams: Pick<OpenStreams, "open">;
  readonly unread: UnreadStreams;
  readonly proxies: TrustedProxies;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class TaskPages {
  readonly #deps: TaskPagesDeps;
  readonly #agent: TunnelAgent;
  /** For changes and upgrades, which nothing may send twice: a kept connection may be closed at that moment. */
  readonly #single: TunnelAgent;
  readonly #runs: KnownRuns;
  readonly #wrongCodes = new WrongCodes();

  constructor(deps: TaskPagesDeps) {
    this.#deps = deps;
    this.#agent = new TunnelAgent(deps.open, deps.clock, true);
    this.#single = new TunnelAgent(deps.open, deps.clock, false);
    this.#runs = new KnownRuns(deps.serving, deps.clock);
  }

  /** Answers a request to a task's host. Never rejects. */
  async answer(
    address: TaskAddress,
    asked: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    try {
      if (asked.url?.startsWith(ownPath)) return await this.#answerOwn(address, asked, response);
      const caller = await this.#admit(address, asked, false);
      const run = await this.#runs.of(address, caller);
      using _counted = this.#deps.openStreams.open(countedAs(caller.caller));
      using open = this.#deps.callers.opened(caller.digest);
      const passing = this.#passing(asked, run, open.signal);
      this.#deps.unread.watch(response, () => asked.readableLength + response.writableLength);
      await passRequest(asked, response, passing).catch((error: unknown) => {
        this.#runs.forget(caller.digest);
        throw problemOfTask(error, run.target);
      });
    } catch (error) {
      this.#refuse(error, asked, response);
    }
  }

  /** Passes an upgrade of a request to a task's host. Never rejects. */
  async upgrade(
    address: TaskAddress,
    asked: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    socket.on("error", () => socket.destroy());
    try {
      if (asked.method !== "GET" || asked.url?.startsWith(ownPath)) throw noUpgrade();
      const caller = await this.#admit(address, asked, true);
      const run = await this.#runs.of(address, caller);
      using _counted = this.#deps.openStreams.open(countedAs(caller.caller));
      using open = this.#deps.callers.opened(caller.digest);
      const passing = this.#passing(asked, run, open.signal);
      this.#deps.unread.watch(socket, () => bytesIn(socket));
      await passUpgrade(asked, socket, head, { ...passing, clock: this.#deps.clock }).catch(
        (error: unknown) => {
          this.#runs.forget(caller.digest);
          throw problemOfTask(error, run.target);
        },
      );
    } catch (error) {
      const problem = asProblem(error, this.#deps.logger, "");
      if (socket.writable) socket.end(`HTTP/1.1 ${problem.status} \r\nConnection: close\r\n\r\n`);
    }
  }

  async #admit(
    { task, port }: TaskAddress,
    asked: IncomingMessage,
    isUpgrade: boolean,
  ): Promise<TaskCaller> {
    const { method = "", headers } = asked;
    // A target with a host of its own would be ambiguous.
    if (!asked.url?.startsWith("/"))
      throw new Problem(400, "invalid_request", "the target must be a path");
    refuseForeignRequest({ method, headers, isUpgrade });
    const secret = secretOf(headers);
    if (secret !== null) return this.#deps.callers.of({ task, port }, secret);
    const detail = `open this page from the Web UI, or with "yard task open ${task}"`;
    throw new Problem(401, "no_session", detail);
  }

  async #answerOwn(
    { task, port }: TaskAddress,
    asked: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { method = "", url = "", headers } = asked;
    if (method === "GET" && url === `${ownPath}open`) return sendOpenPage(response);
    if (method !== "POST" || url !== `${ownPath}session`) {
      throw new Problem(404, "no_such_path", `nothing is served at ${method} ${url}`);
    }
    refuseForeignRequest({ method, headers, isUpgrade: false });
    const client = clientOf(asked, this.#deps);
    const secret = await this.#deps.sessions.redeem({ task, port }, await codeIn(asked));
    if (secret === null) {
      this.#wrongCodes.count(client);
      const detail = `This link was used before, or is older than ${taskPageLimits.codeSeconds} s: open the page again.`;
      throw new Problem(401, "invalid_code", detail);
    }
    response.writeHead(204, {
      "set-cookie": cookieOf(secret, headers),
      "cache-control": "no-store",
    });
    response.end();
  }

  #passing(asked: IncomingMessage, run: ServingRun, signal: AbortSignal): Passing {
    const { method, headers } = asked;
    const isRead = (method === "GET" || method === "HEAD") && headers.upgrade === undefined;
    return {
      ...run,
      unread: this.#deps.unread,
      agent: isRead ? this.#agent : this.#single,
      signal,
      scheme: cameByHttps(headers) ? "https" : "http",
    };
  }

  #refuse(error: unknown, asked: IncomingMessage, response: ServerResponse): void {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const problem = asProblem(error, this.#deps.logger, "");
    // The rest of a refused body is not read.
    if (!asked.complete) response.shouldKeepAlive = false;
    if (isNavigation(asked.headers)) return sendSentence(response, problem.status, problem.message);
    response.writeHead(problem.status, problemHeaders(problem));
    response.end(problemText(problem, asked.url ?? ""));
  }
}

async function codeIn(asked: IncomingMessage): Promise<string> {
  const bytes = Number(asked.headers["content-length"] ?? Number.NaN);
  if (bytes <= taskPageLimits.codeBodyBytesMax) return text(asked);
  throw new Problem(413, "body_too_large", "send the code, and nothing else");
}

function noUpgrade(): Problem {
  return new Problem(400, "no_upgrade", "nothing is upgraded here");
}
