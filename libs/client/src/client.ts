/** A client of the public API: calls are typed by the names and messages of its descriptors. */
import { create, type DescMessage, type JsonObject, toJson } from "@bufbuild/protobuf";
import type {
  CallName,
  Plain,
  RawName,
  ReplyOf,
  RequestInitOf,
  StreamName,
  UnaryName,
} from "@trainyard/contracts";
import { type Problem, ProblemSchema } from "@trainyard/contracts/api";
import { codecOf } from "@trainyard/contracts/codec";
import { gatewayRoutes, pathOf, Permission, type Route } from "@trainyard/contracts/routes";
import { type Clock, isTraceparent, retryAfterMs } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { ApiError, Unreachable } from "./api-error.ts";
import { readEvents } from "./event-stream.ts";
import { clientLimits } from "./limits.ts";
import { isAway, isBusy, isTooMany, type Patience, patiently } from "./patience.ts";

export type ClientOptions = {
  /** The address of the gateway, like http://127.0.0.1:8080. */
  readonly url: string;
  /** The API token; absent in a browser, which sends its session cookie. */
  readonly token?: string;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** The span that the calls are under, as W3C Trace Context writes it. An invalid one is not sent. */
  readonly traceparent?: string | undefined;
};

export type CallOptions = {
  /**
   * The idempotency key of a mutating call. A call with a key is repeated on a 503 for up to 75 seconds, without a
   * second effect. After a 429, which had no effect, any call is repeated.
   */
  readonly idempotencyKey?: string;
  /**
   * Whether the call, or the opening of the stream, is repeated while the platform is unavailable, for up to 75
   * seconds. It is meant for callers that have had an answer before: until the first answer, the address may be wrong.
   */
  readonly outlast?: boolean;
  /** Whether a person waits for the answer of a call with a key: it is repeated for up to 15 seconds, as a read is. */
  readonly soon?: boolean;
  /** The call is made once, also if it was one too many: a person decides whether to try again. */
  readonly once?: boolean;
  /** The ETag that the caller has read: the change is refused with 412 if the resource has a later one. */
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
  /** The id of a message or place of an earlier stream of this call: the stream continues after it. */
  readonly after?: string;
  /** Called with the id of a place in a stream that comes without a message: the stream continues after it. */
  readonly onPlace?: (id: string) => void;
};

export type StreamedMessage<Message> = { readonly id: string; readonly message: Message };

/** A method may have several paths: the first one whose fields are all present is used. */
const routes = Map.groupBy(gatewayRoutes(), ({ call }): CallName => call);

/** Returns the permission that a user needs for a call. */
export const permissionOf = (name: CallName): Permission =>
  routes.get(name)?.[0]?.facts.permission ?? Permission.UNSPECIFIED;

export class Client {
  readonly clock: Clock;
  readonly #url: string;
  readonly #ofAll: Readonly<Record<string, string>>;

