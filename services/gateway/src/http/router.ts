/** Serves the routes of the descriptors: request message from path, query and body; answer as proto JSON. */
import { randomUUID } from "node:crypto";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { codecOf, gatewayServices, type Route, routesOf } from "@trainyard/contracts";
import { isFault } from "@trainyard/kernel";
import { childOf } from "@trainyard/runtime";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { gatewayLimits } from "../limits.ts";
import { Access, type AccessDeps } from "./access.ts";
import { bodyConfigOf, ParsedBody } from "./bodies.ts";
import type { Caller } from "./caller.ts";
import { type Answer, type IdempotencyStore, idempotencyKeyPattern } from "./idempotency.ts";
import { Problem } from "./problem.ts";
import type { Handlers, RequestContext } from "./request-context.ts";
import { sendStream } from "./server-sent-events.ts";

export type RouterDeps = AccessDeps & {
  readonly handlers: Handlers;
  readonly idempotency: IdempotencyStore;
  readonly draining: AbortSignal;
};

export type Routing = RouterDeps & {
  /** A failure as the body of a problem (RFC 9457), for answers that are under way. */
  readonly problemText: (error: unknown, request: FastifyRequest) => string;
};

export function registerRoutes(server: FastifyInstance, deps: Routing): void {
  const access = new Access(deps);
  for (const route of routesOf(gatewayServices)) {
    const bodyLimit =
      route.name === "CreateExperiment"
        ? gatewayLimits.createBodyBytesMax
        : gatewayLimits.bodyBytesMax;
    server.route({
      method: route.method,
      url: fastifyPath(route),
      bodyLimit,
      config: bodyConfigOf(route),
      onRequest: (request, reply) => access.admit(route, bodyLimit, request, reply),
      handler: (request, reply) => {
        const { caller, body } = access.of(request);
        return body.during(() => serve(route, deps, caller, request, reply));
      },
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
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const name = `${route.service}.${route.name}`;
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
  const attempt = async (commitId: string): Promise<Answer> => {
    const answer = await handler(message as never, { ...context, commitId });
    return { status: 200, body: JSON.stringify(codecOf<object>(route.reply).toFullJson(answer)) };
  };
  const key = request.headers["idempotency-key"];
  if (route.method === "GET" || key === undefined) return attempt(context.commitId);
  const owner = { authid: context.caller.authid, key: String(key) };
  const { method, url } = request;
  const digest = bodyOf(request).digest(request);
  return deps.idempotency.once(owner, { method, url, digest }, attempt);
}

function missing(name: string): Problem {
  return new Problem(500, "internal", `${name} has no handler`);
}

function readMessage(route: Route, request: FastifyRequest): unknown {
  const { json, bytes } = bodyOf(request);
  const body = route.hasBody ? readBody(json) : readQuery(request.query);
  const fields = { ...body, ...(request.params as JsonObject) };
  try {
    const message = codecOf<object>(route.request).fromJson(fields);
    return { ...message, ...bytes };
  } catch (error) {
    if (!isFault(error)) throw error;
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
    throw new Problem(400, "invalid_request", `${error.message}${cause}`);
  }
}

/** Without a content type there is no body. */
function bodyOf({ body }: FastifyRequest): ParsedBody {
  return body instanceof ParsedBody ? body : new ParsedBody(null, {}, null);
}

function readBody(body: unknown): JsonObject {
  if (body === null) return {};
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
  if (reply.raw.destroyed) gone.abort();
  else reply.raw.once("close", () => gone.abort());
  const { traceparent } = request.headers;
  return {
    caller,
    commitId: randomUUID(),
    traceparent: childOf(typeof traceparent === "string" ? traceparent : ""),
    signal: AbortSignal.any([gone.signal, draining]),
    lastEventId: request.headers["last-event-id"] as string | undefined,
  };
}
