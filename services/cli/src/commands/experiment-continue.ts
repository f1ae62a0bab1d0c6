/** The commands that continue an ended experiment or trial, and the command that ends one trial. */
import { randomUUID } from "node:crypto";
import { CommandResponseSchema, TrialCommandResponseSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { wholeNumberOf } from "../option-values.ts";
import { UsageError } from "../usage-error.ts";
import { phaseWord } from "../state-words.ts";
import { actOnEach, stateOf } from "./experiment-verbs.ts";

type ContinueOptions = {
  readonly maxTrials?: string;
  readonly maxLength?: string;
  readonly unit?: string;
  readonly dryRun?: boolean;
};

export function addContinueCommand(group: Command): void {
  group
    .command("continue")
    .argument("<experiments...>", "one or more numbers")
    .option("--max-trials <number>", "more trials than it had; of one experiment, as the next two")
    .option("--max-length <number>", "a longer training, of a single search")
    .option("--unit <unit>", "of the length: batches, records or epochs")
    .option("--dry-run", "say what would happen to each, and change nothing")
    .description("take up what has ended: its failed and canceled trials, more of them, longer")
    .action(async (...given: unknown[]) => {
      // Commander passes the experiment numbers as one list.
      const ids = given[0] as readonly string[];
      await withPlatform<ContinueOptions>((context, _args, options) =>
        ids.length === 1 && options.dryRun !== true
          ? continueExperiment(context, ids[0] ?? "", options)
          : continueSeveral(context, ids, options),
      )(...given);
    });
}

async function continueExperiment(
  { client, output }: Context,
  experiment: string,
  { maxTrials, maxLength, unit: lengthUnit = "" }: ContinueOptions,
): Promise<void> {
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
    { idempotencyKey: randomUUID(), soon: true },
  );
  if (output.json) output.message(CommandResponseSchema, answer);
  else output.line(`experiment ${experiment} is ${stateOf(answer.experiment)}`);
}

async function continueSeveral(
  context: Context,
  experiments: readonly string[],
  { maxTrials, maxLength, unit, dryRun = false }: ContinueOptions,
): Promise<void> {
  if ([maxTrials, maxLength, unit].some((given) => given !== undefined)) {
    throw new UsageError(
      "--max-trials, --max-length and --unit take one experiment and no --dry-run.",
    );
  }
  await actOnEach(context, { experiments: [...experiments], verb: "continue", reason: "", dryRun });
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
  else
    output.line(`trial ${trial} is ${answer.trial === undefined ? "" : phaseWord(answer.trial)}`);
}
