/** The commands about subscriptions. Webhooks are subscriptions: their group has the same verbs, and its own. */
import { randomUUID } from "node:crypto";
import type { Plain, ReplyOf } from "@trainyard/contracts";
import {
  AckSubscriptionResponseSchema,
  CreateSubscriptionResponseSchema,
  ListSubscriptionsResponseSchema,
  type Subscription,
  SubscriptionResponseSchema,
  SubscriptionSchema,
} from "@trainyard/contracts/api";
import { type Command, Option } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { durationText, time } from "../output.ts";
import { allPages } from "../pages.ts";
import { UsageError } from "../usage-error.ts";
import {
  addFilterOptions,
  addStartOptions,
  addWebhookOptions,
  changesSettings,
  type ExpiryOptions,
  expiryOf,
  type FilterOptions,
  filterOf,
  headersOf,
  type SecretOptions,
  secretOf,
  settingsOf,
  type StartOptions,
  startOf,
  type WebhookOptions,
} from "./subscription-options.ts";
import { addWebhookVerbs } from "./webhook-verbs.ts";

type Noun = "subscription" | "webhook";
type CreateOptions = FilterOptions &
  StartOptions &
  ExpiryOptions &
  WebhookOptions &
  SecretOptions & { readonly delivery?: string };
type SetOptions = FilterOptions & ExpiryOptions & WebhookOptions & { readonly allEvents?: boolean };

export function addSubscriptionCommands(program: Command): void {
  const group = program
    .command("subscription")
    .description("named readers of the events, whose position the platform keeps");
  addCreate(group, "subscription");
  addVerbs(group, "subscription");
  group
    .command("ack")
    .argument("<subscription>")
    .argument("<place>", "the id of the last event that need not come again")
    .description("move the acknowledged position of a pull subscription forward")
    .action(withPlatform(acknowledge));
  const webhook = program
    .command("webhook")
    .description("subscriptions whose events are sent to a URL");
  addCreate(webhook, "webhook");
  addVerbs(webhook, "webhook");
  addWebhookVerbs(webhook);
}

function addCreate(group: Command, noun: Noun): void {
  const create = addStartOptions(addFilterOptions(group.command("create").argument(`<${noun}>`)));
  create.option(
    "--expires-after <duration>",
    "delete it if nothing was acknowledged for 10m, 2h, 7d",
  );
  if (noun === "webhook") {
    addWebhookOptions(create.argument("<url>", "where the events are sent"))
      .option("--secret-file <path>", "a file with the signing secret; one is drawn if absent")
      .description("a new webhook; its signing secret is shown once");
  } else {
    create
      .addOption(
        new Option("--delivery <way>", "pull: a program asks; nats: it listens on a NATS subject")
          .choices(["pull", "nats"])
          .default("pull"),
      )
      .description("a new subscription");
  }
  create.action(withPlatform<CreateOptions>(createOf(noun)));
}

function addVerbs(group: Command, noun: Noun): void {
  const named = (verb: string): Command => group.command(verb).argument(`<${noun}>`);
  group
    .command("list")
    .alias("ls")
    .description(`all ${noun}s`)
    .action(withPlatform(listOf(noun)));
  named("show").description(`one ${noun}`).action(withPlatform(show));
  const set = addFilterOptions(named("set"))
    .option("--all-events", "remove the filter")
    .option("--expires-after <duration>", "a new expiry: 10m, 2h, 7d, or never");
  if (noun === "webhook") addWebhookOptions(set).option("--url <url>", "a new URL");
  set
    .description("change it; a filter option replaces the whole filter, and what is absent stays")
    .action(withPlatform<SetOptions>(change));
  named("delete")
    .alias("rm")
    .description(`delete the ${noun} and its position`)
    .action(withPlatform(remove));
  named("adopt")
    .description("continue it with your token, after its own token ended")
    .action(withPlatform(adopt));
  named("disable")
    .option("--reason <text>", "why", "")
    .description("deliver nothing until it is enabled; its position stays")
    .action(withPlatform<{ reason: string }>(disable));
  named("enable").description("deliver again, from its position").action(withPlatform(enable));
}

