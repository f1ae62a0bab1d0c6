/** The commands of an operator: events, verification and anchors of the log, parked events, tokens, versions. */
import { readFile, writeFile } from "node:fs/promises";
import type { Plain } from "@trainyard/contracts";
import {
  CreateTokenResponseSchema,
  EventSchema,
  GetVersionResponseSchema,
  ListParkedResponseSchema,
  ListTokensResponseSchema,
  type LogAnchor,
  LogAnchorSchema,
  RevokeTokenResponseSchema,
  type Token,
  type VerifyProgress,
  VerifyProgressSchema,
} from "@trainyard/contracts/api";
import { codecOf } from "@trainyard/contracts/codec";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { callerPath } from "../environment.ts";
import { detachSignal } from "../follow.ts";
import { collect, secondsOf, timeOf } from "../option-values.ts";
import { time } from "../output.ts";
import { allPages } from "../pages.ts";
import { Failure, UsageError } from "../usage-error.ts";
import { addEventsList, eventLine } from "./events-list.ts";
import { addFilterOptions, type FilterOptions, filterOf } from "./subscription-options.ts";

export function addOperationCommands(program: Command): void {
  const log = addFilterOptions(program.command("events"))
    .option("--from <place>", "begin after this log position, or after an id of this stream")
    .option("--since <time>", "begin at a time: 10m (ago), or 2026-11-22T10:00:00Z")
    .option("--subscription <name>", "those of a pull subscription, after what is acknowledged")
    .option("--ack", "acknowledge each event of the subscription once it is printed")
    .option("--follow", "print new events as they come")
    .description("the log, event by event")
    .action(withPlatform<EventsOptions>(events));
  addEventsList(log);
  addLogCommands(program);
  const parked = program.command("parked").description("events that could not be processed");
  parked.command("list").alias("ls").description("all of them").action(withPlatform(listParked));
  parked
    .command("retry")
    .argument("<consumer>")
    .argument("<key>")
    .description("process the parked events of a key again, in order")
    .action(withPlatform(retryParked));
  addTokenCommands(program);
  program
    .command("version")
    .description("of the platform and of this command")
    .action(withPlatform(version));
}

function addLogCommands(program: Command): void {
  const log = program.command("log").description("the log itself");
  log
    .command("verify")
    .description("check the hash chain, and compare every read model with a rebuild")
    .option("--skip-views", "only the log")
    .option("--anchor <file>", "also that nothing up to this anchor is missing or changed")
    .action(withPlatform<VerifyOptions>(verify));
  log
    .command("anchor")
    .argument("[file]", "where to write it; stdout by default")
    .description("the position and the hash of the log's end, to be kept away from the database")
    .action(withPlatform(writeAnchor));
}

type EventsOptions = FilterOptions & {
  readonly from?: string;
  readonly since?: string;
  readonly subscription?: string;
  readonly ack?: boolean;
  readonly follow?: boolean;
};

