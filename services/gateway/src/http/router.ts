/**
 * Serves the routes of the descriptors. The request message is read from path, query and body; the answer is proto
 * JSON.
 */
import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import {
  type CallName,
  codecOf,
  type RawName,
  type ReplyOf,
  type RequestOf,
  type StreamName,
  type UnaryName,
} from "@trainyard/contracts";
import { BodyLimit, gatewayRoutes, type Route } from "@trainyard/contracts/routes";
import { type Clock, isFault } from "@trainyard/kernel";
import { noTracer, type Span, type Tracer } from "@trainyard/runtime";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Access, AccessDeps } from "./access.ts";
import { bodyConfigOf, ParsedBody } from "./bodies.ts";
import { type Caller, countedAs } from "./caller.ts";
import { etagOf } from "./etag.ts";
import { type Answer, type IdempotencyStore, idempotencyKeyPattern } from "./idempotency.ts";
import { httpLimits } from "./limits.ts";
import type { Costs } from "./costs.ts";
import type { OpenCalls } from "./open-calls.ts";
import { Problem } from "./problem.ts";
import { type Query, readQuery } from "./query.ts";
import type { Handlers, RequestContext } from "./request-context.ts";
import { selectFields } from "./selection.ts";
import { sendStream } from "./server-sent-events.ts";
import { cutWhenStalled } from "./stalled-download.ts";
import { cameByHttps, sessionCookie } from "./session-cookie.ts";

export type RouterDeps = AccessDeps & {
  readonly handlers: Handlers;
  readonly idempotency: IdempotencyStore;
  readonly draining: AbortSignal;
  readonly openCalls: OpenCalls;
  readonly costs: Costs;
  /** Waits until the read model has reached a position, before a call has its turn. */
  readonly reached: (position: string) => Promise<void>;
  readonly clock: Clock;
  readonly tracer?: Tracer;
};

export type Routing = RouterDeps & {
  /** Returns an error as the text of a problem (RFC 9457), for an answer that has begun. */
  readonly problemText: (error: unknown, request: FastifyRequest) => string;
};

