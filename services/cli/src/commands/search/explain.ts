import type { Plain } from "@trainyard/contracts";
import { type Event, EventSchema } from "@trainyard/contracts/api";
import { decisionLine, type DecisionWords, decisionWords } from "@trainyard/search/sentences";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../../context.ts";
import { printable, time } from "../../output.ts";
import { trialNumber } from "./trial-number.ts";

export function addExplain(group: Command): void {
  group
    .command("explain")
    .argument("<experiment>")
    .argument("[trial]", "only of this trial: 3, or 12.3")
    .description(
      "which trials were stopped, suspended and resumed, and why; -o json has rule and evidence",
    )
    .action(withPlatform(explain));
}

async function explain({ client, output }: Context, args: readonly string[]): Promise<void> {
  const experiment = argument(args, 0);
  const trial = trialNumber(experiment, args[1]);
  const { waitsFor } = await client.call("getExperiment", { experiment });
  let decisions = 0;
  const request = { experiment, noFollow: true };
  for await (const { message } of client.stream("watchEvents", request)) {
    const words = wordsOf(message);
    if (words === undefined || (trial !== null && trialOf(message) !== trial)) continue;
    decisions += 1;
    if (output.json) output.message(EventSchema, message);
    else explainOne(output, experiment, words, message);
  }
  if (decisions === 0) output.note("no trial was stopped, suspended or resumed by the search");
  if (waitsFor !== "") output.note(`the search waits for ${waitsFor}`);
}

function wordsOf({ type, data = {} }: Plain<Event>): DecisionWords | undefined {
  return decisionWords(type.split(".")[3] ?? "", data);
}

const trialOf = ({ data = {} }: Plain<Event>): unknown => data["trial"] ?? data["number"];

function explainOne(
  output: Context["output"],
  experiment: string,
  words: DecisionWords,
  message: Plain<Event>,
): void {
  const trial = trialOf(message);
  const what = trial === undefined ? "search" : `trial ${experiment}.${String(trial)}`;
  output.line(printable(`${time(Date.parse(message.time))}  ${what} ${decisionLine(words)}`));
}
