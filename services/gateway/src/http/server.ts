import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { Duplex } from "node:stream";
import fastifyCookie from "@fastify/cookie";
import {
  answerHealth,
  type HealthChecks,
  type HttpAddress,
  type Listening,
  type Logger,
  Problem,
  problemHeaders,
  problemText,
  type Registry,
  requestIdOf,
} from "@trainyard/runtime";
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import type { Telemetry } from "../telemetry.ts";
import { Access } from "./access.ts";
import { serveApiDocuments } from "./api-documents.ts";
import { asProblem } from "./as-problem.ts";
import { acceptJson } from "./bodies.ts";
import { httpLimits } from "./limits.ts";
import { refuseCrossOrigin } from "./origin.ts";
import { type RouterDeps, registerRoutes } from "./router.ts";
import { cutStalledAnswers } from "./stalled-answers.ts";
import { statusPage } from "./status-page.ts";
import { type UpgradeRoute, Upgrades } from "./upgrades.ts";
import type { WebPages } from "./web-pages.ts";

type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export type ServerDeps = RouterDeps & {
  readonly logger: Logger;
  readonly registry: Registry;
  readonly telemetry: Telemetry;
  readonly health: HealthChecks;
  readonly position: () => number;
  readonly webPages: WebPages;
  /** Registers the routes of identity providers. */
  readonly signIns: (server: FastifyInstance) => void;
  /** Returns the server in front, which hands the requests and upgrades of the platform on. */
  readonly front: (answer: RequestListener, upgrade: UpgradeListener) => Server;
  /** The upgrades of the platform. `serve` serves HTTP on a connection, as on one that a browser opened. */
  readonly upgrades: (serve: (connection: Duplex) => void) => readonly UpgradeRoute[];
};

/** Starts the gateway's HTTP server with all its routes. */
export async function startHttpServer(deps: ServerDeps, address: HttpAddress): Promise<Listening> {
  const server = createHttpServer(deps);
  return {
    address: await server.listen(address),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function createHttpServer(deps: ServerDeps): FastifyInstance {
  const server = fastify({
    logger: false,
    routerOptions: { maxParamLength: httpLimits.pathPartCharactersMax },
    forceCloseConnections: true,
    genReqId: ({ headers }) => requestIdOf(headers["x-request-id"]),
    serverFactory: (answer) => deps.front(answer, (...asked) => void upgrades.answer(...asked)),
  });
  server.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
    // Without this header a proxy could cache answers to a cookie. Files of the Web UI replace it.
    reply.header("cache-control", "no-store").header("x-content-type-options", "nosniff");
    // A link on any site may open a page, since the page has no data before it makes calls.
    if (request.is404) await deps.webPages.look();
    if (request.is404 && deps.webPages.serve(request, reply)) return reply;
    refuseCrossOrigin(request.headers);
    // An unknown path is refused before the body is read.
    if (request.is404) throw nothingAt(request);
  });
  server.addHook("onSend", async ({ method, routeOptions: { url } }, reply) => {
    deps.telemetry.timed({ method, route: url ?? "none" }, reply.elapsedTime);
  });
  server.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "none";
    deps.telemetry.answered({ method: request.method, route, status: reply.statusCode });
  });
  cutStalledAnswers(server);
  server.register(fastifyCookie);
  const access = new Access(deps);
  acceptJson(server, access);
  server.setErrorHandler((error, request, reply) => {
    const problem = asProblem(error, deps.logger, request.id);
    const text = problemText(problem, request.url);
    return reply.status(problem.status).headers(problemHeaders(problem)).send(text);
  });
  server.setNotFoundHandler((request) => {
    throw nothingAt(request);
  });
  registerPages(server, deps);
  deps.signIns(server);
  const serve = (connection: Duplex): void => void server.server.emit("connection", connection);
  const upgrades = new Upgrades(access, { ...deps, upgrades: deps.upgrades(serve) });
  registerRoutes(server, access, {
    ...deps,
    problemText: (error, request) =>
      problemText(asProblem(error, deps.logger, request.id), request.url),
  });
  return server;
}

function nothingAt({ method, url }: FastifyRequest): Problem {
  return new Problem(404, "no_such_path", `nothing is served at ${method} ${url}`);
}

function registerPages(server: FastifyInstance, deps: ServerDeps): void {
  server.get("/", async (request, reply) => {
    await deps.webPages.look();
    if (deps.webPages.serve(request, reply)) return reply;
    return reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")
      .send(
        statusPage({
          position: deps.position(),
          reason: deps.health.readiness() ?? deps.unreadable(),
        }),
      );
  });
  serveApiDocuments(server);
  for (const path of ["/livez", "/readyz", "/metrics"]) {
    server.get(path, async (_request, reply) => {
      reply.hijack();
      await answerHealth(path, reply.raw, deps.health, deps.registry);
    });
  }
}