export function registerRoutes(
  server: FastifyInstance,
  access: Access,
  deps: Routing,
  routes = gatewayRoutes(),
): void {
  for (const route of routes) {
    const bodyLimit = bodyBytesMaxOf(route);
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

function bodyBytesMaxOf({ facts }: Route): number {
  if (facts.bodyLimit === BodyLimit.LARGE) return httpLimits.createBodyBytesMax;
  if (facts.bodyLimit === BodyLimit.SMALL) return httpLimits.signInBodyBytesMax;
  return httpLimits.bodyBytesMax;
}

/** Converts {experiment} to :experiment; a colon in the path is doubled, and ends the value before it. */
function fastifyPath(route: Route): string {
  return route.path
    .replaceAll(":", "::")
    .replace(/\{(\w+)\}(?=:)/g, ":$1([^:/]+)")
    .replace(/\{(\w+)\}/g, ":$1");
}

async function serve(
  route: Route,
  deps: Routing,
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const span = spanOf(route, request, reply, deps);
  const asked: Asked = {
    fields: fieldsOf(route, request),
    route,
    request,
    reply,
    context: contextOf(caller, request, reply, span, deps),
  };
  switch (route.kind) {
    case "unary":
      return serveUnary(route.call, deps, asked);
    case "stream":
      return serveStream(route.call, deps, asked);
    case "raw":
      return serveRaw(route.call, deps, asked);
  }
}

/** A request with what its handler needs. */
type Asked = {
  /** The fields of the path and of the query or the body, as proto JSON. */
  readonly fields: JsonObject;
  readonly route: Pick<Route, "request" | "reply" | "facts">;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly context: RequestContext;
};

async function serveUnary<Name extends UnaryName>(
  name: Name,
  { handlers, idempotency, costs, reached }: RouterDeps,
  asked: Asked,
): Promise<void> {
  const { route, request, reply, context } = asked;
  const message = messageOf<Name>(asked);
  if ("minPosition" in message) await reached(String(message.minPosition));
  const attempt = async (commitId: string): Promise<Answer> => {
    const answer = await handlers.unary[name](message, { ...context, commitId });
    const json = codecOf<ReplyOf<Name>>(route.reply).toFullJson(answer);
    return {
      status: 200,
      body: JSON.stringify(selectFields(route.reply, json, fieldsAsked(message))),
    };
  };
  const { status, body } = await costs.during(route.facts.cost, context, () =>
    route.facts.ignoresKey
      ? attempt(context.commitId)
      : once(idempotency, request, context, attempt, route.facts.storesAnswer),
  );
  const etag = etagOf(route.reply, body);
  if (etag !== "") reply.header("etag", etag);
  await reply.status(status).type("application/json; charset=utf-8").send(body);
}

/** Returns the value of the request's `fields`; empty if it has none. */
function fieldsAsked(message: object): readonly string[] {
  return "fields" in message && Array.isArray(message.fields) ? (message.fields as string[]) : [];
}

/** Makes one effect per idempotency key, if the request has one, and returns the first answer if it is stored. */
function once(
  idempotency: IdempotencyStore,
  request: FastifyRequest,
  { caller, commitId }: RequestContext,
  attempt: (commitId: string) => Promise<Answer>,
  storesAnswer: boolean,
): Promise<Answer> {
  const key = request.headers["idempotency-key"];
  if (request.method === "GET" || key === undefined) return attempt(commitId);
  const owner = { caller: countedAs(caller), key: String(key) };
  const digest = bodyOf(request).digest(request);
  return idempotency.once(owner, digest, attempt, storesAnswer);
}

async function serveStream<Name extends StreamName>(
  name: Name,
  deps: Routing,
  asked: Asked,
): Promise<void> {
  const { route, request, reply, context } = asked;
  await deps.costs.during(route.facts.cost, context, async () => {
    using open = await deps.openCalls.open(context.caller);
    const signal = AbortSignal.any([context.signal, open.signal]);
    const items = deps.handlers.streams[name](messageOf<Name>(asked), { ...context, signal });
    const problemText = (error: unknown): string => deps.problemText(error, request);
    const codec = codecOf<ReplyOf<Name>>(route.reply);
    await sendStream(reply, codec, items, { clock: deps.clock, signal, problemText });
  });
}

async function serveRaw<Name extends RawName>(
  name: Name,
  { handlers, costs }: RouterDeps,
  asked: Asked,
): Promise<void> {
  const { route, context, reply } = asked;
  await costs.during(route.facts.cost, context, async () => {
    const answer = await handlers.raw[name](messageOf<Name>(asked), context);
    using _cut = cutWhenStalled(reply.raw, httpLimits.downloadStalledMs);
    await reply
      .header("content-disposition", `attachment; filename="${answer.fileName}"`)
      .type(answer.contentType)
      .send(answer.body);
  });
}

function fieldsOf(route: Route, request: FastifyRequest): JsonObject {
  const { query, params } = request as { readonly query: Query; readonly params: JsonObject };
  const given = route.hasBody
    ? readBody(bodyOf(request).json)
    : readQuery(route.request, query, route.pathFields);
  return { ...given, ...params };
}

function messageOf<Name extends CallName>({ fields, route, request }: Asked): RequestOf<Name> {
  try {
    const message = codecOf<RequestOf<Name>>(route.request).fromJson(fields);
    return { ...message, ...bodyOf(request).bytes };
  } catch (error) {
    if (!isFault(error)) throw error;
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
    throw new Problem(400, "invalid_request", `${error.message}${cause}`);
  }
}

/** Returns the parsed body; without a content type it is empty. */
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

/** Begins the span of a request, which ends with its answer. A caller's traceparent is continued if it is valid. */
function spanOf(
  { method, path }: Route,
  request: FastifyRequest,
  { raw }: FastifyReply,
  { tracer = noTracer }: RouterDeps,
): Span {
  const { traceparent } = request.headers;
  const attributes = { "http.request.method": method, "http.route": path };
  const caller = typeof traceparent === "string" ? traceparent : "";
  const span = tracer.begin(`${method} ${path}`, caller, { kind: "server", attributes });
  raw.once("close", () => {
    const { statusCode } = raw;
    const answered = { attributes: { "http.response.status_code": statusCode } };
    span.end(statusCode < 500 ? answered : { ...answered, error: statusCode });
  });
  return span;
}

function contextOf(
  caller: Caller,
  request: FastifyRequest,
  reply: FastifyReply,
  { traceparent }: Span,
  { draining, clusterId }: RouterDeps,
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
  return {
    caller,
    commitId: randomUUID(),
    traceparent,
    signal: AbortSignal.any([gone.signal, draining]),
    lastEventId: request.headers["last-event-id"] as string | undefined,
    ifMatch: request.headers["if-match"],
    address: request.ip,
    origin: `${cameByHttps(request.headers) ? "https" : "http"}://${request.headers.host ?? ""}`,
    cookie: sessionCookie(request, reply, clusterId()),
  };
}