const once = () => ({ idempotencyKey: randomUUID() });

const createOf =
  (noun: Noun) =>
  async (
    { client, output }: Context,
    args: readonly string[],
    options: CreateOptions,
  ): Promise<void> => {
    const isWebhook = noun === "webhook";
    const webhook = isWebhook
      ? {
          webhook: {
            ...{ settings: settingsOf(options), url: argument(args, 1) },
            ...{ headers: headersOf(options), secret: secretOf(options) },
          },
        }
      : {};
    const [start, expiry] = [startOf(options), expiryOf(options)];
    const filter = filterOf(options);
    const answer = await client.call("createSubscription", {
      ...{
        name: argument(args, 0),
        delivery: isWebhook ? "webhook" : (options.delivery ?? "pull"),
      },
      ...(filter === null ? {} : { filter }),
      ...start,
      ...expiry,
      ...webhook,
    });
    if (output.json) output.message(CreateSubscriptionResponseSchema, answer);
    else tellCreated(output, noun, argument(args, 0), answer);
  };

/** Prints a secret to stdout alone, so that a program can store it. */
function tellCreated(
  output: Context["output"],
  noun: Noun,
  name: string,
  { subscription, secret, nats }: ReplyOf<"createSubscription">,
): void {
  output.note(`created ${noun} ${name}, which begins after ${subscription?.position ?? "now"}`);
  if (nats !== undefined) {
    output.note(
      `the password of its NATS user is not shown again; its subject is ${nats.subject}:`,
    );
    output.fields([
      ["user", nats.user],
      ["password", nats.password],
      ["subject", nats.subject],
      ["configuration", nats.configuration],
    ]);
  }
  if (secret === "") return;
  output.note("its signing secret is not shown again:");
  output.line(secret);
}

const listOf =
  (noun: Noun) =>
  async ({ client, output }: Context): Promise<void> => {
    const delivery = noun === "webhook" ? noun : "";
    const page = await allPages((start) =>
      client.call("listSubscriptions", { delivery, ...start }),
    );
    if (output.json) {
      output.message(ListSubscriptionsResponseSchema, page);
      return;
    }
    output.table(page.items, [
      { title: noun.toUpperCase(), value: ({ name }) => name },
      noun === "webhook"
        ? { title: "URL", value: ({ webhook }) => webhook?.url ?? "" }
        : { title: "DELIVERY", value: ({ delivery: way }) => way },
      { title: "STATE", value: ({ state }) => state },
      { title: "OWNER", value: ({ owner }) => owner },
      { title: "LAG", value: ({ lagEvents }) => String(lagEvents), right: true },
      { title: "ACKNOWLEDGED", value: (one) => time(one.acknowledgedAtMs) },
      { title: "", value: ({ reason, lastError }) => reason || lastError },
    ]);
  };

async function show({ client, output }: Context, args: readonly string[]): Promise<void> {
  const found = await client.call("getSubscription", { name: argument(args, 0) });
  output.show(SubscriptionSchema, found, () => fieldsOf(found));
}

