import type { RawName, ReplyOf, RequestOf, StreamName, UnaryName } from "@trainyard/contracts";
import type { Caller } from "./caller.ts";
import type { SessionCookie } from "./session-cookie.ts";

/** The handler's view of the request besides its message. */
export type RequestContext = {
  readonly caller: Caller;
  /** Names the effect of this request: the one of its idempotency key, else drawn. */
  readonly commitId: string;
  readonly traceparent: string;
  /** Aborts when the caller has gone or the gateway drains. */
  readonly signal: AbortSignal;
  readonly lastEventId: string | undefined;
  /** The header If-Match as it came. */
  readonly ifMatch: string | undefined;
  /** The network address that the request came from: a proxy's, where there is one. */
  readonly address: string;
  /** Null over gRPC. */
  readonly cookie: SessionCookie | null;
};

/** One message of a stream; a caller that comes back continues after the id. */
export type StreamItem<Message extends object> = {
  /** Empty for a message that nobody continues after. */
  readonly id: string;
  readonly message: Message;
  /** The message as JSON, where it was encoded for several streams at once. */
  readonly text?: string;
};

/** Bytes with a content type of their own. */
export type RawAnswer = {
  readonly contentType: string;
  readonly fileName: string;
  readonly body: NodeJS.ReadableStream;
};

export type UnaryHandlers = {
  readonly [Name in UnaryName]: (
    request: RequestOf<Name>,
    context: RequestContext,
  ) => Promise<ReplyOf<Name>>;
};

export type StreamHandlers = {
  readonly [Name in StreamName]: (
    request: RequestOf<Name>,
    context: RequestContext,
  ) => AsyncIterable<StreamItem<ReplyOf<Name>>>;
};

export type RawHandlers = {
  readonly [Name in RawName]: (
    request: RequestOf<Name>,
    context: RequestContext,
  ) => Promise<RawAnswer>;
};

/** A handler for each call that the descriptors declare: without one of them this does not compile. */
export type Handlers = {
  readonly unary: UnaryHandlers;
  readonly streams: StreamHandlers;
  readonly raw: RawHandlers;
};

/** The handlers of some calls. */
export type SomeHandlers = { readonly [Kind in keyof Handlers]?: Partial<Handlers[Kind]> };
