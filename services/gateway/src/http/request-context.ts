import type { Rights } from "@trainyard/access";
import type { RawName, ReplyOf, RequestOf, StreamName, UnaryName } from "@trainyard/contracts";
import type { Caller } from "./caller.ts";
import type { SessionCookie } from "./session-cookie.ts";

/** The facts of a request that its handler gets beside the message. */
export type RequestContext = {
  readonly caller: Caller;
  /** The caller's rights at the begin of the call. */
  readonly rights: Rights;
  /** The commit id of the request's effect, from its idempotency key; random without a key. */
  readonly commitId: string;
  readonly traceparent: string;
  /** Aborts when the caller disconnects or the gateway drains. */
  readonly signal: AbortSignal;
  readonly lastEventId: string | undefined;
  /** The value of the header If-Match. */
  readonly ifMatch: string | undefined;
  /** The network address of the request's client. */
  readonly address: string;
  /** The scheme and the host under which the caller reached the platform, as http://host:port; empty over gRPC. */
  readonly origin: string;
  /** The session cookie of the answer; null over gRPC. */
  readonly cookie: SessionCookie | null;
};

/** A message of a stream. A caller that reconnects continues after its id. */
export type StreamItem<Message extends object> =
  | {
      /** The id; empty if a stream cannot be resumed after the message. */
      readonly id: string;
      readonly message: Message;
      /** The message as JSON, if it was encoded once for several streams. */
      readonly text?: string;
    }
  /** A place without a message, after which a caller may continue. */
  | { readonly id: string; readonly message: null; readonly text?: undefined };

/** An answer of bytes with a content type. */
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

/** A handler for each call in the descriptors; the compiler reports a missing one. */
export type Handlers = {
  readonly unary: UnaryHandlers;
  readonly streams: StreamHandlers;
  readonly raw: RawHandlers;
};

/** The handlers of some calls. */
export type SomeHandlers = { readonly [Kind in keyof Handlers]?: Partial<Handlers[Kind]> };
