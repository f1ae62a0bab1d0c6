/**
 * The calls about subscriptions. The feeds service decides and keeps the positions, so every answer is its own. The
 * gateway adds the caller, and turns places into texts.
 */
import { feedSubject, feedUserConfig, feedUserOf } from "@trainyard/bus";
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { NatsAccess, Subscription } from "@trainyard/contracts/api";
import type {
  AttemptFacts,
  ListSubscriptions,
  SubscriptionFacts,
} from "@trainyard/contracts/commands";
import type { EventFilter, SubscriptionReader } from "@trainyard/contracts/events";
import { isRejection } from "@trainyard/kernel";
import { checkedPlace, placeText, readPlace } from "@trainyard/outbound";
import type { Backend } from "../../backend.ts";
import { type Caller, creatorOf } from "../../http/caller.ts";
import { notFound, Problem, problemOf } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import { withNamedWorkspace } from "../named-workspace.ts";
import { firstAtOrAfter } from "../first-at.ts";
import { apiLimits } from "../limits.ts";

export function subscriptionHandlers(backend: Backend) {
  return {
    createSubscription: (request, context) => create(backend, request, context),
    listSubscriptions: (request, context) => list(backend, request, context),
    getSubscription: ({ name }, context) => subscriptionOf(backend, name, context),
    changeSubscription: async (request, context) => {
      await requireSeen(backend, request.name, context);
      const named = await namedIn(backend, request, context);
      const { position } = await backend.command("feeds", "ChangeSubscription", named, context);
      return withSubscription(backend, request.name, position, context);
    },
    deleteSubscription: async ({ name }, context) => {
      await requireSeen(backend, name, context);
      const { position } = await backend.command("feeds", "DeleteSubscription", { name }, context);
      return { position: String(position) };
    },
    ackSubscription: async ({ name, position }, context) => {
      await requireSeen(backend, name, context);
      const { position: at, event } = await placeIn(backend, position);
      const request = { name, position: at, event };
      const stored = await backend.command("feeds", "AckSubscription", request, context);
      return { position: placeText(stored) };
    },
    adoptSubscription: async ({ name }, context) => {
      await requireSeen(backend, name, context);
      const reader = readerOf(context.caller);
      const request = { name, reader };
      const { position } = await backend.command("feeds", "AdoptSubscription", request, context);
      return withSubscription(backend, name, position, context);
    },
    disableSubscription: async ({ name, reason: given }, context) => {
      await requireSeen(backend, name, context);
      const reason = given === "" ? `disabled by ${context.caller.authid}` : given;
      const request = { name, reason };
      const { position } = await backend.command("feeds", "DisableSubscription", request, context);
      return withSubscription(backend, name, position, context);
    },
    enableSubscription: async ({ name }, context) => {
      await requireSeen(backend, name, context);
      const { position } = await backend.command("feeds", "EnableSubscription", { name }, context);
      return withSubscription(backend, name, position, context);
    },
    ...webhookHandlers(backend),
  } satisfies Partial<UnaryHandlers>;
}

function webhookHandlers(backend: Backend) {
  return {
    rotateSecret: async ({ name, secret, oldForMs = apiLimits.oldSecretMs }, context) => {
      await requireSeen(backend, name, context);
      if (!(oldForMs >= 0)) {
        throw new Problem(400, "invalid_request", "old_for_ms must be 0 or more");
      }
      const request = { name, secret, oldForMs };
      const rotated = await backend.command("feeds", "RotateSecret", request, context);
      return { ...rotated, position: String(rotated.position) };
    },
    testWebhook: async ({ name }, context) => {
      await requireSeen(backend, name, context);
      return attemptOf(await backend.command("feeds", "TestWebhook", { name }, context));
    },
    listDeliveries: async (request, context) => {
      await requireSeen(backend, request.name, context);
      const page = await backend.command("feeds", "ListDeliveries", request, context);
      const items = page.items.map(({ position, attempts, ...facts }) => ({
        ...facts,
        sequence: String(position),
        attempts: attempts.map(attemptOf),
      }));
      return { items, nextPageToken: page.nextPageToken, position: backend.position };
    },
    redeliverEvent: async ({ name, event }, context) => {
      await requireSeen(backend, name, context);
      const request = { name, event };
      const { position } = await backend.command("feeds", "RedeliverEvent", request, context);
      return { position: String(position) };
    },
  } satisfies Partial<UnaryHandlers>;
}

async function create(
  backend: Backend,
  request: RequestOf<"createSubscription">,
  context: RequestContext,
): Promise<ReplyOf<"createSubscription">> {
  const { name, delivery, expiresAfterMs, webhook } = request;
  if (delivery === "webhook" && (webhook?.url ?? "") === "") {
    throw new Problem(400, "invalid_request", "a webhook needs a URL");
  }
  if (delivery !== "webhook" && webhook !== undefined) {
    throw new Problem(400, "invalid_request", "only the delivery webhook has a URL");
  }
  const { filter } = await namedIn(backend, request, context);
  const settings = webhook?.settings ?? { format: "standard", logPattern: "", namedOnly: false };
  const made = await backend.command(
    "feeds",
    "CreateSubscription",
    {
      ...{ name, delivery },
      after: await startOf(backend, request),
      reader: readerOf(context.caller),
      ...(filter === undefined ? {} : { filter }),
      ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
      ...(webhook === undefined
        ? { url: "", headers: {}, secret: "" }
        : {
            ...{ url: webhook.url, headers: webhook.headers, secret: webhook.secret },
            webhook: { ...settings, format: settings.format || "standard" },
          }),
    },
    context,
  );
  const subscription = await subscriptionOf(backend, name, context);
  const answer = { position: String(made.position), subscription };
  if (delivery === "nats") return { ...answer, secret: "", nats: natsAccess(name, made.secret) };
  return { ...answer, secret: made.secret };
}

