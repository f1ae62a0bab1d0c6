/**
 * Makes the calls of the API for every protocol: in its caller's turn or counted while it is open, after the position
 * that it asks for, once per idempotency key. A protocol reads the message and the caller before, and sends the answer.
 */
import type { Readable } from "node:stream";
import type { DescMessage } from "@bufbuild/protobuf";
import type { Rights } from "@trainyard/access";
import {
  codecOf,
  type RawName,
  type ReplyOf,
  type RequestOf,
  type StreamName,
  type UnaryName,
} from "@trainyard/contracts";
import type { CallFacts, Route } from "@trainyard/contracts/routes";
import { type Caller, countedAs } from "./caller.ts";
import type { Costs } from "./costs.ts";
import { type IdempotencyStore, idempotencyKeyPattern } from "./idempotency.ts";
import type { OpenCalls } from "./open-calls.ts";
import type { OpenCheck, OpenChecks } from "./open-checks.ts";
import { Problem } from "./problem.ts";
import type { Handlers, RawAnswer, RequestContext, StreamItem } from "./request-context.ts";
import { selectFields } from "./selection.ts";

export type CallDeps = {
  readonly handlers: Handlers;
  readonly idempotency: IdempotencyStore;
  readonly openCalls: OpenCalls;
  readonly costs: Costs;
  /** The guard before every handler, which returns the caller's rights or throws a Problem. */
  readonly guard: {
    require(facts: CallFacts, message: object, caller: Caller): Promise<Rights>;
    /** Throws a Problem if the caller may not make a call any more that is still open. */
    requireStill(facts: CallFacts, message: object, caller: Caller): Promise<void>;
  };
  /** The names of persons, which answers show instead of their ids. */
  readonly directory: {
    named<Message extends object>(descriptor: DescMessage, message: Message): Message;
  };
  readonly checks: Pick<OpenChecks, "begin">;
  /** Waits until the read model has reached a position, before a call has its turn. */
  readonly reached: (position: string) => Promise<void>;
};

export type CallRoute = Pick<Route, "method" | "reply"> & { readonly facts: CallFacts };

export type Call<Name extends keyof Requests> = {
  readonly route: CallRoute;
  readonly message: RequestOf<Name>;
  readonly context: CallContext;
  readonly key: IdempotencyKey;
};

/** The context of a call before the guard has looked at it. */
export type CallContext = Omit<RequestContext, "rights">;

type Requests = { readonly [Name in UnaryName | StreamName | RawName]: unknown };

export type IdempotencyKey = {
  /** The value of the header or metadata; undefined for none. */
  readonly text: string | undefined;
  /** Returns a digest of the whole request, by which a repeat is compared with the first request. */
  readonly digest: () => string;
};

/** An answer as a message, or as the stored JSON of the first request with the key. */
export type UnaryAnswer<Name extends UnaryName> =
  | { readonly message: ReplyOf<Name>; readonly json: null }
  | { readonly message: null; readonly json: string };

/** Throws a Problem of 400 for a key of another form. */
export function requireKeyForm(key: string | undefined): void {
  if (key === undefined || idempotencyKeyPattern.test(key)) return;
  const detail = "an Idempotency-Key is 1 to 200 visible ASCII characters";
  throw new Problem(400, "invalid_idempotency_key", detail);
}

export async function callUnary<Name extends UnaryName>(
  name: Name,
  { handlers, idempotency, costs, guard, directory, reached }: CallDeps,
  { route, message, context: asked, key }: Call<Name>,
): Promise<UnaryAnswer<Name>> {
  if ("minPosition" in message) await reached(String(message.minPosition));
  const { facts, method } = route;
  const rights = await guard.require(facts, message, asked.caller);
  const context: RequestContext = { ...asked, rights };
  const attempt = async (commitId: string): Promise<ReplyOf<Name>> => {
    const answer = await handlers.unary[name](message, { ...context, commitId });
    return directory.named(route.reply, answer);
  };
  const { text } = key;
  return costs.during(facts.cost, context, async (): Promise<UnaryAnswer<Name>> => {
    if (text === undefined || facts.ignoresKey || method === "GET") {
      return answerOf(route, message, await attempt(context.commitId));
    }
    const owner = { caller: countedAs(context.caller), key: text };
    const stored = async (commitId: string) => ({
      status: 200,
      body: jsonOf(route.reply, await attempt(commitId), message),
    });
    const { body } = await idempotency.once(owner, key.digest(), stored, facts.storesAnswer);
    return { message: null, json: body };
  });
}

