/** The commands about subscriptions, sent by the gateway. */
import type { Plain } from "@trainyard/contracts";
import type {
  AckSubscription,
  ChangeSubscription,
  CreateSubscription,
  SubscriptionAcknowledged,
  SubscriptionMade,
} from "@trainyard/contracts/commands";
import { SubscriptionDelivery, type SubscriptionReader } from "@trainyard/contracts/events";
import type { EventLog } from "@trainyard/event-log";
import { type Clock, isRejection, type Rejection, reject } from "@trainyard/kernel";
import { checkedPlace, readFilter } from "@trainyard/outbound";
import {
  accepted,
  type CommandContext,
  type CommandTable,
  type Executor,
  foldOf,
  type KeyedQueue,
  type Work,
} from "@trainyard/runtime";
import { noSubscription } from "../../core/subscription/evolve.ts";
import { isSubscriptionName } from "../../core/subscription/name.ts";
import type { SubscriptionCommand } from "../../core/subscription/commands.ts";
import { feedsLimits } from "../../limits.ts";
import { revoked, subscriptions } from "../../streams.ts";
import type { OperatorSink, Rooms } from "../dispatch/dispatcher.ts";
import type { Progress } from "../dispatch/progress.ts";
import type { Subscription, SubscriptionsView } from "../view/subscriptions-view.ts";
import { forget } from "./endings.ts";
import { listSubscriptions } from "./list.ts";

export type SubscriptionDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly executor: Executor;
  readonly subscriptions: SubscriptionsView;
  readonly progress: Progress;
  readonly rooms: Rooms;
  readonly operatorSinks: readonly OperatorSink[];
  /**
   * Creations and deletions of one name take turns. Two creations would otherwise store their secrets over each other,
   * and a deletion would forget those of the next subscription of the name.
   */
  readonly turns: KeyedQueue;
};

export function subscriptionCommands(deps: SubscriptionDeps) {
  return {
    CreateSubscription: (request, context) =>
      deps.turns.run(request.name, () => create(deps, request, context)),
    ChangeSubscription: (request, context) => change(deps, request, context),
    AckSubscription: (request) => acknowledge(deps, request),
    ListSubscriptions: (request) => listSubscriptions(deps, request),
    AdoptSubscription: async ({ name, reader }, context) => {
      if (reader === undefined) return reject("invalid_request", "reader is missing");
      return accepted(
        await deps.executor.execute(context.identity, async (work) => {
          const problem = await endedToken(work, reader);
          return problem ?? rejectionOf(work, name, { type: "Adopt", reader });
        }),
      );
    },
    DisableSubscription: ({ name, reason }, context) =>
      decide(deps, name, { type: "Disable", reason, by: context.authid }, context),
    EnableSubscription: ({ name }, context) =>
      decide(deps, name, { type: "Enable", by: context.authid }, context),
    DeleteSubscription: ({ name }, context) =>
      deps.turns.run(name, async () => {
        if ((await stateOf(deps, name)) === null) return notFound(name);
        const reason = `deleted by ${context.authid}`;
        const command = { type: "Delete", reason, by: context.authid } as const;
        const done = await decide(deps, name, command, context);
        if (!isRejection(done)) await forget(deps, name);
        return done;
      }),
  } satisfies Partial<CommandTable<"feeds">>;
}

const deliveries: Readonly<Record<string, SubscriptionDelivery>> = {
  pull: SubscriptionDelivery.PULL,
  nats: SubscriptionDelivery.NATS,
  webhook: SubscriptionDelivery.WEBHOOK,
};

