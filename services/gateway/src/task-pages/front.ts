/**
 * The HTTP server in front of everything: the host of a request decides whether the platform or the page of a task
 * answers it, before any route, hook or header of either counts.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import { problemHeaders, problemText, runtimeLimits } from "@trainyard/runtime";
import { Problem } from "../http/problem.ts";
import { asksForWebSocket } from "../http/upgrades.ts";
import { ownPath, sendSentence } from "./html.ts";
import { taskPageLimits } from "./limits.ts";
import { isNavigation } from "./request-rules.ts";
import { addressedBy } from "./task-host.ts";
import type { TaskPages } from "./task-pages.ts";

export type FrontDeps = {
  readonly taskPages: Pick<TaskPages, "answer" | "upgrade">;
  /** The domain of tasks' hosts beside localhost; null for none. */
  readonly taskDomain: string | null;
};

/** Returns the server. `answer` and `upgrade` serve the requests and the upgrades of the platform itself. */
export function frontServer(
  { taskPages, taskDomain }: FrontDeps,
  answer: RequestListener,
  upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
): Server {
  const options = {
    // The limit for a whole request holds only for the platform: an upload to a task may take hours.
    requestTimeout: 0,
    // Without this, the line above would also end the limit for headers, which come before any caller is known.
    headersTimeout: taskPageLimits.headersMs,
    // Another upgrade, such as curl's to h2c, is no reason to refuse a request: it is answered without.
    shouldUpgradeCallback: asksForWebSocket,
  };
  const server = createServer(options, (request, response) => {
    const addressed = addressOf(request, taskDomain);
    const isOurs = addressed.kind === "platform" || request.url?.startsWith(ownPath) === true;
    if (isOurs) limitTime(request, response);
    if (addressed.kind === "task") void taskPages.answer(addressed, request, response);
    else if (addressed.kind === "nothing") refuse(request, response, taskDomain);
    else answer(request, response);
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Node has taken its own listener away: an error without one, as of a client that resets, would end the gateway.
    socket.on("error", () => socket.destroy());
    const addressed = addressOf(request, taskDomain);
    if (addressed.kind === "task") void taskPages.upgrade(addressed, request, socket, head);
    else if (addressed.kind === "platform") upgrade(request, socket, head);
    else socket.end(`${refusedUpgrade}${whyRefused(taskDomain)}\n`);
  });
  return server;
}

function addressOf(request: IncomingMessage, domain: string | null) {
  const hosts = request.rawHeaders.filter((name, at) => at % 2 === 0 && /^host$/i.test(name));
  // A proxy may follow another one of two hosts than this server.
  return hosts.length > 1
    ? ({ kind: "nothing" } as const)
    : addressedBy(request.headers.host, domain);
}

const refusedUpgrade =
  "HTTP/1.1 421 Misdirected Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n";

/** Refuses a request for a host of nobody. A person may have meant the platform, which has none below the domain. */
function refuse(request: IncomingMessage, response: ServerResponse, domain: string | null): void {
  response.shouldKeepAlive = false;
  if (isNavigation(request.headers)) return sendSentence(response, 421, whyRefused(domain));
  const problem = new Problem(421, "no_such_host", whyRefused(domain));
  response.writeHead(problem.status, problemHeaders(problem));
  response.end(problemText(problem, request.url ?? ""));
}

function whyRefused(domain: string | null): string {
  return domain === null
    ? "no task has this address, and below localhost only pages of tasks are served"
    : `no task has this address, and the Web UI and the API need a host outside of the domain of tasks (TRAINYARD_TASK_DOMAIN is ${domain})`;
}

/** Ends a connection whose request has not arrived whole within the limit. */
function limitTime(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  const timer = setTimeout(() => {
    if (!response.headersSent) response.writeHead(408, { connection: "close" }).end();
    request.socket.destroySoon();
  }, runtimeLimits.requestMs);
  timer.unref();
  request.once("end", () => clearTimeout(timer));
  response.once("close", () => clearTimeout(timer));
}
