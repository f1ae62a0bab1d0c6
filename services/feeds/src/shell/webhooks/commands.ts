import { reject } from "@trainyard/kernel";
import type { CommandTable } from "@trainyard/runtime";

export type WebhookDeps = object;

const soon = async () => reject("not_built", "webhooks are not built yet");

export function webhookCommands(_deps: WebhookDeps) {
  return {
    RotateSecret: soon,
    TestWebhook: soon,
    ListDeliveries: soon,
    RedeliverEvent: soon,
  } satisfies Partial<CommandTable<"feeds">>;
}