  constructor(options: ClientOptions) {
    this.#url = options.url.replace(/\/+$/, "");
    const { token, traceparent = "" } = options;
    this.#ofAll = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(isTraceparent(traceparent) ? { traceparent } : {}),
    };
    this.clock = options.clock ?? systemClock;
  }

  /** Makes one call and returns its reply. Throws ApiError for a problem, Unreachable without an answer. */
  async call<Name extends UnaryName>(
    name: Name,
    request: RequestInitOf<Name>,
    options: CallOptions = {},
  ): Promise<ReplyOf<Name>> {
    const { route, text } = await patiently(this.#patienceOf(name, options), async () => {
      const sent = await this.#send(name, request, options);
      return { route: sent.route, text: await textOf(sent.response, options.signal) };
    });
    return codecOf<ReplyOf<Name>>(route.reply).decode(text);
  }

  #patienceOf(name: CallName, options: CallOptions): Patience {
    const { idempotencyKey, outlast = false, soon = false, once = false, signal } = options;
    const waits = outlast || (idempotencyKey !== undefined && !soon);
    const passing = outlast ? isAway : isBusy;
    return {
      passes: (error) =>
        !once && (isTooMany(error) || (mayRepeat(name, options) && passing(error))),
      limitMs: waits ? clientLimits.awayMs : clientLimits.busyMs,
      clock: this.clock,
      signal,
    };
  }

  /** Returns the body of an answer that is not a message, as bytes. */
  async download<Name extends RawName>(
    name: Name,
    request: RequestInitOf<Name>,
    options: CallOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const { response } = await patiently(this.#patienceOf(name, options), () =>
      this.#send(name, request, options),
    );
    if (response.body === null) throw new Unreachable("the answer has no body");
    return response.body;
  }

  /**
   * Yields the messages of a stream until it ends. A connection that breaks is reopened after the last message, so none
   * is missing and none is repeated. Throws Unreachable after 75 seconds without the platform.
   */
  async *stream<Name extends StreamName>(
    name: Name,
    request: RequestInitOf<Name>,
    options: CallOptions = {},
  ): AsyncGenerator<StreamedMessage<ReplyOf<Name>>> {
    // Cancelling the body is not enough: Node.js 22 then keeps the connection, and with it the process.
    const left = new AbortController();
    const signals = options.signal === undefined ? [left.signal] : [options.signal, left.signal];
    try {
      yield* this.#streamed(name, request, { ...options, signal: AbortSignal.any(signals) });
    } finally {
      left.abort();
    }
  }

  async *#streamed<Name extends StreamName>(
    name: Name,
    request: RequestInitOf<Name>,
    options: CallOptions,
  ): AsyncGenerator<StreamedMessage<ReplyOf<Name>>> {
    let lastId = options.after ?? "";
    let received = false;
    const open = () =>
      this.#send(name, request, options, lastId === "" ? {} : { "last-event-id": lastId });
    const { signal } = options;
    const away = { passes: isAway, limitMs: clientLimits.awayMs, clock: this.clock, signal };
    let { route, response } = await patiently(this.#patienceOf(name, options), open);
    for (;;) {
      const codec = codecOf<ReplyOf<Name>>(route.reply);
      for await (const event of readEvents(response)) {
        if (event.type === "end") return;
        if (event.type === "problem") {
          const problem = new ApiError(codecOf<Plain<Problem>>(ProblemSchema).decode(event.data));
          if (isBusy(problem)) break;
          throw problem;
        }
        if (event.id !== "") lastId = event.id;
        if (event.data === "") {
          options.onPlace?.(event.id);
          continue;
        }
        received = true;
        yield { id: event.id, message: codec.decode(event.data) };
      }
      if (options.signal?.aborted === true) return;
      // A stream without ids cannot be resumed: a new request would repeat it from the beginning.
      if (received && lastId === "") throw new Unreachable("the stream broke off before its end");
      ({ route, response } = await patiently(away, open));
    }
  }

  async #send(
    name: CallName,
    request: object,
    options: CallOptions,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly route: Route; readonly response: Response }> {
    const { route, fields } = routeFor(name, request);
    const path = pathOf(route, pathValues(route, fields));
    const rest = Object.fromEntries(
      Object.entries(fields).filter(([field]) => !route.pathFields.includes(snakeCase(field))),
    );
    const query = route.hasBody ? "" : queryOf(rest);
    const response = await this.#fetch(`${this.#url}${path}${query}`, {
      method: route.method,
      headers: {
        ...this.#ofAll,
        ...(route.hasBody ? { "content-type": "application/json" } : {}),
        ...(options.idempotencyKey === undefined
          ? {}
          : { "idempotency-key": options.idempotencyKey }),
        ...(options.ifMatch === undefined ? {} : { "if-match": options.ifMatch }),
        ...headers,
      },
      ...(route.hasBody ? { body: JSON.stringify(rest) } : {}),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    if (!response.ok) throw await apiError(response);
    return { route, response };
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (cause) {
      if (init.signal?.aborted === true) throw cause;
      throw new Unreachable(`no answer from ${this.#url}`, { cause });
    }
  }
}

/** Reads the body; a connection that breaks in the middle of it counts as no answer. */
async function textOf(response: Response, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new Unreachable("the answer broke off", { cause });
  }
}

function mayRepeat(name: CallName, options: CallOptions): boolean {
  return options.idempotencyKey !== undefined || routes.get(name)?.[0]?.method === "GET";
}

function routeFor(
  name: CallName,
  request: object,
): { readonly route: Route; readonly fields: JsonObject } {
  const candidates = routes.get(name) ?? [];
  for (const route of candidates) {
    const fields = jsonOf(route.request, request);
    const given = route.pathFields.every((field) => fields[camelCase(field)] !== undefined);
    if (given) return { route, fields };
  }
  throw new TypeError(`${name} is not a call of the API, or lacks a field of its path`);
}

function pathValues(route: Route, fields: JsonObject): JsonObject {
  return Object.fromEntries(route.pathFields.map((name) => [name, fields[camelCase(name)] ?? ""]));
}

/** Converts the request to proto JSON. It happens once per call, so the conversion of protobuf-es is fast enough. */
function jsonOf(descriptor: DescMessage, request: object): JsonObject {
  // The cast is safe: the name of the call chose both the descriptor and the type of the request.
  return toJson(descriptor, create(descriptor, request as Record<string, unknown>)) as JsonObject;
}

/** Encodes fields as a query; a list has one parameter per value. */
export function queryOf(fields: JsonObject): string {
  const query = new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
    ),
  ).toString();
  return query === "" ? "" : `?${query}`;
}

const camelCase = (name: string): string =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

async function apiError(response: Response): Promise<ApiError> {
  const text = await response.text();
  const codec = codecOf<Plain<Problem>>(ProblemSchema);
  const waitMs = retryAfterMs(response.headers.get("retry-after"));
  if (response.headers.get("content-type")?.includes("problem+json") === true) {
    return new ApiError(codec.decode(text), waitMs);
  }
  const detail = `HTTP ${response.status} from something that is not Trainyard`;
  return new ApiError({ ...codec.decode("{}"), status: response.status, detail }, waitMs);
}