/** Returns the request with its filter's workspace as events name it. */
async function namedIn<Request extends { readonly filter?: Plain<EventFilter> | undefined }>(
  backend: Backend,
  request: Request,
  { rights }: RequestContext,
): Promise<Request> {
  const { filter } = request;
  if (filter === undefined) return request;
  return { ...request, filter: await withNamedWorkspace(backend, filter, rights) };
}

/** Returns the position after which a new subscription begins. */
async function startOf(
  backend: Backend,
  { after, fromMs }: RequestOf<"createSubscription">,
): Promise<number> {
  const { log } = backend.parts;
  if (fromMs !== undefined) {
    if (after !== "")
      throw new Problem(400, "invalid_request", "after and from_ms exclude each other");
    return (await firstAtOrAfter(log, fromMs)) - 1;
  }
  if (after === "" || after === "now") return log.head();
  return (await placeIn(backend, after)).position;
}

/** Returns the place of a text. Throws a Problem if it is none, or if the log does not have it. */
async function placeIn(backend: Backend, text: string) {
  const read = readPlace(text);
  if (isRejection(read)) throw problemOf(read);
  const place = await checkedPlace(backend.parts.log, read);
  if (isRejection(place)) throw problemOf(place);
  return place;
}

async function list(
  backend: Backend,
  { pageSize, pageToken, delivery }: RequestOf<"listSubscriptions">,
  context: RequestContext,
): Promise<ReplyOf<"listSubscriptions">> {
  const request = { pageSize, pageToken, delivery, name: "", ...seenBy(context) };
  const page = await backend.command("feeds", "ListSubscriptions", request, context);
  return {
    items: page.items.map(shownSubscription),
    nextPageToken: page.nextPageToken,
    position: backend.position,
  };
}

/**
 * The owner whose subscriptions the caller sees; empty for those of all owners. A limited token sees only those that it
 * made, or tokens that were created with it: others may have more rights than it.
 */
function seenBy({
  caller,
  rights,
}: RequestContext): Pick<Plain<ListSubscriptions>, "owner" | "tokenId"> {
  if (rights.everywhere("user_admin")) return { owner: "", tokenId: "" };
  const isLimited = caller.kind === "user" && caller.limits.length > 0;
  return { owner: creatorOf(caller), tokenId: isLimited ? caller.token : "" };
}

/** Throws a Problem of 404 if the caller sees no subscription of this name: only its creator and admins do. */
async function requireSeen(backend: Backend, name: string, context: RequestContext): Promise<void> {
  if (seenBy(context).owner !== "") await subscriptionOf(backend, name, context);
}

/** Returns the subscription. Throws a Problem of 404 if there is none of this name that the caller sees. */
export async function subscriptionOf(
  backend: Backend,
  name: string,
  context: RequestContext,
): Promise<Plain<Subscription>> {
  if (name === "") throw notFound("subscription", name);
  const request = { pageSize: 0, pageToken: "", delivery: "", name, ...seenBy(context) };
  const { items } = await backend.command("feeds", "ListSubscriptions", request, context);
  const [found] = items;
  if (found === undefined) throw notFound("subscription", name);
  return shownSubscription(found);
}

async function withSubscription(
  backend: Backend,
  name: string,
  position: number,
  context: RequestContext,
) {
  const subscription = await subscriptionOf(backend, name, context);
  return { position: String(position || backend.position), subscription };
}

/** Returns the names of the active subscriptions that stop with a token. */
export async function stoppingWith(
  backend: Backend,
  tokenId: string,
  context: RequestContext,
): Promise<readonly string[]> {
  const request = { pageSize: 0, pageToken: "", delivery: "", name: "", tokenId, owner: "" };
  const { items } = await backend.command("feeds", "ListSubscriptions", request, context);
  return items.filter(({ state }) => state !== "STOPPED").map(({ name }) => name);
}

/** A session counts as its token. */
function readerOf(caller: Caller): Plain<SubscriptionReader> {
  if (caller.kind !== "user" || caller.run !== null) {
    const detail = "a subscription belongs to a person's token, and this call has that of a run";
    throw new Problem(403, "forbidden", detail);
  }
  const { owner, token, ancestors, tokenExpiresAtMs = 0 } = caller;
  return { owner, tokenId: token, ancestors: [...ancestors], expiresAtMs: tokenExpiresAtMs };
}

function natsAccess(name: string, password: string): Plain<NatsAccess> {
  return {
    user: feedUserOf(name),
    password,
    subject: feedSubject(name),
    configuration: feedUserConfig(name, password),
  };
}

function shownSubscription(facts: Plain<SubscriptionFacts>): Plain<Subscription> {
  const { position, event, reader, webhook, url, headerNames, oldSecretUntilMs, waiting, ...rest } =
    facts;
  return {
    ...rest,
    owner: reader?.owner ?? "",
    token: reader?.tokenId ?? "",
    position: placeText({ position, event }),
    ...(webhook === undefined
      ? {}
      : {
          webhook: {
            ...{ settings: webhook, url, headers: headerNames, waiting },
            ...(oldSecretUntilMs === undefined ? {} : { oldSecretUntilMs }),
          },
        }),
  };
}

const attemptOf = (attempt: Plain<AttemptFacts>): ReplyOf<"testWebhook"> => attempt;
