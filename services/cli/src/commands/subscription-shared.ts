/** The commands and options that subscriptions of all deliveries have. */
import type { Plain } from "@trainyard/contracts";
import {
  ListSubscriptionsResponseSchema,
  type Subscription,
  SubscriptionSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { millisecondsOf, timeOf } from "../option-values.ts";
import { time } from "../output.ts";
import { allPages } from "../pages.ts";
import { UsageError } from "../usage-error.ts";
import { addFilterOptions, type FilterOptions, filterOf, isFiltered } from "./event-filter.ts";

export type StartOptions = {
  readonly after?: string;
  readonly since?: string;
  readonly expiresAfter?: string;
};

export function addStartOptions(command: Command): Command {
  return command
    .option(
      "--after <place>",
      "begin after an id of the stream of events or a log position; 0 for all",
    )
    .option("--since <time>", "begin at a time: 10m (ago), or 2026-11-22T10:00:00Z")
    .option("--expires-after <duration>", "delete it when nothing was acknowledged for so long");
}

/** Returns the parts of a creation that all deliveries have. */
export function startOf({ after, since, expiresAfter }: StartOptions) {
  if (after !== undefined && since !== undefined) {
    throw new UsageError("--after and --since exclude each other.");
  }
  return {
    ...(after === undefined ? {} : { after }),
    ...(since === undefined ? {} : { fromMs: timeOf("--since", since) }),
    ...(expiresAfter === undefined
      ? {}
      : { expiresAfterMs: millisecondsOf("--expires-after", expiresAfter) }),
  };
}

/** Adds the commands that all deliveries have. `delivery` limits the list to one; empty for all. */
export function addSharedCommands(group: Command, delivery: string): void {
  group
    .command("list")
    .alias("ls")
    .description("all of them, with how far each has come")
    .action(withPlatform((context) => list(context, delivery)));
  group
    .command("show")
    .argument("<name>")
    .description("one of them")
    .action(
      withPlatform(async ({ client, output }, args) => {
        const found = await client.call("getSubscription", { name: argument(args, 0) });
        output.show(SubscriptionSchema, found, () => fieldsOf(found));
      }),
    );
  group
    .command("delete")
    .alias("rm")
    .argument("<name>")
    .description("delete it, with its place and secrets")
    .action(
      withPlatform(async ({ client, output }, args) => {
        await client.call("deleteSubscription", { name: argument(args, 0) });
        output.note(`${argument(args, 0)} is deleted`);
      }),
    );
  addFilterOptions(group.command("set").argument("<name>"))
    .option(
      "--expires-after <duration>",
      "delete it when nothing was acknowledged for so long; never: do not",
    )
    .description("change its filter, as a whole, or its expiry")
    .action(withPlatform<FilterOptions & StartOptions>(change));
  const verbs = [
    ["disable", "disableSubscription", "deliver nothing until it is enabled"],
    ["enable", "enableSubscription", "continue after it was disabled"],
    ["adopt", "adoptSubscription", "continue with your token after its own one ended"],
  ] as const;
  for (const [word, call, description] of verbs) {
    group
      .command(word)
      .argument("<name>")
      .description(description)
      .action(
        withPlatform(async ({ client, output }, args) => {
          const { subscription } = await client.call(call, { name: argument(args, 0) });
          if (subscription !== undefined) output.note(stateLine(subscription));
        }),
      );
  }
}

async function change(
  { client, output }: Context,
  args: readonly string[],
  options: FilterOptions & StartOptions,
): Promise<void> {
  const { expiresAfter } = options;
  const { subscription } = await client.call("changeSubscription", {
    name: argument(args, 0),
    ...(isFiltered(options) ? { filter: filterOf(options) } : {}),
    ...(expiresAfter === undefined ? {} : { expiresAfterMs: expiryOf(expiresAfter) }),
  });
  if (subscription !== undefined) output.note(stateLine(subscription));
}

const expiryOf = (text: string): number =>
  text === "never" ? 0 : millisecondsOf("--expires-after", text);

async function list({ client, output }: Context, delivery: string): Promise<void> {
  const page = await allPages((start) => client.call("listSubscriptions", { ...start, delivery }));
  if (output.json) {
    output.message(ListSubscriptionsResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "NAME", value: ({ name }) => name },
    { title: "DELIVERY", value: deliveryOf },
    { title: "STATE", value: ({ state }) => state },
    { title: "BEHIND", value: ({ lagEvents }) => String(lagEvents), right: true },
    { title: "SECONDS", value: ({ lagSeconds }) => lagSeconds.toFixed(0), right: true },
    { title: "SELECTS", value: selectionOf },
    { title: "LAST ERROR", value: ({ reason, lastError }) => (reason === "" ? lastError : reason) },
  ]);
}

const deliveryOf = ({ delivery, webhook }: Plain<Subscription>): string =>
  webhook === undefined ? delivery : `${webhook.settings?.format ?? ""} ${webhook.url}`;

function selectionOf({ filter }: Plain<Subscription>): string {
  if (filter === undefined) return "all";
  const { types, where, ...named } = filter;
  const parts = Object.entries(named).filter(
    ([name, value]) => name !== "$typeName" && value !== "",
  );
  const texts = [...types, ...where, ...parts.map(([name, value]) => `${name} ${String(value)}`)];
  return texts.length === 0 ? "all" : texts.join(", ");
}

function stateLine({ name, state, reason }: Plain<Subscription>): string {
  return `${name} is ${state}${reason === "" ? "" : `: ${reason}`}`;
}

function fieldsOf(one: Plain<Subscription>): readonly (readonly [string, string])[] {
  const { webhook } = one;
  const { logPattern = "", queueWaitMs } = webhook?.settings ?? {};
  return [
    ["name", one.name],
    ["delivery", deliveryOf(one)],
    ["state", one.reason === "" ? one.state : `${one.state}: ${one.reason}`],
    ["selects", selectionOf(one)],
    ["log pattern", logPattern],
    ["queue wait", queueWaitMs === undefined ? "" : `${queueWaitMs / 1_000} s`],
    ["headers", webhook?.headers.join(", ") ?? ""],
    ["old secret until", time(webhook?.oldSecretUntilMs)],
    ["waiting", webhook === undefined ? "" : String(webhook.waiting)],
    ["position", one.position],
    ["behind", `${one.lagEvents} events, ${one.lagSeconds.toFixed(0)} s`],
    ["acknowledged", time(one.acknowledgedAtMs)],
    ["last error", one.lastError],
    ["expires after", one.expiresAfterMs === undefined ? "" : `${one.expiresAfterMs / 1_000} s`],
    ["owner", one.owner],
    ["token", one.token],
    ["created", time(one.createdAtMs)],
  ];
}
