import { SubscriptionDelivery } from "@trainyard/contracts/events";
import { type Decider, type Rejection, reject } from "@trainyard/kernel";
import { feedsLimits } from "../../limits.ts";
import { isBehind } from "../queue-place.ts";
import type { SubscriptionCommand } from "./commands.ts";
import { evolve, noSubscription } from "./evolve.ts";
import type { SubscriptionEvent, SubscriptionState } from "./state.ts";

export const subscriptionDecider: Decider<
  SubscriptionState,
  SubscriptionCommand,
  SubscriptionEvent
> = { initial: noSubscription, decide, evolve };

function decide(
  state: SubscriptionState,
  command: SubscriptionCommand,
): readonly SubscriptionEvent[] | Rejection {
  if (command.type === "Create") return create(state, command);
  if (!state.isThere) {
    const isFollowUp = command.type === "Delete" || command.type === "NoteQueueWait";
    return isFollowUp ? [] : reject("subscription_not_found", "there is no such subscription");
  }
  switch (command.type) {
    case "Change":
      return change(state, command);
    case "Stop": {
      const { tokenId, reason } = command;
      return state.isStopped ? [] : [{ type: "SubscriptionStopped", data: { tokenId, reason } }];
    }
    case "Adopt":
      return [{ type: "SubscriptionAdopted", data: { reader: command.reader } }];
    case "Disable": {
      const { reason, by } = command;
      return state.isDisabled ? [] : [{ type: "SubscriptionDisabled", data: { reason, by } }];
    }
    case "Enable":
      return state.isDisabled ? [{ type: "SubscriptionEnabled", data: { by: command.by } }] : [];
    case "RotateSecret": {
      if (state.delivery !== SubscriptionDelivery.WEBHOOK) return onlyWebhooks();
      const { oldUntilMs, by } = command;
      return [{ type: "SubscriptionSecretRotated", data: { oldUntilMs, by } }];
    }
    case "Delete":
      return [{ type: "SubscriptionDeleted", data: { reason: command.reason, by: command.by } }];
    case "NoteQueueWait": {
      const { type: _type, ...data } = command;
      return isBehind(data, state.lastWait) ? [{ type: "QueueWaitExceeded", data }] : [];
    }
  }
}

function create(
  { isThere }: SubscriptionState,
  command: Extract<SubscriptionCommand, { type: "Create" }>,
): readonly SubscriptionEvent[] | Rejection {
  if (isThere) {
    const detail =
      "a subscription has this name already; if the answer with its secret was lost, rotate the secret, or delete the subscription and create it again";
    return reject("subscription_exists", detail);
  }
  const problem = expiryProblem(command.expiresAfterMs);
  if (problem !== null) return problem;
  const { type: _type, ...data } = command;
  return [{ type: "SubscriptionCreated", data }];
}

function change(
  { settings, delivery }: SubscriptionState,
  command: Extract<SubscriptionCommand, { type: "Change" }>,
): readonly SubscriptionEvent[] | Rejection {
  const isWebhook = delivery === SubscriptionDelivery.WEBHOOK;
  if (!isWebhook && (command.webhook !== undefined || command.destinationChanged)) {
    return onlyWebhooks();
  }
  const { expiresAfterMs: expires = settings.expiresAfterMs } = command;
  const problem = expires === 0 ? null : expiryProblem(expires);
  if (problem !== null) return problem;
  const { filter = settings.filter, webhook = settings.webhook, destinationChanged } = command;
  const data = {
    ...(filter === undefined ? {} : { filter }),
    ...(expires === undefined || expires === 0 ? {} : { expiresAfterMs: expires }),
    ...(webhook === undefined ? {} : { webhook }),
    destinationChanged,
  };
  return [{ type: "SubscriptionChanged", data }];
}

function expiryProblem(expiresAfterMs: number | undefined): Rejection | null {
  const { expiresAfterMsMin: least } = feedsLimits;
  if (expiresAfterMs === undefined || expiresAfterMs >= least) return null;
  return reject("invalid_request", "expires_after_ms must be a minute or more");
}

const onlyWebhooks = (): Rejection =>
  reject("not_a_webhook", "the subscription is not a webhook, so it has no URL, headers or secret");
