/** The handlers of the API's methods over gRPC: one for each kind of answer. */
import { createHash, randomUUID } from "node:crypto";
import {
  type CallName,
  codecOf,
  type RawName,
  type ReplyOf,
  type RequestOf,
  type StreamName,
  type UnaryName,
} from "@trainyard/contracts";
import type { Route } from "@trainyard/contracts/routes";
import type { AnyHandler, GrpcContext } from "@trainyard/runtime/grpc";
import type { AccessDeps } from "./access.ts";
import type { Caller } from "./caller.ts";
import {
  type Call,
  type CallContext,
  type CallDeps,
  callUnary,
  openDownload,
  openStream,
  requireKeyForm,
} from "./make-call.ts";
import type { MessageReader } from "./message-reader.ts";
import { Problem } from "./problem.ts";

type Asked = GrpcContext<Caller>;

export type GrpcDeps = CallDeps &
  Pick<AccessDeps, "proxies"> & { readonly messages: MessageReader };

/** Returns the handler of a call, whose requests are bytes. */
export function handlerOfCall(route: Route, deps: GrpcDeps): AnyHandler<Caller> {
  switch (route.kind) {
    case "unary":
      return async (bytes, asked) =>
        answerOf(route.call, deps, route, await callOf(deps, route, bytes as Uint8Array, asked));
    case "stream":
      return (bytes, asked) => messagesOf(route.call, deps, route, bytes as Uint8Array, asked);
    case "raw":
      return (bytes, asked) => piecesOf(route.call, deps, route, bytes as Uint8Array, asked);
  }
}

/** Returns a call with its message. Throws a Problem of 400 for a malformed one. */
export async function callOf<Name extends CallName>(
  { messages, proxies }: GrpcDeps,
  route: Route,
  bytes: Uint8Array,
  asked: Asked,
): Promise<Call<Name>> {
  const text = asked.metadata("idempotency-key");
  requireKeyForm(text);
  const encoded = { bytes, isDigested: text !== undefined };
  const { message, digest: own } = await asked.reading(() =>
    messages.read<RequestOf<Name>>(route.request, encoded),
  );
  const digest = (): string =>
    createHash("sha256").update(`grpc\n${route.call}\n${own}`).digest("hex");
  return { route, message, context: contextOf(asked, proxies), key: { text, digest } };
}

function contextOf(
  { caller, peer, traceparent, signal, metadata }: Asked,
  proxies: AccessDeps["proxies"],
): CallContext {
  return {
    caller,
    commitId: randomUUID(),
    traceparent,
    signal,
    lastEventId: metadata("last-event-id"),
    ifMatch: metadata("if-match"),
    address: proxies.clientOf(peer, metadata("x-forwarded-for")),
    origin: "",
    cookie: null,
  };
}

export async function answerOf<Name extends UnaryName>(
  name: Name,
  deps: CallDeps,
  { reply }: Pick<Route, "reply">,
  call: Call<Name>,
): Promise<ReplyOf<Name>> {
  const answer = await callUnary(name, deps, call);
  if (answer.json === null) return answer.message;
  return codecOf<ReplyOf<Name>>(reply).decode(answer.json);
}

/**
 * Streams messages until the caller's token ends. The place after which a caller continues, which is the event's id
 * over REST, is in the message.
 */
async function* messagesOf<Name extends StreamName>(
  name: Name,
  deps: GrpcDeps,
  route: Route,
  bytes: Uint8Array,
  asked: Asked,
): AsyncGenerator<ReplyOf<Name>> {
  using stream = await openStream(name, deps, await callOf<Name>(deps, route, bytes, asked));
  for await (const { message } of stream.items) {
    if (message !== null) yield message;
  }
  if (stream.revoked.aborted)
    throw new Problem(401, "no_token", "this token is not valid any more");
}

/** Streams bytes. The first piece has their content type, and the metadata has the name of the file. */
async function* piecesOf<Name extends RawName>(
  name: Name,
  deps: GrpcDeps,
  route: Route,
  bytes: Uint8Array,
  asked: Asked,
): AsyncGenerator<{ readonly contentType: string; readonly data: Uint8Array }> {
  const { setHeader, signal } = asked;
  using download = await openDownload(name, deps, await callOf<Name>(deps, route, bytes, asked));
  const { body, contentType, fileName } = download.answer;
  setHeader("content-disposition", `attachment; filename="${fileName}"`);
  const left = (): void => void ("destroy" in body && (body as { destroy(): void }).destroy());
  // The client may have left before the download was open.
  if (signal.aborted) left();
  signal.addEventListener("abort", left);
  let isFirst = true;
  for await (const chunk of body) {
    const data = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    yield { contentType: isFirst ? contentType : "", data };
    isFirst = false;
  }
  if (isFirst) yield { contentType, data: new Uint8Array() };
}
