/** The public API, called by the names and messages of its descriptors. One place knows how a request becomes HTTP. */
import { create, type DescMessage, type JsonObject, toJson } from "@bufbuild/protobuf";
import {
  type CallName,
  codecOf,
  gatewayRoutes,
  type Plain,
  pathOf,
  type RawName,
  type ReplyOf,
  type RequestInitOf,
  type Route,
  type StreamName,
  type UnaryName,
} from "@trainyard/contracts";
import { type Problem, ProblemSchema } from "@trainyard/contracts/api";
import { ApiError, Unreachable } from "./api-error.ts";
import { readEvents } from "./event-stream.ts";
import { clientLimits } from "./limits.ts";
import { isAway, isBusy, patiently } from "./patience.ts";

export type ClientOptions = {
  /** http://127.0.0.1:8080 */
  readonly url: string;
  readonly token: string;
};

export type CallOptions = {
  /** A mutating call that names one may be repeated without a second effect, and is while the platform says 503. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
};

export type StreamedMessage<Message> = { readonly id: string; readonly message: Message };

/** A method may have several paths; the one whose fields are all given is taken. */
const routes = Map.groupBy(gatewayRoutes(), ({ call }): CallName => call);

export class Client {
  readonly #url: string;
  readonly #token: string;

  constructor(options: ClientOptions) {
    this.#url = options.url.replace(/\/+$/, "");
    this.#token = options.token;
  }

  /** One call, one answer. Throws ApiError for a problem, Unreachable when nobody answers. */
  async call<Name extends UnaryName>(
    name: Name,
    request: RequestInitOf<Name>,
    options: CallOptions = {},
  ): Promise<ReplyOf<Name>> {
    const repeatable = mayRepeat(name, options);
    const { route, response } = await patiently(
      (error) => repeatable && isBusy(error),
      clientLimits.busyMs,
      () => this.#send(name, request, options),
      options.signal,
    );
    const text = await response.text();
    return codecOf<ReplyOf<Name>>(route.reply).decode(text);
  }

  /** The bytes of an answer that is no message. */
  async download<Name extends RawName>(
    name: Name,
    request: RequestInitOf<Name>,
    options: CallOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    const { response } = await this.#send(name, request, options);
    if (response.body === null) throw new Unreachable("the answer has no body");
    return response.body;
  }

  /**
   * The messages of a stream, until it ends. A connection that breaks is opened again after the last message, so that
   * none is missing and none comes twice; a platform that stays away for half a minute ends it with Unreachable.
   */
  async *stream<Name extends StreamName>(
    name: Name,
    request: RequestInitOf<Name>,
    options: CallOptions = {},
  ): AsyncGenerator<StreamedMessage<ReplyOf<Name>>> {
    let lastId = "";
    let received = false;
    const open = () =>
      this.#send(name, request, options, lastId === "" ? {} : { "last-event-id": lastId });
    let { route, response } = await open();
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
        received = true;
        yield { id: event.id, message: codec.decode(event.data) };
      }
      if (options.signal?.aborted === true) return;
      // A stream without ids cannot be resumed: it would begin again.
      if (received && lastId === "") throw new Unreachable("the stream broke off before its end");
      ({ route, response } = await patiently(isAway, clientLimits.awayMs, open, options.signal));
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
        authorization: `Bearer ${this.#token}`,
        ...(route.hasBody ? { "content-type": "application/json" } : {}),
        ...(options.idempotencyKey === undefined
          ? {}
          : { "idempotency-key": options.idempotencyKey }),
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

/** The request as proto JSON: once per call, so the runtime's own conversion is fast enough. */
function jsonOf(descriptor: DescMessage, request: object): JsonObject {
  // The name of the call chose both the descriptor and the type of the request.
  return toJson(descriptor, create(descriptor, request as Record<string, unknown>)) as JsonObject;
}

/** A field that is a list is given once for each of its values. */
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
  const retryAfterMs = Number(response.headers.get("retry-after") ?? "0") * 1_000 || 0;
  if (response.headers.get("content-type")?.includes("problem+json") === true) {
    return new ApiError(codec.decode(text), retryAfterMs);
  }
  const detail = `HTTP ${response.status} from something that is not Trainyard`;
  return new ApiError({ ...codec.decode("{}"), status: response.status, detail }, retryAfterMs);
}
