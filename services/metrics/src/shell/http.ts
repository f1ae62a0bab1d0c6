/** The HTTP interface: report batches of runs, and the health of this process. */
import { codecOf, type Plain } from "@trainyard/contracts";
import { type WriteReportsResponse, WriteReportsResponseSchema } from "@trainyard/contracts/api";
import { assert, isFault } from "@trainyard/kernel";
import {
  answerHealth,
  type BodyBudget,
  type HealthChecks,
  type HeldBody,
  type HttpAddress,
  httpTimes,
  type Listening,
  type Logger,
  Problem,
  problemHeaders,
  problemText,
  type Registry,
  runtimeLimits,
} from "@trainyard/runtime";
import { type FastifyInstance, type FastifyRequest, fastify } from "fastify";
import { metricsLimits } from "../limits.ts";
import { type ReportRequests, type Reporter, requireRun, takeAll } from "./report-requests.ts";

export type HttpDeps = {
  readonly reportRequests: ReportRequests;
  readonly bodies: BodyBudget;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly health: HealthChecks;
};

type Admitted = Reporter & { readonly body: HeldBody };

type ReportsRoute = { readonly Params: { readonly run: string }; readonly Body: string };

const responseCodec = codecOf<Plain<WriteReportsResponse>>(WriteReportsResponseSchema);

export async function startHttpServer(deps: HttpDeps, address: HttpAddress): Promise<Listening> {
  const server = createHttpServer(deps);
  return {
    address: await server.listen(address),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function createHttpServer(deps: HttpDeps): FastifyInstance {
  const server = fastify({
    bodyLimit: metricsLimits.requestBytesMax,
    // A run's id has a dot and an encoded #, and is at most 64 characters long.
    routerOptions: { maxParamLength: 64 },
    requestTimeout: runtimeLimits.requestMs,
    forceCloseConnections: "idle",
  });
  server.addHook("onRequest", async (request) => {
    refuseBrowsers(request);
    // Unknown paths are refused before their body is read.
    if (request.is404) throw new Problem(404, "not_found", nothingAt(request.url));
  });
  const timed = httpTimes(deps.registry);
  server.addHook("onSend", async ({ method, routeOptions: { url } }, reply) => {
    timed({ method, route: url ?? "none" }, reply.elapsedTime);
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("application/json", { parseAs: "string" }, (_, body, done) =>
    done(null, body),
  );
  server.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error, deps.logger);
    const text = problemText(problem, request.url);
    return reply.code(problem.status).headers(problemHeaders(problem)).send(text);
  });
  server.setNotFoundHandler((request) => {
    throw new Problem(404, "not_found", nothingAt(request.url));
  });
  for (const path of ["/livez", "/readyz", "/metrics"]) {
    server.get(path, async (request, reply) => {
      reply.hijack();
      await answerHealth(request.url, reply.raw, deps.health, deps.registry);
    });
  }
  registerReports(server, deps);
  return server;
}

function registerReports(server: FastifyInstance, deps: HttpDeps): void {
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  server.post<ReportsRoute>(
    "/api/v1/runs/:run/reports",
    {
      // A caller without rights, or with one body too many, is refused before its body is read.
      onRequest: async (request, reply) => {
        const reporter = authorized(deps, request);
        const owner = { name: reporter.id, cut: () => void reply.raw.destroy() };
        const body = deps.bodies.take(request.headers, metricsLimits.requestBytesMax, owner);
        if (body === null) {
          const detail = "the bodies of other requests fill the memory for them; try again";
          throw new Problem(503, "busy", detail);
        }
        admitted.set(request, { ...reporter, body });
        reply.raw.once("close", () => body.closed());
      },
    },
    async (request, reply) => {
      const reporter = admitted.get(request);
      assert(reporter !== undefined, "a request is authorized before its body is read");
      const { traceparent } = request.headers;
      const run = typeof traceparent === "string" ? traceparent : "";
      const take = () => takeAll(deps.reportRequests, reporter, parseJson(request.body), run);
      const answer = await reporter.body.during(take);
      return reply.type("application/json").send(responseCodec.encode(answer));
    },
  );
}

const nothingAt = (url: string): string => `nothing is served at ${url}`;

/** Only browsers send an Origin header, and no page in a browser may send reports. */
function refuseBrowsers({ headers }: FastifyRequest): void {
  if (headers.origin === undefined) return;
  throw new Problem(403, "cross_origin", "calls from pages in a browser are refused");
}

function authorized({ reportRequests }: HttpDeps, request: FastifyRequest<ReportsRoute>): Reporter {
  const reporter = reportRequests.authorize(request.headers.authorization);
  requireRun(reporter, request.params.run);
  return reporter;
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    const detail = `the body is not valid JSON: ${error instanceof Error ? error.message : String(error)}`;
    const problems = [{ path: "", detail: "is not JSON" }];
    throw new Problem(400, "invalid_request", detail, { problems });
  }
}

/** The answers to errors that fastify raises before a handler runs. */
const refusals: Readonly<Record<string, readonly [status: number, code: string, detail: string]>> =
  {
    FST_ERR_CTP_BODY_TOO_LARGE: [
      413,
      "body_too_large",
      `a request takes ${metricsLimits.requestBytesMax} bytes`,
    ],
    FST_ERR_CTP_INVALID_MEDIA_TYPE: [
      415,
      "unsupported_media_type",
      "send the reports as application/json",
    ],
  };

export function problemOf(error: unknown, logger: Logger): Problem {
  if (error instanceof Problem) return error;
  const { code, statusCode } = error as { readonly code?: string; readonly statusCode?: number };
  const refusal = refusals[code ?? ""];
  if (refusal !== undefined) return new Problem(...refusal);
  if (isFault(error) && error.retry !== "never") {
    logger.warn({ err: error }, "reports_not_taken");
    return new Problem(503, "unavailable", error.message);
  }
  if (isFault(error) && error.code === "unstorable") {
    return new Problem(422, "unstorable", error.message);
  }
  if (statusCode !== undefined && statusCode < 500) {
    return new Problem(400, "invalid_request", (error as Error).message);
  }
  logger.error({ err: error }, "request_failed");
  return new Problem(500, "internal", "the service failed; its log has the details");
}
