import { randomUUID } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import {
  type CreateExperimentResponse,
  CreateExperimentResponseSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { overrides, parseHere, readConfig } from "../config-file.ts";
import { connectIfUp } from "../connection.ts";
import { outputOf } from "../context.ts";
import type { Output } from "../output.ts";

type ValidateOptions = { readonly config: readonly string[] };

export function addValidate(group: Command): void {
  group
    .command("validate")
    .argument("<config>", "the experiment's YAML file")
    .addOption(overrides())
    .description("check a configuration: its errors, and its keys without effect")
    .action(validate);
  group
    .command("schema")
    .description("the JSON Schema of a configuration, for editors")
    .action(async (_options: unknown, command: Command) => {
      const { exportJsonSchema } = await import("@trainyard/experiment-config");
      outputOf(command).line(JSON.stringify(exportJsonSchema(), null, 2));
    });
}

async function validate(file: string, options: ValidateOptions, command: Command): Promise<void> {
  const output = outputOf(command);
  const config = await readConfig(file, options.config);
  const client = connectIfUp();
  const answer =
    client === null
      ? await validateHere(config, options.config, output)
      : await client.call(
          "createExperiment",
          { config, overrides: [...options.config], validateOnly: true },
          { idempotencyKey: randomUUID(), soon: true },
        );
  for (const warning of answer.warnings) output.note(`warning: ${warning}`);
  if (output.json) output.message(CreateExperimentResponseSchema, answer);
  else output.line(`${file} is a valid configuration`);
}

/** Validates by the rules that every cluster has; the slots of agents are known only to a cluster. */
async function validateHere(
  config: string,
  given: readonly string[],
  output: Output,
): Promise<Plain<CreateExperimentResponse>> {
  output.note("No cluster runs here, so the number of slots is not checked.");
  const { warnings } = await parseHere(config, given);
  return { warnings: warnings.map(({ path, detail }) => `${path}: ${detail}`), position: "0" };
}
