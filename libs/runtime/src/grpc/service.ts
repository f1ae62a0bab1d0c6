/** A service in proto/ for grpc-js: the encoding of its messages, and the types of its handlers. */
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";
import type { Plain } from "@trainyard/contracts";
import type { Problem } from "../problem.ts";

/** The part of a Problem that a gRPC status has. */
export type GrpcProblem = Pick<Problem, "status" | "code" | "message"> &
  Partial<Pick<Problem, "problems" | "retryAfterSeconds">>;

export type GrpcContext<Caller> = {
  readonly caller: Caller;
  /** The address of the connection, which may be that of a proxy. */
  readonly peer: string;
  readonly traceparent: string;
  /** Aborts when the caller disconnects, its deadline has passed, or the server drains. */
  readonly signal: AbortSignal;
  /** The caller's id of the request, or one that the server made. */
  readonly requestId: string;
  /** Decodes a request that the handler got as bytes; that of a stream of answers counts in the memory until then. */
  readonly reading: <Result>(read: () => Promise<Result>) => Promise<Result>;
  /** Returns the first value of the request's metadata with this key. */
  readonly metadata: (key: string) => string | undefined;
  /** Adds to the metadata of the answer, until its first message is sent. */
  readonly setHeader: (key: string, value: string) => void;
};

type Input<Message extends DescMessage> = Plain<MessageShape<Message>>;
type Output<Message extends DescMessage> = Plain<MessageShape<Message>>;

type MethodsOf<Service> =
  Service extends GenService<infer Methods extends GenServiceMethods> ? Methods : never;

type HandlerOf<Method extends GenServiceMethods[string], Caller> = {
  unary: (
    request: Input<Method["input"]>,
    context: GrpcContext<Caller>,
  ) => Promise<Output<Method["output"]>>;
  server_streaming: (
    request: Input<Method["input"]>,
    context: GrpcContext<Caller>,
  ) => AsyncIterable<Output<Method["output"]>>;
  bidi_streaming: (
    requests: AsyncIterable<Input<Method["input"]>>,
    context: GrpcContext<Caller>,
  ) => AsyncIterable<Output<Method["output"]>>;
  client_streaming: (
    requests: AsyncIterable<Input<Method["input"]>>,
    context: GrpcContext<Caller>,
  ) => Promise<Output<Method["output"]>>;
}[Method["methodKind"]];

/** The handlers of some methods of a service; other methods are UNIMPLEMENTED. */
export type GrpcHandlers<Service extends DescService, Caller> = {
  readonly [Name in keyof MethodsOf<Service>]?: HandlerOf<MethodsOf<Service>[Name], Caller>;
};

export type AnyHandler<Caller> = (
  request: object,
  context: GrpcContext<Caller>,
) => Promise<object> | AsyncIterable<object>;

export type GrpcMethod<Caller> = {
  readonly desc: DescMethod;
  readonly definition: MethodDefinition<object, object>;
  readonly handle: AnyHandler<Caller>;
};

export type GrpcService<Caller> = {
  readonly desc: DescService;
  readonly methods: readonly GrpcMethod<Caller>[];
};

export function grpcService<Service extends DescService, Caller>(
  desc: Service,
  handlers: GrpcHandlers<Service, Caller>,
): GrpcService<Caller> {
  const known = handlers as Readonly<Record<string, AnyHandler<Caller> | undefined>>;
  const methods = desc.methods.flatMap((method) => {
    const handle = known[method.localName];
    return handle === undefined ? [] : [{ desc: method, definition: definitionOf(method), handle }];
  });
  return { desc, methods };
}

/**
 * Returns a service whose handlers get their requests as bytes, so that they answer for malformed ones. A method for
 * which there is no handler is UNIMPLEMENTED.
 */
export function encodedGrpcService<Caller>(
  desc: DescService,
  handlerOf: (method: DescMethod) => AnyHandler<Caller> | null,
): GrpcService<Caller> {
  const methods = desc.methods.flatMap((method) => {
    const handle = handlerOf(method);
    const definition = { ...definitionOf(method), requestDeserialize: (bytes: Buffer) => bytes };
    return handle === null ? [] : [{ desc: method, definition, handle }];
  });
  return { desc, methods };
}

export const serviceDefinition = <Caller>({ methods }: GrpcService<Caller>): ServiceDefinition =>
  Object.fromEntries(methods.map(({ desc, definition }) => [desc.localName, definition]));

/** Returns a method's definition for the server; a client swaps the serializers. */
export function definitionOf(method: DescMethod): MethodDefinition<object, object> {
  const { input, output, methodKind } = method;
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: methodKind === "client_streaming" || methodKind === "bidi_streaming",
    responseStream: methodKind === "server_streaming" || methodKind === "bidi_streaming",
    requestSerialize: (message) => bytesOf(input, message),
    requestDeserialize: (bytes) => fromBinary(input, bytes),
    responseSerialize: (message) => bytesOf(output, message),
    responseDeserialize: (bytes) => fromBinary(output, bytes),
  };
}

/** Encodes a request. */
export const requestBytes = <Request extends DescMessage>(
  { input }: { readonly input: Request },
  message: MessageInitShape<Request>,
): Buffer => bytesOf(input, message);

const bytesOf = (desc: DescMessage, message: object): Buffer =>
  Buffer.from(toBinary(desc, create(desc, message as MessageInitShape<DescMessage>)));
