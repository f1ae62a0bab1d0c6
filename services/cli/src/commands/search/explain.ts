import type { Plain } from "@trainyard/contracts";
import { type Event, EventSchema } from "@trainyard/contracts/api";
import { decisionVerb, stopSentence } from "@trainyard/search/sentences";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../../context.ts";
import { evidenceText } from "../../evidence-text.ts";
import { time } from "../../output.ts";
import { trialNumber } from "./trial-number.ts";

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

async function explain({ client, output }: Context, args: readonly string[]): Promise<void> {
  const experiment = argument(args, 0);
  const trial = trialNumber(experiment, args[1]);
  const { waitsFor } = await client.call("getExperiment", { experiment });
  let decisions = 0;
  const request = { experiment, noFollow: true };
  for await (const { message } of client.stream("watchEvents", request)) {
    const verb = verbOf(message);
    if (verb === undefined || (trial !== null && trialOf(message) !== trial)) continue;
    decisions += 1;
    if (output.json) output.message(EventSchema, message);
    else explainOne(output, experiment, verb, message);
  }
  if (decisions === 0) output.note("no trial was stopped, suspended or resumed by the search");
  if (waitsFor !== "") output.note(`the search waits for ${waitsFor}`);
}

function verbOf({ type, data = {} }: Plain<Event>): string | undefined {
  return decisionVerb(type.split(".")[3] ?? "", data);
}

const trialOf = ({ data = {} }: Plain<Event>): unknown => data["trial"] ?? data["number"];

function explainOne(
  output: Context["output"],
  experiment: string,
  verb: string,
  message: Plain<Event>,
): void {
  const { timeMs, data = {} } = message;
  const { rule, evidence, fails } = data;
  const trial = trialOf(message);
  const what = trial === undefined ? "search" : `trial ${experiment}.${String(trial)}`;
  output.line(`${time(timeMs)}  ${what} ${verb}${byRule(rule, evidence, fails === true)}`);
}

/** Returns the numbers of the evidence. Without numbers, or for a failure, it is the rule's sentence. */
function byRule(rule: unknown, evidence: unknown, inWords: boolean): string {
  const numbers = evidenceText(evidence);
  if (typeof rule !== "string") return `: ${numbers}`;
  const words = (evidence ?? {}) as Readonly<Record<string, unknown>>;
  return inWords || numbers === "" ? ` by ${stopSentence(rule, words)}` : ` by ${rule}: ${numbers}`;
}