function fieldsOf(one: Plain<Subscription>): readonly (readonly [string, string])[] {
  const { filter, webhook, lagEvents, lagSeconds, expiresAfterMs } = one;
  const { settings } = webhook ?? {};
  const wait = settings?.queueWaitMs;
  return [
    ["name", one.name],
    ["delivery", one.delivery],
    ["state", one.state],
    ["reason", one.reason],
    ["owner", one.owner],
    ["token", one.token],
    ["created", time(one.createdAtMs)],
    ["types", (filter?.types ?? []).join(", ")],
    ["object", [filter?.object ?? "", filter?.id ?? ""].join(" ").trim()],
    ["experiment", filter?.experiment ?? ""],
    ["workspace", filter?.workspace ?? ""],
    ["label", filter?.label ?? ""],
    ["where", (filter?.where ?? []).join(", ")],
    ["position", one.position],
    ["acknowledged", time(one.acknowledgedAtMs)],
    ["lag", `${lagEvents} events, ${durationText(lagSeconds * 1_000)}`],
    ["expires after", expiresAfterMs ? durationText(expiresAfterMs) : ""],
    ["url", webhook?.url ?? ""],
    ["headers", (webhook?.headers ?? []).join(", ")],
    ["format", settings?.format ?? ""],
    ["log pattern", settings?.logPattern ?? ""],
    ["queue wait", wait === undefined ? "" : durationText(wait)],
    ["named only", settings?.namedOnly === true ? "yes" : ""],
    ["old secret until", time(webhook?.oldSecretUntilMs)],
    ["waiting", webhook === undefined ? "" : String(webhook.waiting)],
    ["last error", [time(one.lastErrorAtMs), one.lastError].join(" ").trim()],
  ];
}

async function change(
  context: Context,
  args: readonly string[],
  options: SetOptions,
): Promise<void> {
  const { client } = context;
  const name = argument(args, 0);
  const [expiry, headers] = [expiryOf(options), headersOf(options)];
  const selected = filterOf(options);
  if (selected !== null && options.allEvents === true) {
    throw new UsageError("--all-events excludes the options of a filter: give one of them.");
  }
  const everything = { types: [], object: "", id: "", experiment: "", workspace: "", label: "" };
  const filter = options.allEvents === true ? { ...everything, where: [] } : selected;
  const settings = changesSettings(options) ? await changedSettings(context, name, options) : null;
  const asked = {
    ...(filter === null ? {} : { filter }),
    ...expiry,
    ...(settings === null ? {} : { webhook: settings }),
    ...(options.url === undefined ? {} : { url: options.url }),
    ...(options.header === undefined ? {} : { headers }),
  };
  if (Object.keys(asked).length === 0) {
    throw new UsageError("Nothing changes: give at least one option.");
  }
  const answer = await client.call("changeSubscription", { name, ...asked }, once());
  tell(context, answer, `${name} is changed`);
}

/** A change has all settings, so that those without an option are read before. */
async function changedSettings({ client }: Context, name: string, options: WebhookOptions) {
  const { webhook } = await client.call("getSubscription", { name });
  if (webhook === undefined) throw new UsageError(`${name} is not a webhook.`);
  return settingsOf(options, webhook.settings);
}

async function remove({ client, output }: Context, args: readonly string[]): Promise<void> {
  const name = argument(args, 0);
  await client.call("deleteSubscription", { name }, once());
  output.note(`${name} is deleted`);
}

async function acknowledge({ client, output }: Context, args: readonly string[]): Promise<void> {
  const [name, position] = [argument(args, 0), argument(args, 1)];
  const answer = await client.call("ackSubscription", { name, position });
  if (output.json) output.message(AckSubscriptionResponseSchema, answer);
  else output.line(`${name} is acknowledged up to ${answer.position}`);
}

async function adopt(context: Context, args: readonly string[]): Promise<void> {
  const name = argument(args, 0);
  const answer = await context.client.call("adoptSubscription", { name }, once());
  tell(context, answer, `${name} continues with your token`);
}

async function disable(
  context: Context,
  args: readonly string[],
  { reason }: { readonly reason: string },
): Promise<void> {
  const name = argument(args, 0);
  const answer = await context.client.call("disableSubscription", { name, reason }, once());
  tell(context, answer, `${name} is disabled`);
}

async function enable(context: Context, args: readonly string[]): Promise<void> {
  const name = argument(args, 0);
  const answer = await context.client.call("enableSubscription", { name }, once());
  tell(context, answer, `${name} is enabled`);
}

function tell({ output }: Context, answer: ReplyOf<"enableSubscription">, sentence: string): void {
  if (output.json) output.message(SubscriptionResponseSchema, answer);
  else output.line(sentence);
}
