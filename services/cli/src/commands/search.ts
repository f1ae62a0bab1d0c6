import type { Plain } from "@trainyard/contracts";
import { type Event, EventSchema } from "@trainyard/contracts/api";
import { previewSearch } from "@trainyard/search";
import type { Command } from "commander";
import { overrides, parseHere, readConfig } from "../config-file.ts";
import { argument, type Context, outputOf, withPlatform } from "../context.ts";
import { evidenceText } from "../evidence.ts";
import { time } from "../output.ts";
import { UsageError } from "../usage-error.ts";
import { addBest } from "./search/best.ts";
import { addImportance } from "./search/importance.ts";
import { addReplay } from "./search/replay.ts";

export function addSearchCommands(program: Command): void {
  const group = program.command("search").alias("s").description("what a search will do, and why");
  group
    .command("preview")
    .argument("<config>", "the experiment's YAML file")
    .addOption(overrides())
    .description("how many trials end at which time, before anything is spent")
    .action(preview);
  group
    .command("explain")
    .argument("<experiment>")
    .argument("[trial]", "only of this trial: 3, or 12.3")
    .description(
      "which trials were stopped, suspended and resumed, by which rule, on what evidence",
    )
    .action(withPlatform(explain));
  addReplay(group);
  addImportance(group);
  addBest(group);
}

async function preview(
  file: string,
  options: { readonly config: readonly string[] },
  command: Command,
): Promise<void> {
  const output = outputOf(command);
  const { config } = parseHere(await readConfig(file, options.config), options.config);
  const { rungs, total } = previewSearch(config.searcher, config.hyperparameters);
  if (output.json) {
    output.line(JSON.stringify({ rungs, total }));
    return;
  }
  const until = ({ units }: { readonly units: number | null }): string =>
    units === null ? "their end" : String(units);
  output.table(rungs, [
    { title: "BRACKET", value: ({ bracket }) => String(bracket), right: true },
    { title: "TRIALS", value: ({ trials }) => String(trials), right: true },
    { title: "TRAIN UNTIL", value: until, right: true },
  ]);
  const trials = total.reduce((sum, one) => sum + one.trials, 0);
  const units = total.reduce((sum, one) => sum + one.trials * (one.units ?? 0), 0);
  const spent = total.some((one) => one.units === null) ? "" : `, ${units} units of training`;
  output.line(`in all ${trials} trials${spent}`);
}

const verbs: Readonly<Record<string, string>> = {
  TrialStopDecided: "stopped",
  TrialSuspended: "suspended",
  TrialResumed: "resumed",
  SearchStopDecided: "finished",
};

async function explain({ client, output }: Context, args: readonly string[]): Promise<void> {
  const experiment = argument(args, 0);
  const trial = trialNumber(experiment, args[1]);
  await client.call("getExperiment", { experiment });
  let decisions = 0;
  const request = { experiment, noFollow: true };
  for await (const { message } of client.stream("watchEvents", request)) {
    const verb = verbs[message.type.split(".")[3] ?? ""];
    if (verb === undefined || (trial !== null && message.data?.["trial"] !== trial)) continue;
    decisions += 1;
    if (output.json) output.message(EventSchema, message);
    else explainOne(output, experiment, verb, message);
  }
  if (decisions === 0) output.note("no trial was stopped, suspended or resumed by the search");
}

function explainOne(
  output: Context["output"],
  experiment: string,
  verb: string,
  { timeMs, data = {} }: Plain<Event>,
): void {
  const { trial, rule, evidence, fails } = data;
  const what = trial === undefined ? "search" : `trial ${experiment}.${String(trial)}`;
  const done = fails === true ? "failed" : verb;
  output.line(`${time(timeMs)}  ${what} ${done} by ${String(rule)}: ${evidenceText(evidence)}`);
}

/** Null for all trials. */
function trialNumber(experiment: string, asked: string | undefined): number | null {
  if (asked === undefined) return null;
  const [, inside, alone] = /^(?:(\d+)\.)?(\d+)$/.exec(asked) ?? [];
  if (alone === undefined || (inside !== undefined && inside !== experiment)) {
    throw new UsageError(`${JSON.stringify(asked)} is no trial of experiment ${experiment}.`);
  }
  return Number(alone);
}
