import { Bug, isFault } from "@trainyard/kernel";
import { answerHealth, type HealthChecks, type Logger, type Registry } from "@trainyard/runtime";
import fastify, { type FastifyInstance } from "fastify";
import { openApi } from "./openapi.ts";
import { Problem, problemBody } from "./problem.ts";
import { type RouterDeps, registerRoutes } from "./router.ts";
import { statusPage } from "./status-page.ts";

export type ServerDeps = RouterDeps & {
  readonly logger: Logger;
  readonly registry: Registry;
  readonly health: HealthChecks;
  readonly position: () => number;
};

/** The gateway's HTTP server with all its routes, not yet listening. */
export function createHttpServer(deps: ServerDeps): FastifyInstance {
  const server = fastify({
    logger: false,
    routerOptions: { maxParamLength: 200 },
    // A stream may stay open; everything else is answered quickly.
    requestTimeout: 120_000,
    forceCloseConnections: true,
  });
  server.addHook("onRequest", async (request) => {
    refuseCrossOrigin(request.headers.origin, request.headers.host);
  });
  acceptEmptyBodies(server);
  server.setErrorHandler((error, request, reply) => {
    const problem = asProblem(error, deps.logger, request.id);
    if (problem.retryAfterSeconds !== null) reply.header("retry-after", problem.retryAfterSeconds);
    if (problem.status === 401) reply.header("www-authenticate", 'Bearer realm="trainyard"');
    return reply
      .status(problem.status)
      .type("application/problem+json; charset=utf-8")
      .send(JSON.stringify(problemBody(problem, request.url)));
  });
  server.setNotFoundHandler((request) => {
    throw new Problem(404, "no_such_path", `nothing is served at ${request.method} ${request.url}`);
  });
  registerPages(server, deps);
  registerRoutes(server, deps);
  return server;
}

function registerPages(server: FastifyInstance, deps: ServerDeps): void {
  const description = JSON.stringify(openApi());
  server.get("/", (_request, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'")
      .send(statusPage({ position: deps.position(), reason: deps.health.readiness() })),
  );
  server.get("/api/v1/openapi.json", (_request, reply) =>
    reply.type("application/json; charset=utf-8").send(description),
  );
  for (const path of ["/livez", "/readyz", "/metrics"]) {
    server.get(path, async (_request, reply) => {
      reply.hijack();
      await answerHealth(path, reply.raw, deps.health, deps.registry);
    });
  }
}

/** A command without fields may come without a body, whatever its content type says. */
function acceptEmptyBodies(server: FastifyInstance): void {
  server.removeContentTypeParser("application/json");
  server.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
    if (body.length === 0) {
      done(null, null);
      return;
    }
    try {
      done(null, JSON.parse(body.toString("utf8")));
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      done(new Problem(400, "invalid_request", `the body is not JSON: ${detail}`));
    }
  });
}

/** A browser says where a page came from; only this server's own pages may call it. */
function refuseCrossOrigin(origin: string | undefined, host: string | undefined): void {
  if (origin === undefined) return;
  let from = "";
  try {
    from = new URL(origin).host;
  } catch {
    // "null", for a page without an origin: refused below.
  }
  if (from === "" || from !== host) {
    throw new Problem(403, "cross_origin", "calls from pages of another origin are refused");
  }
}

function asProblem(error: unknown, logger: Logger, requestId: string): Problem {
  if (error instanceof Problem) return error;
  if (isFault(error) && error.retry !== "never") {
    logger.warn({ err: error, requestId }, "request_unavailable");
    return new Problem(
      503,
      "unavailable",
      `the platform cannot answer now (${error.code}); try again`,
    );
  }
  const { code, statusCode } = error as { readonly code?: string; readonly statusCode?: number };
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new Problem(413, "body_too_large", "the request is larger than this call allows");
  }
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return new Problem(415, "not_json", "send the body as application/json");
  }
  if (isDatabaseAway(error)) {
    logger.warn({ err: error, requestId }, "database_unreachable");
    return new Problem(503, "unavailable", "the database does not answer now; try again");
  }
  if (
    statusCode !== undefined &&
    statusCode >= 400 &&
    statusCode < 500 &&
    !(error instanceof Bug)
  ) {
    return new Problem(statusCode, "invalid_request", (error as Error).message);
  }
  logger.error({ err: error, requestId }, "request_failed");
  return new Problem(
    500,
    "internal",
    `the gateway met a fault of its own; its log has request ${requestId}`,
  );
}

/** Connection refused, reset or ended by an administrator: SQLSTATE classes 08 and 57P, and the socket's own codes. */
function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  return (
    /^(08...|57P..|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOENT)$/.test(code) ||
    /Connection terminated|timeout exceeded when trying to connect/.test(error.message)
  );
}
