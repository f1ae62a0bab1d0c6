/** The commands about subscriptions. Those about webhooks are the same, with what a webhook has in addition. */
import { CreateSubscriptionResponseSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { addFilterOptions, type FilterOptions, filterOf } from "./event-filter.ts";
import {
  addSharedCommands,
  addStartOptions,
  type StartOptions,
  startOf,
} from "./subscription-shared.ts";
import { addWebhookCommands } from "./webhook.ts";

export function addSubscriptionCommands(program: Command): void {
  const group = program
    .command("subscription")
    .alias("sub")
    .description("named readers of the events, whose place the platform keeps");
  const create = group
    .command("create")
    .argument("<name>", "lower-case letters, digits, hyphens and underscores")
    .option("--nats", "deliver over NATS, instead of to readers of the stream");
  addStartOptions(addFilterOptions(create))
    .description("a new subscription, which begins with the next event unless you say more")
    .action(withPlatform<CreateOptions>(createSubscription));
  addSharedCommands(group, "");
  group
    .command("ack")
    .argument("<name>")
    .argument("<position>", "an id of the stream of events, or a log position")
    .description("acknowledge a pull subscription's events up to this one")
    .action(
      withPlatform(async ({ client, output }, args) => {
        const request = { name: argument(args, 0), position: argument(args, 1) };
        const { position } = await client.call("ackSubscription", request);
        output.note(`${request.name} is acknowledged up to ${position}`);
      }),
    );
  addWebhookCommands(program);
}

type CreateOptions = FilterOptions & StartOptions & { readonly nats?: boolean };

async function createSubscription(
  { client, output }: Context,
  args: readonly string[],
  options: CreateOptions,
): Promise<void> {
  const name = argument(args, 0);
  const delivery = options.nats === true ? "nats" : "pull";
  const request = { name, delivery, filter: filterOf(options), ...startOf(options) };
  const answer = await client.call("createSubscription", request);
  if (output.json) {
    output.message(CreateSubscriptionResponseSchema, answer);
    return;
  }
  const { nats } = answer;
  if (nats === undefined) {
    output.note(`subscription ${name} is created: yard events --subscription ${name} reads it`);
    return;
  }
  output.note(`subscription ${name} is created; its password is not shown again:`);
  output.fields([
    ["user", nats.user],
    ["password", nats.password],
    ["subject", nats.subject],
  ]);
  output.note(
    "An embedded cluster's server knows the user in a moment. If you run the server yourself, add to authorization.users:",
  );
  output.line(nats.configuration);
}
