/** The commands that move experiments and models to another workspace or project. */
import { randomUUID } from "node:crypto";
import { ActOnExperimentsResponseSchema, ModelResponseSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, withPlatform } from "../context.ts";
import { printable } from "../output.ts";
import { Failure } from "../usage-error.ts";
import { lineOf } from "./experiment-verbs.ts";

type Options = {
  readonly workspace?: string;
  readonly project?: string;
  readonly dryRun?: boolean;
};

export function addMoveExperiments(group: Command): void {
  group
    .command("move")
    .argument("<experiments...>", "one or more numbers")
    .option("--workspace <name>", "by default the workspace default")
    .option("--project <name>", "by default the project default of the workspace")
    .option("--dry-run", "say what would happen to each, and change nothing")
    .description(
      "into a project; runs that are requested later count for the quota of its workspace",
    )
    .action(async (...given: unknown[]) => {
      // Commander passes the experiment numbers as one list.
      const experiments = given[0] as readonly string[];
      await withPlatform<Options>(async ({ client, output }, _args, options) => {
        const { workspace = "", project = "", dryRun = false } = options;
        const answer = await client.call(
          "moveExperiments",
          { experiments: [...experiments], workspace, project, dryRun },
          { idempotencyKey: randomUUID() },
        );
        if (output.json) output.message(ActOnExperimentsResponseSchema, answer);
        else for (const item of answer.items) output.line(lineOf(item, "move", dryRun));
        const refused = answer.items.filter(({ outcome }) => outcome === "refused").length;
        if (refused > 0) throw new Failure(`${refused} of ${experiments.length} were refused.`);
      })(...given);
    });
}

export function addMoveModel(group: Command): void {
  group
    .command("move")
    .argument("<model>")
    .argument("<workspace>")
    .description("into a workspace")
    .action(
      withPlatform(async ({ client, output }, args) => {
        const request = { model: argument(args, 0), workspace: argument(args, 1) };
        const answer = await client.call("moveModel", request, { idempotencyKey: randomUUID() });
        if (output.json) output.message(ModelResponseSchema, answer);
        else
          output.line(`model ${request.model} is in ${printable(answer.model?.workspace ?? "")}`);
      }),
    );
}
