import type { Plain } from "@trainyard/contracts";
import { type Event, EventSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../../context.ts";
import { evidenceText } from "../../evidence.ts";
import { time } from "../../output.ts";
import { UsageError } from "../../usage-error.ts";

export function addExplain(group: Command): void {
  group
    .command("explain")
    .argument("<experiment>")
    .argument("[trial]", "only of this trial: 3, or 12.3")
    .description(
      "which trials were stopped, suspended and resumed, by which rule, on what evidence",
    )
    .action(withPlatform(explain));
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
  const { waitsFor } = await client.call("getExperiment", { experiment });
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
  if (waitsFor !== "") output.note(`the search waits for ${waitsFor}`);
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
