/** The commands of an operator: events, verification and anchors of the log, parked events, versions. */
import { readFile, writeFile } from "node:fs/promises";
import type { Plain } from "@trainyard/contracts";
import {
  EventSchema,
  GetVersionResponseSchema,
  ListParkedResponseSchema,
  type LogAnchor,
  LogAnchorSchema,
  type VerifyProgress,
  VerifyProgressSchema,
} from "@trainyard/contracts/api";
import { codecOf } from "@trainyard/contracts/codec";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { callerPath } from "../environment.ts";
import { detachSignal } from "../follow.ts";
import { timeOf } from "../option-values.ts";
import { time } from "../output.ts";
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

async function version({ client, output }: Context): Promise<void> {
  const answer = await client.call("getVersion", {});
  if (output.json) output.message(GetVersionResponseSchema, answer);
  else output.line(`Trainyard ${answer.version}, API ${answer.api}`);
}
