/** Lists the latest events of the whole log or of one object. */
import { type Event, ListEventsResponseSchema } from "@trainyard/contracts/api";
import type { Plain } from "@trainyard/contracts";
import type { Command } from "commander";
import type { Context } from "../context.ts";
import { withPlatform } from "../context.ts";
import { collect, timeOf, wholeNumberOf } from "../option-values.ts";
import { time } from "../output.ts";
import { allPages } from "../pages.ts";

const limitDefault = "50";

type ListOptions = {
  readonly type?: readonly string[];
  readonly since?: string;
  readonly until?: string;
  readonly limit: string;
};

export function addEventsList(events: Command): void {
  events
    .command("list")
    .alias("ls")
    .argument("[object]", "experiment, trial, run, checkpoint, model, agent, …")
    .argument("[id]", "12, 12.3, 12.3#1, …")
    .option(
      "--type <name>",
      "only this type, ExperimentPaused for example; may be repeated",
      collect,
    )
    .option("--since <time>", "only from this time on: 10m (ago), or 2026-11-22T10:00:00Z")
    .option("--until <time>", "only before this time")
    .option("--limit <count>", "maximum number of events", limitDefault)
    .description("the latest events, newest first: all, or those of one object's own streams")
    .action(withPlatform<ListOptions>(listEvents));
}

async function listEvents(
  { client, output }: Context,
  [object = "", id = ""]: readonly string[],
  { type: types = [], since, until, limit }: ListOptions,
): Promise<void> {
  const asked = {
    ...{ object, id, types: [...types] },
    ...(since === undefined ? {} : { fromMs: timeOf("--since", since) }),
    ...(until === undefined ? {} : { untilMs: timeOf("--until", until) }),
  };
  const page = await allPages(
    (start) => client.call("listEvents", { ...asked, ...start }),
    wholeNumberOf("--limit", limit, 1),
  );
  if (output.json) output.message(ListEventsResponseSchema, page);
  else for (const event of page.items) output.line(eventLine(event));
}

export function eventLine(event: Plain<Event>): string {
  const name = event.type.split(".")[3] ?? event.type;
  return `${event.sequence.padStart(8)}  ${time(Date.parse(event.time))}  ${event.subject.padEnd(24)}  ${name}`;
}
