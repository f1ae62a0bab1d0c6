/** The commands of feeds: those about subscriptions, and those about what webhooks have been sent. */
import type { CommandTable } from "@trainyard/runtime";
import { type SubscriptionDeps, subscriptionCommands } from "./subscriptions/commands.ts";
import { type WebhookDeps, webhookCommands } from "./webhooks/commands.ts";

export function commandTable(deps: SubscriptionDeps & WebhookDeps): CommandTable<"feeds"> {
  return { ...subscriptionCommands(deps), ...webhookCommands(deps) };
}
