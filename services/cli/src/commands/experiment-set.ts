/** The commands that change an experiment: its name and notes, its place in the queue, its retention policy. */
import { randomUUID } from "node:crypto";
import type { RequestInitOf } from "@trainyard/contracts";
import { CommandResponseSchema, ExperimentSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { positiveNumberOf, wholeNumberOf } from "../option-values.ts";
import { printableLines } from "../output.ts";

type Update = Omit<RequestInitOf<"updateExperiment">, "$typeName" | "experiment">;

type Matched = { readonly ifMatch?: string };

export function addSetCommands(group: Command): void {
  const set = group.command("set").description("change one thing of an experiment");
  addWord(set, "name", "<name>", (name) => ({ name }));
  addWord(set, "description", "<text>", (description) => ({ description }));
  addSetting(set, "priority", "<number>", "1 to 99; lower is placed first", (text) => ({
    priority: wholeNumberOf("priority", text, 1),
  }));
  addSetting(
    set,
    "weight",
    "<number>",
    "its part of the slots in a pool with fair share",
    (text) => ({
      weight: positiveNumberOf("weight", text),
    }),
  );
  addSetting(
    set,
    "max-slots",
    "<number>",
    "the most slots that its runs hold, or none",
    (text) => ({
      maxSlots: text === "none" ? 0 : wholeNumberOf("max-slots", text, 1),
    }),
  );
  addGcPolicy(set);
  addLabels(group);
  matched(group.command("note").argument("<experiment>").argument("[text]"))
    .description("replace its notes; without a text, show them")
    .action(withPlatform<Matched>(note));
}

function matched(command: Command): Command {
  return command.option(
    "--if-match <etag>",
    "change it only if it still has this etag (describe -o json)",
  );
}

function addWord(
  set: Command,
  what: string,
  argumentName: string,
  updateOf: (text: string) => Update,
): void {
  matched(set.command(what).argument("<experiment>").argument(argumentName))
    .description(`change its ${what}`)
    .action(
      withPlatform<Matched>((context, args, options) =>
        update(context, args, updateOf(argument(args, 1)), options),
      ),
    );
}

function addSetting(
  set: Command,
  what: string,
  argumentName: string,
  description: string,
  updateOf: (text: string) => Update,
): void {
  set
    .command(what)
    .argument("<experiment>")
    .argument(argumentName)
    .description(description)
    .action(
      withPlatform((context, args) => update(context, args, updateOf(argument(args, 1)), {})),
    );
}

type GcOptions = {
  readonly saveExperimentBest: string;
  readonly saveTrialBest: string;
  readonly saveTrialLatest: string;
  readonly reason: string;
};

function addGcPolicy(set: Command): void {
  set
    .command("gc-policy")
    .argument("<experiment>")
    .requiredOption("--save-experiment-best <number>", "the best checkpoints of the experiment")
    .requiredOption("--save-trial-best <number>", "the best checkpoints of each trial")
    .requiredOption("--save-trial-latest <number>", "the latest checkpoints of each trial")
    .option("--reason <text>", "why", "")
    .description("keep other checkpoints; yard checkpoint gc --preview shows which")
    .action(
      withPlatform<GcOptions>((context, args, options) => {
        const gcPolicy = {
          saveExperimentBest: wholeNumberOf("--save-experiment-best", options.saveExperimentBest),
          saveTrialBest: wholeNumberOf("--save-trial-best", options.saveTrialBest),
          saveTrialLatest: wholeNumberOf("--save-trial-latest", options.saveTrialLatest),
        };
        return update(context, args, { gcPolicy, reason: options.reason }, {});
      }),
    );
}

function addLabels(group: Command): void {
  const label = group.command("label").description("add and remove labels of an experiment");
  const verbs = [
    ["add", "addLabels"],
    ["remove", "removeLabels"],
  ] as const;
  for (const [verb, field] of verbs) {
    matched(label.command(verb).argument("<experiment>").argument("<labels...>"))
      .description(`${verb} labels`)
      .action(async (...given: unknown[]) => {
        // Commander passes the labels as one list.
        const labels = given[1] as readonly string[];
        const act = withPlatform<Matched>((context, args, options) =>
          update(context, args, { [field]: [...labels] }, options),
        );
        await act(...given);
      });
  }
}

async function note(context: Context, args: readonly string[], options: Matched): Promise<void> {
  const [experiment, text] = [argument(args, 0), args[1]];
  if (text !== undefined) return update(context, args, { notes: text }, options);
  const found = await context.client.call("getExperiment", { experiment });
  if (context.output.json) context.output.message(ExperimentSchema, found);
  else if (found.notes !== "") context.output.line(printableLines(found.notes));
}

async function update(
  { client, output }: Context,
  args: readonly string[],
  change: Update,
  { ifMatch }: Matched,
): Promise<void> {
  const experiment = argument(args, 0);
  const answer = await client.call(
    "updateExperiment",
    { experiment, ...change },
    { idempotencyKey: randomUUID(), ...(ifMatch === undefined ? {} : { ifMatch }) },
  );
  if (output.json) output.message(CommandResponseSchema, answer);
  else output.line(`experiment ${experiment} is changed`);
}
