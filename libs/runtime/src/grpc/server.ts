/**
 * A gRPC server for the services in proto/, with health (grpc.health.v1) and reflection. The caller is checked before a
 * message is read. A stream is read and written only as fast as the other side, so no messages accumulate.
 */
import type { Writable } from "node:stream";
import { type DescFile, type DescMethod, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type StatusObject,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import { assert } from "@trainyard/kernel";
import { ReflectionService } from "@grpc/reflection";
import { HealthImplementation } from "grpc-health-check";
import { runtimeLimits } from "../limits.ts";
import { grpcTimes } from "../telemetry/request-metrics.ts";
import { type BodyBudget, HeldBody } from "../service/body-budget.ts";
import type { HttpAddress, Listening } from "../service/health-server.ts";
import type { Registry } from "../service/telemetry.ts";
import { untilDrained } from "../service/until-drained.ts";
import { Problem } from "../problem.ts";
import { type Admitted, admission, textOf } from "./admission.ts";
import type { Arrivals } from "./arrivals.ts";
import { during, noTracer, type Span, type Tracer } from "../tracing/tracer.ts";
import {
  type GrpcContext,
  type GrpcMethod,
  type GrpcProblem,
  type GrpcService,
  serviceDefinition,
} from "./service.ts";
import { requestIdKey, statusOf } from "./status.ts";
import { timedCalls } from "./timed-calls.ts";

/** The metadata and the connection of a call, which identify its caller. */
export type GrpcHead = {
  readonly authorization: string | undefined;
  /** The address of the connection, which may be that of a proxy. */
  readonly peer: string;
  /** The metadata `x-forwarded-for`. */
  readonly forwardedFor: string | undefined;
};

export type GrpcServerDeps<Caller> = {
  readonly services: readonly GrpcService<Caller>[];
  /** Returns the caller, or throws the problem if it may not call the method, for example `queryMetrics`. */
  readonly admit: (method: string, asked: GrpcHead) => Promise<Caller>;
  /**
   * Counts a call, from its metadata on, until it is handled or cancelled. Throws the problem if there are too many.
   * Default: calls are not counted.
   */
  readonly enter?: (method: string, caller: Caller) => HeldBody;
  /** Converts a failure to an answer. What only operators may see is logged with the id of the request. */
  readonly problemOf: (error: unknown, requestId: string) => GrpcProblem;
  /** Returns null when ready, otherwise the reason. */
  readonly readiness: () => string | null;
  readonly draining: AbortSignal;
  /** Begins a span for each call. Default: calls are no spans. */
  readonly tracer?: Tracer;
  /** Gets the durations of calls. */
  readonly registry: Registry;
  /** The memory of messages, by the name of their caller, from their first byte until the handler has them. */
  readonly bodies: BodyBudget;
  readonly nameOf: (caller: Caller) => string;
  /** The largest size of one message. */
  readonly messageBytesMax: number;
  /** A client of a stream that does not read for this long is cut off. Default: `runtimeLimits.grpcSlowMs`. */
  readonly slowMs?: number;
  /** The time in which a client reads the end of its answer. Default: `runtimeLimits.answerStalledMs`. */
  readonly stalledMs?: number;
  /** The time in which a message arrives. Default: `runtimeLimits.requestMs`. */
  readonly requestMs?: number;
  /** The time after which a stream of requests ends that has none. Default: `runtimeLimits.grpcIdleMs`. */
  readonly idleMs?: number;
};

/** Starts the server; rejects if the address is in use. */
export async function startGrpcServer<Caller>(
  deps: GrpcServerDeps<Caller>,
  { host, port }: HttpAddress,
): Promise<Listening> {
  const admitted = new WeakMap<Metadata, Admitted<Caller>>();
  const server = new Server({
    "grpc.max_receive_message_length": deps.messageBytesMax,
    "grpc.max_concurrent_streams": runtimeLimits.grpcStreamsPerConnection,
    "grpc.keepalive_time_ms": runtimeLimits.grpcKeepAliveMs,
    interceptors: [timedCalls(grpcTimes(deps.registry)), admission(deps, admitted)],
  });
  for (const service of deps.services) {
    const handlers: Record<string, UntypedHandleCall> = {};
    for (const method of service.methods) {
      handlers[method.desc.localName] = handlerOf(method, deps, admitted);
    }
    server.addService(serviceDefinition(service), handlers);
  }
  const health = addHealth(server, deps);
  new ReflectionService(
    { files: { format: "Protocol Buffer 3 DescriptorProto", type: {}, ...filesOf(deps) } },
    { services: deps.services.map(({ desc }) => desc.typeName) },
  ).addToServer(server);
  const name = host.includes(":") ? `[${host}]` : host;
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${name}:${port}`, ServerCredentials.createInsecure(), (error, taken) =>
      error === null ? resolve(taken) : reject(error),
    );
  });
  return {
    address: `http://${name}:${bound}`,
    async [Symbol.asyncDispose]() {
      health[Symbol.dispose]();
      await close(server);
    },
  };
}

