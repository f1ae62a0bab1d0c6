/** The commands about what a webhook signs with, and about what it has been sent. */
import type { Plain } from "@trainyard/contracts";
import type {
  AttemptFacts,
  DeliveryFacts,
  DeliveryPage,
  ListDeliveries,
  RotateSecret,
  SecretRotated,
} from "@trainyard/contracts/commands";
import { newEventId } from "@trainyard/event-log";
import { isRejection, type Rejection, reject } from "@trainyard/kernel";
import { LeavingEvent } from "@trainyard/outbound";
import { type CommandContext, type CommandTable, type Executor } from "@trainyard/runtime";
import { feedsLimits } from "../../limits.ts";
import { subscriptions } from "../../streams.ts";
import { checkSecret } from "./checks.ts";
import {
  type Attempt,
  type Delivery,
  type DeliveryPlace,
  deliveryStates,
} from "./delivery-table.ts";
import type { WebhookFormats } from "./format.ts";
import { attemptOf, type OutboxDeps } from "./outbox.ts";
import { formatNamed } from "./post.ts";
import { testEvent } from "./test-event.ts";
import { gone } from "./webhook-room.ts";

export type WebhookDeps = {
  readonly executor: Executor;
  readonly webhook: Pick<OutboxDeps, "webhooks" | "deliveries" | "clock" | "epoch" | "post"> & {
    readonly formats: WebhookFormats;
    /** Called when a delivery of a webhook is due. */
    readonly wake: (name: string) => void;
  };
};

export function webhookCommands(deps: WebhookDeps) {
  const { deliveries, clock } = deps.webhook;
  return {
    RotateSecret: (request, context) => rotate(deps, request, context),
    TestWebhook: ({ name }) => sendTest(deps, name),
    ListDeliveries: (request) => list(deps, request),
    RedeliverEvent: async ({ name, event }) => {
      if (isEventId(event) && (await deliveries.again(name, event, clock.nowMs()))) {
        deps.webhook.wake(name);
        return { position: 0, stream: "" };
      }
      const detail = `the webhook ${JSON.stringify(name)} was not sent the event ${JSON.stringify(event)} in the last week`;
      return reject("not_found", detail);
    },
  } satisfies Partial<CommandTable<"feeds">>;
}

/** Stores the new secret before the rotation is recorded. A repeat of the command returns the same secret. */
async function rotate(
  { executor, webhook: { webhooks, formats, clock } }: WebhookDeps,
  { name, oldForMs, secret: given }: Plain<RotateSecret>,
  { identity, authid: by }: CommandContext,
): Promise<Plain<SecretRotated> | Rejection> {
  const { oldSecretMsMax: most } = feedsLimits;
  const present = await webhooks.find(name);
  if (present === undefined) return gone(name);
  if (!(oldForMs >= 0 && oldForMs <= most)) {
    return reject("invalid_request", "the old secret may sign for 0 ms up to 30 days");
  }
  const format = formatNamed(formats, present.format);
  const refused = checkSecret(format, given);
  if (refused !== null) return refused;
  const rotation = identity.commitId;
  if (present.rotation !== rotation) {
    const secret = given === "" ? format.newSecret() : given;
    await webhooks.rotate(name, { secret, oldUntilMs: clock.nowMs() + oldForMs, rotation });
  }
  const { secret = "", oldUntilMs } = (await webhooks.find(name)) ?? {};
  const command = { type: "RotateSecret", oldUntilMs: oldUntilMs ?? 0, by } as const;
  const result = await executor.execute(identity, async (work) => {
    const decided = await work.decide(subscriptions, name, command);
    return isRejection(decided) ? decided : undefined;
  });
  if (isRejection(result)) return result;
  return { position: result.position, secret, oldUntilMs: oldUntilMs ?? 0 };
}

/** Sends a test event, and waits only as long as the caller does. The attempt is not in the list of deliveries. */
async function sendTest(
  { webhook: { webhooks, clock, epoch, post } }: WebhookDeps,
  name: string,
): Promise<Plain<AttemptFacts> | Rejection> {
  const webhook = await webhooks.find(name);
  if (webhook === undefined) return gone(name);
  const { webhookTestMs } = feedsLimits;
  const atMs = clock.nowMs();
  const event = new LeavingEvent(testEvent(name, newEventId(), atMs), await epoch.current());
  const stop = new AbortController();
  using _timer = clock.timer(webhookTestMs, () => stop.abort());
  const posted = await post(webhook, event, stop.signal);
  const { signal } = stop;
  const error = signal.aborted
    ? `the receiver did not answer within ${webhookTestMs / 1_000} s`
    : posted.error;
  return shownAttempt(attemptOf(webhook, { ...posted, error }, atMs));
}

async function list(
  { webhook: { webhooks, deliveries } }: WebhookDeps,
  { name, state, pageSize, pageToken }: Plain<ListDeliveries>,
): Promise<Plain<DeliveryPage> | Rejection> {
  if ((await webhooks.find(name)) === undefined) return gone(name);
  if (state !== "" && !deliveryStates.includes(state)) {
    const detail = `"${state}" is not a state of a delivery: it is one of ${deliveryStates.join(", ")}`;
    return reject("invalid_request", detail);
  }
  const after = readPlace(pageToken);
  if (after !== undefined && isRejection(after)) return after;
  const { deliveriesPageMax: most } = feedsLimits;
  const size = pageSize === 0 ? most : Math.min(pageSize, most);
  const found = await deliveries.list(name, state, after, size + 1);
  const page = found.slice(0, size);
  const attempts = await deliveries.attempts(
    name,
    page.map(({ event }) => event),
  );
  const last = page.at(-1);
  return {
    items: page.map((one) => shownDelivery(one, attempts.get(one.event) ?? [])),
    nextPageToken: found.length > size && last !== undefined ? textOf(last) : "",
  };
}

const isEventId = (text: string): boolean => /^[0-9a-f-]{36}$/.test(text);

const textOf = ({ position, event }: DeliveryPlace): string => `${position}:${event}`;

function readPlace(token: string): DeliveryPlace | undefined | Rejection {
  if (token === "") return undefined;
  const [, position, event] = /^(\d{1,15}):([0-9a-f-]{36})$/.exec(token) ?? [];
  if (position === undefined || event === undefined) {
    return reject("invalid_request", "page_token is not one that a list has returned");
  }
  return { position: Number(position), event };
}

function shownDelivery(delivery: Delivery, attempts: readonly Attempt[]): Plain<DeliveryFacts> {
  const { event, type, subject, position, state, atMs } = delivery;
  return {
    ...{ event, type, subject, position, state },
    ...(state === "WAITING" ? { nextAtMs: atMs } : {}),
    attempts: attempts.map(shownAttempt),
  };
}

function shownAttempt({ status, ...attempt }: Attempt) {
  return { ...attempt, ...(status === null ? {} : { status }) };
}
