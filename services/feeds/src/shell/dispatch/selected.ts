/** The selection of the events that a subscription gets. */
import type { Plain } from "@trainyard/contracts";
import type { WebhookSettings } from "@trainyard/contracts/events";
import {
  type Filter,
  type LeavingEvent,
  matches,
  mayRead,
  needsFacts,
  selectsAll,
} from "@trainyard/outbound";
import { admits, triggers } from "../../core/triggers.ts";
import type { Facts, Subscription } from "../view/subscriptions-view.ts";

/** Whether the answer depends on the experiments of the events. A webhook may be left out by their configurations. */
export function factsNeeded({ webhook }: Subscription, filter: Filter): boolean {
  return webhook !== null || needsFacts(filter);
}

export function selectedBy(
  { name, webhook, reader }: Subscription,
  filter: Filter,
  event: LeavingEvent,
  facts: ReadonlyMap<string, Facts>,
): boolean {
  const known = facts.get(event.experiment);
  if (!mayRead(reader, event, known)) return false;
  if (webhook === null) return matches(filter, event, known);
  const isTriggered =
    triggers(name, event) ?? (!isEmpty(filter, webhook) && matches(filter, event, known));
  return isTriggered && admits(name, webhook.namedOnly, known?.webhooks ?? null);
}

/** Whether the webhook has a trigger and no filter, which would select every event. */
function isEmpty(filter: Filter, { logPattern, queueWaitMs }: Plain<WebhookSettings>): boolean {
  return (logPattern !== "" || queueWaitMs !== undefined) && selectsAll(filter);
}