/** Lets running calls end, and cuts them off after a limit. */
async function close(server: Server): Promise<void> {
  const forced = setTimeout(() => server.forceShutdown(), runtimeLimits.grpcDrainMs);
  await new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  clearTimeout(forced);
}

/** Sets the status of the server ("") and of each service from the readiness. */
function addHealth<Caller>(server: Server, deps: GrpcServerDeps<Caller>): Disposable {
  const names = ["", ...deps.services.map(({ desc }) => desc.typeName)];
  const health = new HealthImplementation();
  const look = (): void => {
    const isServing = deps.readiness() === null && !deps.draining.aborted;
    for (const name of names) health.setStatus(name, isServing ? "SERVING" : "NOT_SERVING");
  };
  look();
  health.addToServer(server);
  deps.draining.addEventListener("abort", look);
  const looking = setInterval(look, runtimeLimits.grpcHealthMs);
  return { [Symbol.dispose]: () => clearInterval(looking) };
}

/** Returns every file that declares the services, with its imports. */
function filesOf({ services }: Pick<GrpcServerDeps<never>, "services">) {
  const files = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    if (files.has(file.name)) return;
    files.set(file.name, file);
    for (const imported of file.dependencies) add(imported);
  };
  for (const { desc } of services) add(desc.file);
  const fileDescriptorProtos = [...files.values()].map(({ proto }) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, proto)),
  );
  return { fileDescriptorProtos };
}

/** The common parts of all kinds of calls. */
type AnyCall = {
  readonly metadata: Metadata;
  readonly cancelled: boolean;
  once(event: "cancelled", listener: () => void): unknown;
  getPeer(): string;
  sendMetadata(metadata: Metadata): void;
};

/** A call that the interceptor has admitted, with what its handler gets and the metadata of its answer. */
type Begun<Caller> = Admitted<Caller> & {
  readonly context: GrpcContext<Caller>;
  /** The memory of the one request of a stream of answers. */
  readonly request: HeldBody | undefined;
  readonly span: Span;
  readonly headers: Metadata;
  readonly statusOf: (error: unknown) => StatusObject;
};

function begun<Caller>(
  call: AnyCall,
  { name, parent, methodKind }: DescMethod,
  deps: GrpcServerDeps<Caller>,
  admitted: WeakMap<Metadata, Admitted<Caller>>,
): Begun<Caller> {
  const own = admitted.get(call.metadata);
  assert(own !== undefined, "a call without an admission is refused before");
  const { caller, requestId, peer } = own;
  const gone = new AbortController();
  call.once("cancelled", () => gone.abort());
  if (call.cancelled) gone.abort();
  const headers = new Metadata();
  headers.set(requestIdKey, requestId);
  const { tracer = noTracer } = deps;
  const attributes = {
    ...{ "rpc.system": "grpc", "rpc.service": parent.typeName, "rpc.method": name },
  };
  const above = textOf(call.metadata, "traceparent") ?? "";
  const facts = { kind: "server", attributes } as const;
  const span = tracer.begin(`${parent.typeName}/${name}`, above, facts);
  const request = methodKind === "server_streaming" ? own.arrivals.take() : undefined;
  const context: GrpcContext<Caller> = {
    caller,
    peer,
    requestId,
    reading: (read) => (request === undefined ? read() : request.during(read)),
    traceparent: span.traceparent,
    signal: AbortSignal.any([gone.signal, deps.draining]),
    metadata: (key: string) => textOf(call.metadata, key),
    setHeader: (key: string, value: string) => headers.set(key, value),
  };
  const problemOf = (error: unknown): GrpcProblem =>
    error instanceof Problem ? error : deps.problemOf(error, requestId);
  return {
    ...own,
    context,
    request,
    span,
    headers,
    statusOf: (error) => statusOf(problemOf(error), requestId),
  };
}

