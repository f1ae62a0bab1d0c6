/**
 * The selection of the events that a subscription gets. A webhook with a trigger gets the triggers of its own, and
 * other events only if its filter names some. The filter's experiment, workspace and label restrict both.
 */
import type { Plain } from "@trainyard/contracts";
import type { WebhookSettings } from "@trainyard/contracts/events";
import {
  type Filter,
  isInScope,
  type LeavingEvent,
  matches,
  namesEvents,
  needsFacts,
} from "@trainyard/outbound";
import { admits, subjectOf, triggers } from "../../core/triggers.ts";
import type { Facts, Subscription } from "../view/subscriptions-view.ts";

/** Whether the answer depends on the experiments of the events. A webhook may be left out by their configurations. */
export function factsNeeded({ webhook }: Subscription, filter: Filter): boolean {
  return webhook !== null || needsFacts(filter);
}

export function selectedBy(
  { name, webhook }: Pick<Subscription, "name" | "webhook">,
  filter: Filter,
  event: LeavingEvent,
  facts: ReadonlyMap<string, Facts>,
): boolean {
  const subject = subjectOf(event);
  const known = facts.get(subject);
  if (webhook === null) return matches(filter, event, known);
  const isTriggered = triggers(name, event);
  if (isTriggered !== null) {
    return isTriggered && mayTrigger({ name, webhook }, filter, subject, known);
  }
  if (hasTrigger(webhook) && !namesEvents(filter)) return false;
  return matches(filter, event, known) && admits(name, webhook.namedOnly, known?.webhooks ?? null);
}

/** Whether the runs of an experiment or task may trigger a webhook. `facts` are its own. */
export function mayTrigger(
  { name, webhook }: Pick<Subscription, "name" | "webhook">,
  filter: Filter,
  subject: string,
  facts: Facts | undefined,
): boolean {
  const namedOnly = webhook?.namedOnly === true;
  return isInScope(filter, subject, facts) && admits(name, namedOnly, facts?.webhooks ?? null);
}

const hasTrigger = ({ logPattern, queueWaitMs }: Plain<WebhookSettings>): boolean =>
  logPattern !== "" || queueWaitMs !== undefined;
