/** Serves the routes of the descriptors: request message from path, query and body; answer as proto JSON. */
import { randomUUID } from "node:crypto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { codecOf, gatewayServices, type Route, routesOf } from "@trainyard/contracts";
import { deriveCommitId } from "@trainyard/event-log";
import { isFault } from "@trainyard/kernel";
import { childOf } from "@trainyard/runtime";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { gatewayLimits } from "../limits.ts";
import type { Caller } from "./caller.ts";
import { type Answer, type IdempotencyStore, idempotencyKeyPattern } from "./idempotency.ts";
import { Problem } from "./problem.ts";
import type { Handlers, RequestContext } from "./request-context.ts";
import { sendStream } from "./server-sent-events.ts";

export type RouterDeps = {
  readonly handlers: Handlers;
  readonly idempotency: IdempotencyStore;
  readonly authenticate: (authorization: string | undefined) => Promise<Caller>;
  readonly draining: AbortSignal;
};

export type Routing = RouterDeps & {
  /** A failure as the body of a problem (RFC 9457), for answers that are under way. */
  readonly problemText: (error: unknown, request: FastifyRequest) => string;
};

/** Routes that a run may call with its own token; all others are for people. */
const runRoutes: ReadonlySet<string> = new Set([
  "RunService.GetSignals",
  "CheckpointService.DeclareCheckpoint",
  "CheckpointService.CompleteCheckpoint",
  "CheckpointService.PlanDownload",
  "CheckpointService.GetCheckpoint",
]);

/** Open to whoever can reach the port: says nothing of what is stored. */
const openRoutes: ReadonlySet<string> = new Set(["ClusterService.GetVersion"]);

const nobody: Caller = { kind: "user", authid: "" };

export function registerRoutes(server: FastifyInstance, deps: Routing): void {
  for (const route of routesOf(gatewayServices)) {
    server.route({
      method: route.method,
      url: fastifyPath(route),
      bodyLimit:
        route.name === "CreateExperiment"
          ? gatewayLimits.createBodyBytesMax
          : gatewayLimits.bodyBytesMax,
      handler: (request, reply) => serve(route, deps, request, reply),
    });
  }
}

/** {experiment} → :experiment; a colon of the path's own is doubled. */
function fastifyPath(route: Route): string {
  return route.path.replaceAll(":", "::").replace(/\{(\w+)\}/g, ":$1");
}

async function serve(
  route: Route,
  deps: Routing,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const name = `${route.service}.${route.name}`;
  const caller = openRoutes.has(name)
    ? nobody
    : await deps.authenticate(request.headers.authorization);
  if (caller.kind === "run" && !runRoutes.has(name)) {
    throw new Problem(403, "not_for_runs", "a run's token does not allow this call");
  }
  const message = readMessage(route, request);
  const context = contextOf(caller, request, reply, deps.draining);
  if (route.streams) {
    const handler = deps.handlers.streams[name];
    if (handler === undefined) throw missing(name);
    const items = handler(message as never, context);
    const problemText = (error: unknown): string => deps.problemText(error, request);
    await sendStream(reply, route, items, { signal: context.signal, problemText });
    return;
  }
  if (route.raw) {
    const handler = deps.handlers.raw[name];
    if (handler === undefined) throw missing(name);
    const answer = await handler(message as never, context);
    await reply
      .header("content-disposition", `attachment; filename="${answer.fileName}"`)
      .type(answer.contentType)
      .send(answer.body);
    return;
  }
  const answer = await unary(route, name, deps, request, context, message);
  await reply.status(answer.status).type("application/json; charset=utf-8").send(answer.body);
}

async function unary(
  route: Route,
  name: string,
  deps: RouterDeps,
  request: FastifyRequest,
  context: RequestContext,
  message: unknown,
): Promise<Answer> {
  const handler = deps.handlers.unary[name];
  if (handler === undefined) throw missing(name);
  const attempt = async (): Promise<Answer> => {
    const answer = await handler(message as never, context);
    return { status: 200, body: JSON.stringify(codecOf<object>(route.reply).toFullJson(answer)) };
  };
  const key = request.headers["idempotency-key"];
  if (route.method === "GET" || key === undefined) return attempt();
  const body = JSON.stringify(request.body ?? null);
  const { method, url } = request;
  return deps.idempotency.once(context.caller.authid, String(key), { method, url, body }, attempt);
}

function missing(name: string): Problem {
  return new Problem(500, "internal", `${name} has no handler`);
}

function readMessage(route: Route, request: FastifyRequest): unknown {
  const body = route.hasBody ? readBody(request.body) : readQuery(request.query);
  const fields = { ...body, ...(request.params as JsonObject) };
  try {
    return codecOf<unknown>(route.request).fromJson(fields);
  } catch (error) {
    if (!isFault(error)) throw error;
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
    throw new Problem(400, "invalid_request", `${error.message}${cause}`);
  }
}

function readBody(body: unknown): JsonObject {
  if (body === undefined || body === null) return {};
  if (typeof body !== "object" || Array.isArray(body)) {
    throw new Problem(400, "invalid_request", "the body must be a JSON object");
  }
  return body as JsonObject;
}

/** Query parameters by either name; text that reads as true or false is one, numbers are left to the codec. */
function readQuery(query: unknown): JsonObject {
  const fields: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    const last = Array.isArray(value) ? (value.at(-1) ?? "") : value;
    fields[name] = last === "true" ? true : last === "false" ? false : last;
  }
  return fields;
}

function contextOf(
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
  draining: AbortSignal,
): RequestContext {
  const key = request.headers["idempotency-key"];
  if (key !== undefined && !idempotencyKeyPattern.test(String(key))) {
    throw new Problem(
      400,
      "invalid_idempotency_key",
      "an Idempotency-Key is 1 to 200 visible ASCII characters",
    );
  }
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  const { traceparent } = request.headers;
  return {
    caller,
    commitId:
      key === undefined
        ? randomUUID()
        : deriveCommitId(
            "idempotency",
            caller.authid,
            `${request.method} ${request.url}`,
            String(key),
          ),
    traceparent: childOf(typeof traceparent === "string" ? traceparent : ""),
    signal: AbortSignal.any([gone.signal, draining]),
    lastEventId: request.headers["last-event-id"] as string | undefined,
  };
}