async function events(
  { client, output }: Context,
  _args: readonly string[],
  options: EventsOptions,
): Promise<void> {
  const { from = "", since, subscription = "", ack = false } = options;
  if (ack && subscription === "") throw new UsageError("--ack needs --subscription.");
  const signal = detachSignal(output);
  const request = {
    ...filterOf(options),
    ...{ after: from, subscription, noFollow: options.follow !== true },
    ...(since === undefined ? {} : { fromMs: timeOf("--since", since) }),
  };
  try {
    for await (const { id, message } of client.stream("watchEvents", request, { signal })) {
      if (output.json) output.message(EventSchema, message);
      else output.line(eventLine(message));
      if (ack) await client.call("ackSubscription", { name: subscription, position: id });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type VerifyOptions = { readonly skipViews?: boolean; readonly anchor?: string };

const anchorCodec = codecOf<Plain<LogAnchor>>(LogAnchorSchema);

async function writeAnchor({ client, output }: Context, args: readonly string[]): Promise<void> {
  const anchor = await client.call("getLogAnchor", {});
  const file = argument(args, 0);
  if (file === "") {
    output.message(LogAnchorSchema, anchor);
    return;
  }
  await writeFile(callerPath(file), `${JSON.stringify(anchorCodec.toFullJson(anchor))}\n`);
  output.note(`the log's end at position ${anchor.position} is written to ${file}`);
}

async function readAnchor(file: string): Promise<Plain<LogAnchor>> {
  let text: string;
  try {
    text = await readFile(callerPath(file), "utf8");
  } catch {
    throw new UsageError(`--anchor: ${file} cannot be read.`);
  }
  try {
    return anchorCodec.decode(text);
  } catch {
    throw new UsageError(`--anchor: ${file} is not what "yard log anchor" writes.`);
  }
}

async function verify(
  { client, output }: Context,
  _args: readonly string[],
  options: VerifyOptions,
): Promise<void> {
  let ok = false;
  const anchor = options.anchor === undefined ? undefined : await readAnchor(options.anchor);
  const skipViews = options.skipViews ?? false;
  const request = anchor === undefined ? { skipViews } : { skipViews, anchor };
  for await (const { message } of client.stream("verifyLog", request)) {
    if (output.json) output.message(VerifyProgressSchema, message);
    else if (!message.done) {
      output.line(verdictLine(message));
    }
    if (message.done) ok = message.ok;
  }
  if (!ok) throw new Failure("The log does not verify, or not all of it; see the findings above.");
}

function verdictLine({ check, checked, ok, finding, unverified }: Plain<VerifyProgress>): string {
  if (unverified) return `${check}: not verified: ${finding}`;
  const verdict = ok ? "holds" : "does not hold";
  return `${check}: ${verdict} up to position ${checked}${finding === "" ? "" : `: ${finding}`}`;
}

async function listParked({ client, output }: Context): Promise<void> {
  const page = await client.call("listParked", {});
  if (output.json) {
    output.message(ListParkedResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "CONSUMER", value: ({ consumer }) => consumer },
    { title: "KEY", value: ({ key }) => key },
    { title: "POSITION", value: ({ eventPosition }) => eventPosition, right: true },
    { title: "STREAM", value: ({ stream }) => stream },
    { title: "SINCE", value: (one) => time(one.parkedAtMs) },
    { title: "REASON", value: ({ reason }) => reason },
  ]);
}

async function retryParked({ client, output }: Context, args: readonly string[]): Promise<void> {
  const [consumer, key] = [argument(args, 0), argument(args, 1)];
  await client.call("retryParked", { consumer, key });
  output.note(`the parked events of ${key} were processed`);
}

function addTokenCommands(program: Command): void {
  const group = program.command("token").description("tokens for calls of the API");
  group
    .command("create")
    .option("--label <text>", "what it is for", "")
    .option(
      "--ttl <duration>",
      "seconds, or with a unit: 30m, 12h, 7d; by default it expires with your token, if that expires, and never later",
    )
    .option("--role <role>", "the role that limits it; by default it may do what you may", "")
    .option("--workspace <name>", "a workspace that it is limited to; repeatable", collect)
    .option("--user <name>", "the service account that it belongs to, for admins", "")
    .description("a new token; its secret is shown once")
    .action(withPlatform<TokenOptions>(createToken));
  group
    .command("list")
    .alias("ls")
    .option("--all", "those of all users, for admins")
    .description("your tokens, without their secrets")
    .action(withPlatform<{ all?: boolean }>(listTokens));
  group
    .command("revoke")
    .argument("<token>", "its id")
    .description("revoke it, and all tokens that were created with it: their calls are refused")
    .action(
      withPlatform(async ({ client, output }, args) => {
        const answer = await client.call("revokeToken", { token: argument(args, 0) });
        if (output.json) output.message(RevokeTokenResponseSchema, answer);
        output.note(`token ${argument(args, 0)} is revoked`);
        for (const name of answer.subscriptions) {
          output.note(
            `subscription ${name} stops with it: yard subscription adopt ${name} continues it`,
          );
        }
      }),
    );
}

type TokenOptions = {
  readonly label: string;
  readonly ttl?: string;
  readonly role: string;
  readonly workspace?: readonly string[];
  readonly user: string;
};

async function createToken(
  { client, output }: Context,
  _args: readonly string[],
  { label, ttl, role, workspace = [], user }: TokenOptions,
): Promise<void> {
  const ttlSeconds = ttl === undefined ? 0 : secondsOf("--ttl", ttl);
  const limits = { role, workspaces: [...workspace] };
  const answer = await client.call("createToken", { label, ttlSeconds, ...limits, user });
  if (output.json) {
    output.message(CreateTokenResponseSchema, answer);
    return;
  }
  const { id, expiresAtMs } = answer.token ?? { id: "" };
  const end = expiresAtMs === undefined ? "does not expire" : `expires at ${time(expiresAtMs)} UTC`;
  output.note(`token ${id} ${end}; its secret is not shown again:`);
  output.line(answer.secret);
}

async function listTokens(
  { client, output }: Context,
  _args: readonly string[],
  { all = false }: { readonly all?: boolean },
): Promise<void> {
  const page = await allPages((start) => client.call("listTokens", { ...start, all }));
  if (output.json) {
    output.message(ListTokensResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "TOKEN", value: ({ id }) => id },
    { title: "LABEL", value: ({ label }) => label },
    { title: "OWNER", value: ({ owner }) => owner },
    { title: "LIMITS", value: limitsOf },
    { title: "CREATED", value: (one) => time(one.createdAtMs) },
    { title: "USED", value: (one) => time(one.lastUsedAtMs) },
    { title: "EXPIRES", value: (one) => time(one.expiresAtMs) },
    { title: "", value: (one) => (one.revoked ? "revoked" : "") },
  ]);
}

const limitsOf = ({ role, workspaces }: Pick<Plain<Token>, "role" | "workspaces">): string =>
  [role, workspaces.join(", ")].filter((part) => part !== "").join(" in ");

async function version({ client, output }: Context): Promise<void> {
  const answer = await client.call("getVersion", {});
  if (output.json) output.message(GetVersionResponseSchema, answer);
  else output.line(`Trainyard ${answer.version}, API ${answer.api}`);
}