async function create(
  deps: SubscriptionDeps,
  request: Plain<CreateSubscription>,
  { identity }: CommandContext,
): Promise<Plain<SubscriptionMade> | Rejection> {
  const { name, filter, after, reader, expiresAfterMs, webhook } = request;
  const delivery = deliveries[request.delivery];
  const repeated = await repeatOf(deps, request, identity.commitId);
  if (repeated !== null) return repeated;
  const problem = await problemOf(deps, request, delivery);
  if (problem !== null) return problem;
  if (reader === undefined || delivery === undefined) {
    return reject("invalid_request", "reader and delivery are missing");
  }
  const command: SubscriptionCommand = {
    type: "Create",
    ...{ delivery, after, reader },
    ...(filter === undefined ? {} : { filter }),
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
    ...(webhook === undefined ? {} : { webhook }),
  };
  // A refused creation must not leave secrets behind.
  const decided = subscriptions.decider.decide(noSubscription, command);
  if (isRejection(decided)) return decided;
  const room =
    delivery === SubscriptionDelivery.PULL ? null : deps.rooms[request.delivery as keyof Rooms];
  const prepared = (await room?.prepare(request, identity.commitId)) ?? { secret: "" };
  if (isRejection(prepared)) return prepared;
  const result = await deps.executor.execute(identity, async (work) => {
    const ended = await endedToken(work, reader);
    if (ended !== undefined) return ended;
    return rejectionOf(work, name, command);
  });
  return isRejection(result) ? result : { position: result.position, secret: prepared.secret };
}

/** Returns the first answer if this commit has created the subscription already; null otherwise. */
async function repeatOf(
  deps: SubscriptionDeps,
  request: Plain<CreateSubscription>,
  commitId: string,
): Promise<Plain<SubscriptionMade> | Rejection | null> {
  if ((await stateOf(deps, request.name)) === null) return null;
  const found = await ofView(deps, request.name);
  if (found === undefined) return null;
  const [created] = await deps.log.readAll(found.life - 1, 1);
  if (created?.commitId !== commitId) return null;
  const room = found.delivery === "pull" ? null : deps.rooms[found.delivery];
  const prepared = (await room?.prepare(request, commitId)) ?? { secret: "" };
  return isRejection(prepared) ? prepared : { position: found.life, secret: prepared.secret };
}

/** Checks what the stream of the subscription cannot know. */
async function problemOf(
  deps: SubscriptionDeps,
  { name, filter, webhook }: Plain<CreateSubscription>,
  delivery: SubscriptionDelivery | undefined,
): Promise<Rejection | null> {
  if (!isSubscriptionName(name)) {
    const detail =
      "a subscription's name has 1 to 63 lower-case letters, digits, hyphens and underscores, and begins with a letter or digit";
    return reject("invalid_request", detail);
  }
  if (deps.operatorSinks.some((sink) => sink.name === name)) {
    return reject("subscription_exists", `${name} is a sink that the operator has set up`);
  }
  if (delivery === undefined) {
    return reject("invalid_request", "delivery is pull, nats or webhook");
  }
  if (webhook !== undefined && delivery !== SubscriptionDelivery.WEBHOOK) {
    return reject("not_a_webhook", "only the delivery webhook has settings of a webhook");
  }
  const read = filter === undefined ? null : readFilter(filter);
  if (read !== null && isRejection(read)) return read;
  // The check comes before the secrets are stored, which would replace those of the present subscription.
  if ((await stateOf(deps, name)) !== null) {
    const detail = `there is a subscription ${name} already: choose another name, or delete it if it is yours`;
    return reject("subscription_exists", detail);
  }
  const { subscriptionsMax: most } = feedsLimits;
  if ((await deps.subscriptions.list()).length >= most) {
    return reject("too_many_subscriptions", `a cluster has at most ${most} subscriptions`);
  }
  return patternsProblem(deps, name, webhook);
}

/** Every log line is compared with the patterns of all webhooks, so their number is limited. */
async function patternsProblem(
  deps: SubscriptionDeps,
  name: string,
  webhook: Plain<CreateSubscription>["webhook"],
): Promise<Rejection | null> {
  if ((webhook?.logPattern ?? "") === "") return null;
  const { logPatternsMax: most } = feedsLimits;
  const others = (await deps.subscriptions.list()).filter(
    (one) => one.name !== name && (one.webhook?.logPattern ?? "") !== "",
  );
  if (others.length < most) return null;
  const detail = `a cluster has at most ${most} webhooks with a log pattern`;
  return reject("too_many_log_patterns", detail);
}

