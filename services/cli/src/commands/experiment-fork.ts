/** Creates an experiment from another one: with its code, and its configuration with changes. */
import { randomUUID } from "node:crypto";
import { CreateExperimentResponseSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { readConfig } from "../config-file.ts";
import { experimentPage } from "../connection.ts";
import { argument, type Context, withPlatform } from "../context.ts";
import { collect } from "../option-values.ts";

type ForkOptions = {
  readonly config?: string;
  readonly set?: readonly string[];
  readonly checkpoint?: string;
  readonly paused?: boolean;
  readonly validate?: boolean;
  readonly idempotencyKey?: string;
};

export function addForkCommand(group: Command): void {
  group
    .command("fork")
    .argument("<experiment>")
    .option("--config <file>", "a YAML file in place of its configuration")
    .option("--set <key=value>", "set a key of the configuration, repeatable", collect)
    .option("--checkpoint <uuid>", "start its trials from this checkpoint of the experiment")
    .option("--paused", "create it paused")
    .option("--validate", "check it only; create nothing")
    .option("--idempotency-key <key>", "a retry with the same key returns the first fork")
    .description("a new experiment with its code, and its configuration with changes")
    .action(withPlatform<ForkOptions>(fork));
}

async function fork(
  { client, output }: Context,
  args: readonly string[],
  { config: file, set = [], checkpoint = "", ...options }: ForkOptions,
): Promise<void> {
  const experiment = argument(args, 0);
  const { paused = false, validate: validateOnly = false } = options;
  const config = await readConfig(file, set, "--set");
  const answer = await client.call(
    "forkExperiment",
    { experiment, config, overrides: [...set], checkpoint, paused, validateOnly },
    { idempotencyKey: options.idempotencyKey ?? randomUUID(), soon: true },
  );
  for (const warning of answer.warnings) output.note(`warning: ${warning}`);
  if (output.json) output.message(CreateExperimentResponseSchema, answer);
  else if (validateOnly) output.line(`experiment ${experiment} can be forked`);
  else output.line(`created experiment ${answer.experiment?.id ?? ""}`);
  if (!validateOnly) output.note(experimentPage(answer.experiment?.id ?? ""));
}
