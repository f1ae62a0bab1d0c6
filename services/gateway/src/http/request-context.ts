import type { Caller } from "./caller.ts";

/** What a handler knows of the request besides its message. */
export type RequestContext = {
  readonly caller: Caller;
  /** Names the effect of this request: the one of its idempotency key, else drawn. */
  readonly commitId: string;
  readonly traceparent: string;
  /** Aborts when the caller has gone or the gateway drains. */
  readonly signal: AbortSignal;
  readonly lastEventId: string | undefined;
};

/** One message of a stream; the id is where a caller that comes back goes on. */
export type StreamItem = { readonly id: string; readonly message: object };

export type UnaryHandler = (request: never, context: RequestContext) => Promise<object>;
export type StreamHandler = (request: never, context: RequestContext) => AsyncIterable<StreamItem>;
/** Bytes with a content type of their own. */
export type RawAnswer = {
  readonly contentType: string;
  readonly fileName: string;
  readonly body: NodeJS.ReadableStream;
};
export type RawHandler = (request: never, context: RequestContext) => Promise<RawAnswer>;

/** By Service.Method, as the descriptors call them. */
export type Handlers = {
  readonly unary: Readonly<Record<string, UnaryHandler>>;
  readonly streams: Readonly<Record<string, StreamHandler>>;
  readonly raw: Readonly<Record<string, RawHandler>>;
};