async function change(
  deps: SubscriptionDeps,
  request: Plain<ChangeSubscription>,
  context: CommandContext,
) {
  const { name, filter, expiresAfterMs, webhook, url, headers } = request;
  const state = await stateOf(deps, name);
  if (state === null) return notFound(name);
  const read = filter === undefined ? null : readFilter(filter);
  if (read !== null && isRejection(read)) return read;
  const tooMany = await patternsProblem(deps, name, webhook);
  if (tooMany !== null) return tooMany;
  const destinationChanged = url !== "" || Object.keys(headers).length > 0;
  const command: SubscriptionCommand = {
    type: "Change",
    destinationChanged,
    ...(filter === undefined ? {} : { filter }),
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
    ...(webhook === undefined ? {} : { webhook }),
  };
  // A refused change must not leave the new URL behind.
  const decided = subscriptions.decider.decide(state, command);
  if (isRejection(decided)) return decided;
  if (state.delivery === SubscriptionDelivery.WEBHOOK) {
    const problem = await deps.rooms.webhook.change(request);
    if (problem !== undefined) return problem;
  }
  return decide(deps, name, command, context);
}

/** Moves the acknowledged place of a pull subscription forward. */
async function acknowledge(
  deps: SubscriptionDeps,
  { name, position, event }: Plain<AckSubscription>,
): Promise<Plain<SubscriptionAcknowledged> | Rejection> {
  const found = await ofView(deps, name);
  if (found === undefined) return notFound(name);
  if (found.delivery !== "pull") {
    return reject(
      "not_pulled",
      `${name} is acknowledged by its deliveries: only a pull subscription is acknowledged by a call`,
    );
  }
  if (found.stopped !== null)
    return reject("subscription_stopped", `${name} has stopped: ${found.stopped}`);
  const place = await checkedPlace(deps.log, { position, event });
  if (isRejection(place)) return place;
  return deps.progress.acknowledge(found, place);
}

/** Returns the subscription of the view, which may be a little behind a creation. */
async function ofView(
  { subscriptions: known, log }: SubscriptionDeps,
  name: string,
): Promise<Subscription | undefined> {
  const [found] = name === "" ? [] : await known.list(name);
  if (found !== undefined || name === "") return found;
  await known.view.reach(await log.head());
  return (await known.list(name))[0];
}

async function decide(
  { executor }: SubscriptionDeps,
  name: string,
  command: SubscriptionCommand,
  { identity }: CommandContext,
) {
  return accepted(await executor.execute(identity, (work) => rejectionOf(work, name, command)));
}

async function rejectionOf(
  work: Work,
  name: string,
  command: SubscriptionCommand,
): Promise<Rejection | undefined> {
  if (!isSubscriptionName(name)) return notFound(name);
  const decided = await work.decide(subscriptions, name, command);
  return isRejection(decided) ? decided : undefined;
}

/** Returns a rejection if the token, or one that it descends from, was revoked meanwhile. */
async function endedToken(
  work: Work,
  { tokenId, ancestors }: Plain<SubscriptionReader>,
): Promise<Rejection | undefined> {
  for (const id of [tokenId, ...ancestors].filter((one) => one !== "")) {
    if (await work.guard(revoked, id))
      return reject("token_revoked", `the token ${id} was revoked`);
  }
  return undefined;
}

async function stateOf({ executor }: SubscriptionDeps, name: string) {
  if (!isSubscriptionName(name)) return null;
  const { state } = await executor.cache.load(foldOf(subscriptions), name);
  return state.isThere ? state : null;
}

export const notFound = (name: string): Rejection =>
  reject("subscription_not_found", `there is no subscription ${JSON.stringify(name)}`);
