/** The commands about webhooks: subscriptions that are delivered to a URL. */
import type { Plain } from "@trainyard/contracts";
import {
  CreateSubscriptionResponseSchema,
  type Delivery,
  type DeliveryAttempt,
  DeliveryAttemptSchema,
  ListDeliveriesResponseSchema,
  RotateSecretResponseSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { collect, millisecondsOf, wholeNumberOf } from "../option-values.ts";
import { time } from "../output.ts";
import { allPages } from "../pages.ts";
import { Failure, UsageError } from "../usage-error.ts";
import { addFilterOptions, type FilterOptions, filterOf } from "./event-filter.ts";
import {
  addSharedCommands,
  addStartOptions,
  type StartOptions,
  startOf,
} from "./subscription-shared.ts";

type CreateOptions = FilterOptions &
  StartOptions & {
    readonly format: string;
    readonly header?: readonly string[];
    readonly namedOnly?: boolean;
    readonly secret?: string;
  };

export function addWebhookCommands(program: Command): void {
  const group = program
    .command("webhook")
    .description("events that are sent to a URL: subscriptions with this delivery");
  const create = group
    .command("create")
    .argument("<name>", "lower-case letters, digits, hyphens and underscores")
    .argument("<url>", "where to send the events; it is stored as a secret")
    .option("--format <name>", "standard, slack, discord or determined", "standard")
    .option("--header <name:value>", "a header to send; may be repeated", collect)
    .option("--named-only", "only for experiments that name it in integrations.webhooks")
    .option("--secret <text>", "the signing secret; by default one is drawn");
  addStartOptions(addFilterOptions(create))
    .description("a new webhook; its signing secret is shown once")
    .action(withPlatform<CreateOptions>(createWebhook));
  addSharedCommands(group, "webhook");
  group
    .command("test")
    .argument("<name>")
    .description("send a test event at once, and show the answer")
    .action(withPlatform(test));
  group
    .command("rotate")
    .argument("<name>")
    .option("--old-for <duration>", "how long the old secret signs, too", "1d")
    .description("a new signing secret; the old one signs beside it for a while")
    .action(withPlatform<{ oldFor: string }>(rotate));
  group
    .command("deliveries")
    .argument("<name>")
    .option("--state <state>", "WAITING, DELIVERED or FAILED", "")
    .option("--limit <count>", "maximum number of events", "50")
    .description("what was sent in the last week, newest first")
    .action(withPlatform<{ state: string; limit: string }>(deliveries));
  group
    .command("redeliver")
    .argument("<name>")
    .argument("<event>", "the event's id")
    .description("send an event once more, with the same webhook-id")
    .action(
      withPlatform(async ({ client, output }, args) => {
        const request = { name: argument(args, 0), event: argument(args, 1) };
        await client.call("redeliverEvent", request);
        output.note(`event ${request.event} is sent again`);
      }),
    );
}

async function createWebhook(
  { client, output }: Context,
  args: readonly string[],
  options: CreateOptions,
): Promise<void> {
  const [name, url] = [argument(args, 0), argument(args, 1)];
  const { format, namedOnly = false, secret = "" } = options;
  const answer = await client.call("createSubscription", {
    ...{ name, delivery: "webhook", filter: filterOf(options) },
    ...startOf(options),
    webhook: {
      ...{ url, secret, headers: headersOf(options.header ?? []) },
      settings: { format, logPattern: "", namedOnly },
    },
  });
  if (output.json) {
    output.message(CreateSubscriptionResponseSchema, answer);
    return;
  }
  if (answer.secret === "") output.note(`webhook ${name} is created`);
  else {
    output.note(`webhook ${name} is created; its signing secret is not shown again:`);
    output.line(answer.secret);
  }
}

function headersOf(given: readonly string[]): Record<string, string> {
  const pairs = given.map((text) => {
    const at = text.indexOf(":");
    if (at < 1) throw new UsageError("--header takes NAME:VALUE, Authorization:… for example.");
    return [text.slice(0, at).trim(), text.slice(at + 1).trim()] as const;
  });
  return Object.fromEntries(pairs);
}

async function test({ client, output }: Context, args: readonly string[]): Promise<void> {
  const attempt = await client.call("testWebhook", { name: argument(args, 0) });
  if (output.json) output.message(DeliveryAttemptSchema, attempt);
  else output.line(attemptLine(attempt));
  const { status = 0 } = attempt;
  if (status < 200 || status > 299) throw new Failure("The webhook did not take the test event.");
}

async function rotate(
  { client, output }: Context,
  args: readonly string[],
  { oldFor }: { readonly oldFor: string },
): Promise<void> {
  const oldForMs = oldFor === "0" ? 0 : millisecondsOf("--old-for", oldFor);
  const answer = await client.call("rotateSecret", { name: argument(args, 0), oldForMs });
  if (output.json) {
    output.message(RotateSecretResponseSchema, answer);
    return;
  }
  output.note(
    `the old secret signs, too, until ${time(answer.oldUntilMs)} UTC; the new one is not shown again:`,
  );
  output.line(answer.secret);
}

async function deliveries(
  { client, output }: Context,
  args: readonly string[],
  { state, limit }: { readonly state: string; readonly limit: string },
): Promise<void> {
  const name = argument(args, 0);
  const page = await allPages(
    (start) => client.call("listDeliveries", { name, state, ...start }),
    wholeNumberOf("--limit", limit, 1),
  );
  if (output.json) {
    output.message(ListDeliveriesResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "EVENT", value: ({ event }) => event },
    { title: "TYPE", value: ({ type }) => type.split(".")[3] ?? type },
    { title: "OF", value: ({ subject }) => subject },
    { title: "STATE", value: stateOf },
    { title: "ATTEMPTS", value: ({ attempts }) => String(attempts.length), right: true },
    { title: "LATEST", value: ({ attempts: [latest] }) => attemptLine(latest) },
  ]);
}

const stateOf = ({ state, nextAtMs }: Plain<Delivery>): string =>
  nextAtMs === undefined ? state : `${state} until ${time(nextAtMs)}`;

function attemptLine(attempt: Plain<DeliveryAttempt> | undefined): string {
  if (attempt === undefined) return "";
  const { status, error, answer, tookMs } = attempt;
  if (status === undefined) return error;
  return `${status} in ${Math.round(tookMs)} ms${answer === "" ? "" : `: ${answer}`}`;
}