function handlerOf<Caller>(
  { desc, handle }: GrpcMethod<Caller>,
  deps: GrpcServerDeps<Caller>,
  admitted: WeakMap<Metadata, Admitted<Caller>>,
): UntypedHandleCall {
  const reply = (
    own: Begun<Caller>,
    work: () => Promise<object>,
    call: AnyCall,
    answer: UnaryAnswer,
  ): void => {
    own.place
      .during(() => during(own.span, work))
      .then(
        (message) => {
          call.sendMetadata(own.headers);
          answer(null, message);
        },
        (error: unknown) => answer(own.statusOf(error)),
      );
  };
  const stream = async (
    own: Begun<Caller>,
    requests: object,
    call: Writable & AnyCall,
  ): Promise<void> => {
    const replies = handle(requests, own.context) as AsyncIterable<object>;
    await own.place.during(() => during(own.span, () => send(call, replies, own, deps)));
    own.request?.closed();
  };
  switch (desc.methodKind) {
    case "unary":
      return (call: ServerUnaryCall<object, object>, answer: UnaryAnswer) => {
        const own = begun(call, desc, deps, admitted);
        const body = own.arrivals.take() ?? new HeldBody(() => {});
        const work = async () => handle(call.request, own.context) as Promise<object>;
        reply(own, () => body.during(work), call, answer);
      };
    case "client_streaming":
      return (call: ServerReadableStream<object, object>, answer: UnaryAnswer) => {
        const own = begun(call, desc, deps, admitted);
        const requests = counted(call.iterator({ destroyOnReturn: false }), own.arrivals);
        reply(own, async () => handle(requests, own.context) as Promise<object>, call, answer);
      };
    case "server_streaming":
      return (call: ServerWritableStream<object, object>) => {
        const own = begun(call, desc, deps, admitted);
        void stream(own, call.request, call);
      };
    case "bidi_streaming":
      return (call: ServerDuplexStream<object, object>) => {
        const own = begun(call, desc, deps, admitted);
        // The end of the requests must not close the other direction.
        void stream(own, counted(call.iterator({ destroyOnReturn: false }), own.arrivals), call);
      };
  }
}

/** Gives back the memory of each request when the handler asks for the next one. */
async function* counted(requests: AsyncIterable<object>, arrivals: Arrivals) {
  for await (const request of requests) {
    const body = arrivals.take();
    try {
      yield request;
    } finally {
      body?.closed();
    }
  }
}

type UnaryAnswer = (error: StatusObject | null, reply?: object) => void;

async function send<Caller>(
  call: Writable & AnyCall,
  replies: AsyncIterable<object>,
  { context: { signal }, headers, statusOf: endOf }: Begun<Caller>,
  deps: GrpcServerDeps<Caller>,
): Promise<void> {
  const slowMs = deps.slowMs ?? runtimeLimits.grpcSlowMs;
  let isFirst = true;
  try {
    for await (const reply of replies) {
      if (signal.aborted) break;
      if (isFirst) call.sendMetadata(headers);
      isFirst = false;
      call.write(reply);
      if (!(await untilDrained(call, signal, slowMs))) throw tooSlow(slowMs);
    }
    if (deps.draining.aborted) throw new Problem(503, "draining", "this server ends; call again");
    if (isFirst) call.sendMetadata(headers);
    call.end();
  } catch (error) {
    call.emit("error", endOf(error));
  }
}

function tooSlow(ms: number): Problem {
  const detail = `the client left messages unread for ${ms} ms; continue after the last one that it has`;
  return new Problem(503, "reader_too_slow", detail);
}