/** Returns an answer of which some fields are selected as JSON. */
function answerOf<Name extends UnaryName>(
  { reply }: CallRoute,
  message: RequestOf<Name>,
  answer: ReplyOf<Name>,
): UnaryAnswer<Name> {
  if (fieldsAsked(message).length === 0) return { message: answer, json: null };
  return { message: null, json: jsonOf(reply, answer, message) };
}

/** Returns an answer as JSON, with the fields that the request asks for. */
export function jsonOf(reply: DescMessage, answer: object, asked: object): string {
  const json = codecOf<object>(reply).toFullJson(answer);
  return JSON.stringify(selectFields(reply, json, fieldsAsked(asked)));
}

/** Returns the value of the request's `fields`; empty if it has none. */
function fieldsAsked(message: object): readonly string[] {
  return "fields" in message && Array.isArray(message.fields) ? (message.fields as string[]) : [];
}

export type OpenedStream<Name extends StreamName> = Disposable & {
  /** The items of the stream. They end with the refusal of the guard if the caller loses its right to the stream. */
  readonly items: AsyncIterable<StreamItem<ReplyOf<Name>>>;
  /** Aborts when the caller leaves, the gateway drains, or the caller's token or session has ended. */
  readonly signal: AbortSignal;
  /** Aborts when the caller's token or session has ended. */
  readonly revoked: AbortSignal;
};

/** Opens a stream, which counts until it is disposed. */
export async function openStream<Name extends StreamName>(
  name: Name,
  deps: CallDeps,
  call: Call<Name>,
): Promise<OpenedStream<Name>> {
  const { handlers, openCalls, costs, guard } = deps;
  const { route, message, context: asked } = call;
  const rights = await guard.require(route.facts, message, asked.caller);
  const context: RequestContext = { ...asked, rights };
  using opening = new DisposableStack();
  opening.use(await costs.enter(route.facts.cost, context));
  const open = opening.use(await openCalls.open(context.caller));
  const { refused } = opening.use(stillAllowed(deps, call));
  const signal = AbortSignal.any([context.signal, open.signal]);
  const own = AbortSignal.any([signal, refused]);
  const items = untilRefused(handlers.streams[name](message, { ...context, signal: own }), own);
  const held = opening.move();
  const dispose = (): void => held.dispose();
  return { items, signal, revoked: open.signal, [Symbol.dispose]: dispose };
}

/** Checks a call again and again while it is open. */
function stillAllowed<Name extends keyof Requests>(
  { checks, guard }: CallDeps,
  { route, message, context }: Pick<Call<Name>, "route" | "message" | "context">,
): OpenCheck {
  return checks.begin(() => guard.requireStill(route.facts, message, context.caller));
}

/** Yields the items of a stream. Throws the refusal once the signal has aborted with one; other ends are no errors. */
async function* untilRefused<Item>(
  items: AsyncIterable<Item>,
  ended: AbortSignal,
): AsyncGenerator<Item> {
  const refuse = (): void => {
    if (ended.reason instanceof Problem) throw ended.reason;
  };
  for await (const item of items) {
    refuse();
    yield item;
  }
  refuse();
}

/** Opens a download, which counts until it is disposed. It is cut if the caller loses its right to it. */
export async function openDownload<Name extends RawName>(
  name: Name,
  deps: CallDeps,
  call: Call<Name>,
): Promise<Disposable & { readonly answer: RawAnswer }> {
  const { handlers, costs, guard } = deps;
  const { route, message, context: asked } = call;
  const rights = await guard.require(route.facts, message, asked.caller);
  const context: RequestContext = { ...asked, rights };
  using opening = new DisposableStack();
  opening.use(await costs.enter(route.facts.cost, context));
  const { refused } = opening.use(stillAllowed(deps, call));
  const answer = await handlers.raw[name](message, context);
  const cut = (): void => {
    if ("destroy" in answer.body) (answer.body as Readable).destroy(refused.reason as Problem);
  };
  if (refused.aborted) cut();
  refused.addEventListener("abort", cut);
  const held = opening.move();
  return { answer, [Symbol.dispose]: () => held.dispose() };
}
