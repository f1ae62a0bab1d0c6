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
import { type Access, type AccessDeps, clientOf } from "./access.ts";
import { bodyConfigOf, ParsedBody } from "./bodies.ts";
import type { Caller } from "./caller.ts";
import { etagOf } from "./etag.ts";
import { httpLimits } from "./limits.ts";
import {
  type Call,
  type CallContext,
  type CallDeps,
  callUnary,
  jsonOf,
  openDownload,
  openStream,
  requireKeyForm,
} from "./make-call.ts";
import { Problem } from "./problem.ts";
import { type Query, readQuery } from "./query.ts";
import { sendStream } from "./server-sent-events.ts";
import { cameByHttps, sessionCookie } from "./session-cookie.ts";

export type RouterDeps = AccessDeps &
  CallDeps & {
    readonly draining: AbortSignal;
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
  readonly route: Pick<Route, "method" | "request" | "reply" | "facts">;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly context: CallContext;
};

function callOf<Name extends CallName>(asked: Asked): Call<Name> {
  const { route, request, context } = asked;
  const text = keyOf(request);
  const key = { text, digest: () => bodyOf(request).digest(request) };
  return { route, message: messageOf<Name>(asked), context, key };
}

async function serveUnary<Name extends UnaryName>(
  name: Name,
  deps: RouterDeps,
  asked: Asked,
): Promise<void> {
  const { route, reply } = asked;
  const call = callOf<Name>(asked);
  const answer = await callUnary(name, deps, call);
  const body = answer.json ?? jsonOf(route.reply, answer.message, call.message);
  const etag = etagOf(route.reply, body);
  if (etag !== "") reply.header("etag", etag);
  await reply.status(200).type("application/json; charset=utf-8").send(body);
}

async function serveStream<Name extends StreamName>(
  name: Name,
  deps: Routing,
  asked: Asked,
): Promise<void> {
  const { route, request, reply } = asked;
  using stream = await openStream(name, deps, callOf<Name>(asked));
  const problemText = (error: unknown): string => deps.problemText(error, request);
  const codec = codecOf<ReplyOf<Name>>(route.reply);
  const { items, signal } = stream;
  await sendStream(reply, codec, items, { clock: deps.clock, signal, problemText });
}

async function serveRaw<Name extends RawName>(
  name: Name,
  deps: RouterDeps,
  asked: Asked,
): Promise<void> {
  const { reply } = asked;
  using download = await openDownload(name, deps, callOf<Name>(asked));
  const { answer } = download;
  await reply
    .header("content-disposition", `attachment; filename="${answer.fileName}"`)
    .type(answer.contentType)
    .send(answer.body);
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

function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers["idempotency-key"];
  return key === undefined ? undefined : String(key);
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
  deps: RouterDeps,
): CallContext {
  const { draining, clusterId } = deps;
  requireKeyForm(keyOf(request));
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
    address: clientOf(request.raw, deps),
    origin: `${cameByHttps(request.headers) ? "https" : "http"}://${request.headers.host ?? ""}`,
    cookie: sessionCookie(request, reply, clusterId()),
  };
}
