/** Takes up what has ended: an experiment, or one of its trials; and ends one trial. */
import { randomUUID } from "node:crypto";
import { CommandResponseSchema, TrialCommandResponseSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { wholeNumberOf } from "../option-values.ts";
import { stateOf } from "./experiment-verbs.ts";

type ContinueOptions = {
  readonly maxTrials?: string;
  readonly maxLength?: string;
  readonly unit?: string;
};

export function addContinueCommand(group: Command): void {
  group
    .command("continue")
    .argument("<experiment>")
    .option("--max-trials <number>", "more trials than it had")
    .option("--max-length <number>", "a longer training, of a single search")
    .option("--unit <unit>", "of the length: batches, records or epochs")
    .description("take up one that has ended: its failed and canceled trials, more of them, longer")
    .action(withPlatform<ContinueOptions>(continueExperiment));
}

async function continueExperiment(
  { client, output }: Context,
  args: readonly string[],
  { maxTrials, maxLength, unit: lengthUnit = "" }: ContinueOptions,
): Promise<void> {
  const experiment = argument(args, 0);
  const answer = await client.call(
    "continueExperiment",
    {
      experiment,
      ...(maxTrials === undefined
        ? {}
        : { maxTrials: wholeNumberOf("--max-trials", maxTrials, 1) }),
      ...(maxLength === undefined
        ? {}
        : { maxLength: wholeNumberOf("--max-length", maxLength, 1) }),
      lengthUnit,
    },
    { idempotencyKey: randomUUID() },
  );
  if (output.json) output.message(CommandResponseSchema, answer);
  else output.line(`experiment ${experiment} is ${stateOf(answer.experiment)}`);
}

export function addTrialVerbs(group: Command): void {
  group
    .command("restart")
    .argument("<trial>", "12.3")
    .description("take up a trial that failed or was canceled, from its latest checkpoint")
    .action(withPlatform(restartTrial));
  group
    .command("kill")
    .argument("<trial>", "12.3")
    .option("--reason <text>", "kept as the reason of its end")
    .description("end one trial at once; the others continue")
    .action(withPlatform<{ readonly reason?: string }>(killTrial));
}

async function restartTrial({ client, output }: Context, args: readonly string[]): Promise<void> {
  const trial = argument(args, 0);
  const options = { idempotencyKey: randomUUID() };
  const answer = await client.call("restartTrial", { trial }, options);
  if (output.json) output.message(TrialCommandResponseSchema, answer);
  else output.line(`trial ${trial} is taken up again`);
}

async function killTrial(
  { client, output }: Context,
  args: readonly string[],
  { reason = "" }: { readonly reason?: string },
): Promise<void> {
  const trial = argument(args, 0);
  const options = { idempotencyKey: randomUUID() };
  const answer = await client.call("killTrial", { trial, reason }, options);
  if (output.json) output.message(TrialCommandResponseSchema, answer);
  else output.line(`trial ${trial} is ${answer.trial?.state ?? ""}`);
}
