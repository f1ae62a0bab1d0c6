/** The verbs that only webhooks have. */
import { randomUUID } from "node:crypto";
import {
  DeliveryAttemptSchema,
  ListDeliveriesResponseSchema,
  RotateSecretResponseSchema,
} from "@trainyard/contracts/api";
import { type Command, Option } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { millisecondsOf, wholeNumberOf } from "../option-values.ts";
import { printableLines, time } from "../output.ts";
import { allPages } from "../pages.ts";
import { Failure } from "../usage-error.ts";
import { type SecretOptions, secretOf } from "./subscription-options.ts";

export function addWebhookVerbs(group: Command): void {
  const named = (verb: string): Command => group.command(verb).argument("<webhook>");
  named("test")
    .description("send a test event at once, and print the answer")
    .action(withPlatform(test));
  named("rotate")
    .option(
      "--old-for <duration>",
      "how long the old secret signs, too: 10m, 2h, or 0; a day if absent",
    )
    .option("--secret-file <path>", "a file with the new secret; one is drawn if absent")
    .description("a new signing secret, which is shown once")
    .action(withPlatform<RotateOptions>(rotate));
  named("deliveries")
    .addOption(
      new Option("--state <state>", "only these").choices(["WAITING", "DELIVERED", "FAILED"]),
    )
    .option("--limit <count>", "maximum number of deliveries", "50")
    .description("what was sent in the last week and what waits, newest first")
    .action(withPlatform<DeliveriesOptions>(deliveries));
  named("redeliver")
    .argument("<event>", "the id of the event")
    .description("send an event once more, with the same webhook-id")
    .action(withPlatform(redeliver));
}

type RotateOptions = SecretOptions & { readonly oldFor?: string };
type DeliveriesOptions = { readonly state?: string; readonly limit: string };

async function test({ client, output }: Context, args: readonly string[]): Promise<void> {
  const answer = await client.call("testWebhook", { name: argument(args, 0) });
  const { status = 0, error, tookMs } = answer;
  if (output.json) output.message(DeliveryAttemptSchema, answer);
  else if (answer.status !== undefined) {
    output.line(`the receiver answered ${status} after ${Math.round(tookMs)} ms`);
    if (answer.answer !== "") output.line(printableLines(answer.answer));
  }
  if (error !== "") throw new Failure(error);
  if (status < 200 || status > 299) {
    throw new Failure(`The receiver answered ${status}, which is no success.`);
  }
}

async function rotate(
  { client, output }: Context,
  args: readonly string[],
  options: RotateOptions,
): Promise<void> {
  const { oldFor } = options;
  const old =
    oldFor === undefined
      ? {}
      : { oldForMs: oldFor === "0" ? 0 : millisecondsOf("--old-for", oldFor) };
  const request = { name: argument(args, 0), secret: secretOf(options), ...old };
  const answer = await client.call("rotateSecret", request);
  if (output.json) {
    output.message(RotateSecretResponseSchema, answer);
    return;
  }
  output.note(`the old secret also signs until ${time(answer.oldUntilMs)} UTC`);
  output.note("the new signing secret is not shown again:");
  output.line(answer.secret);
}

async function deliveries(
  { client, output }: Context,
  args: readonly string[],
  { state = "", limit }: DeliveriesOptions,
): Promise<void> {
  const request = { name: argument(args, 0), state };
  const page = await allPages(
    (start) => client.call("listDeliveries", { ...request, ...start }),
    wholeNumberOf("--limit", limit, 1),
  );
  if (output.json) {
    output.message(ListDeliveriesResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "EVENT", value: ({ event }) => event },
    { title: "TYPE", value: ({ type }) => type },
    { title: "SUBJECT", value: ({ subject }) => subject },
    { title: "STATE", value: ({ state: of }) => of },
    { title: "LATEST", value: ({ attempts }) => time(attempts[0]?.atMs) },
    { title: "STATUS", value: ({ attempts }) => String(attempts[0]?.status ?? ""), right: true },
    { title: "NEXT", value: ({ nextAtMs }) => time(nextAtMs) },
    { title: "", value: ({ attempts }) => attempts[0]?.error ?? "" },
  ]);
}

async function redeliver({ client, output }: Context, args: readonly string[]): Promise<void> {
  const [name, event] = [argument(args, 0), argument(args, 1)];
  await client.call("redeliverEvent", { name, event }, { idempotencyKey: randomUUID() });
  output.note(`event ${event} is sent to ${name} again`);
}
