/** Deletes experiments, says what would go and what stays, and lists what can be brought back. */
import { randomUUID } from "node:crypto";
import {
  DeleteExperimentResponseSchema,
  ListDeletedExperimentsResponseSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { time } from "../output.ts";
import { allPages } from "../pages.ts";

type DeleteOptions = { readonly dryRun?: boolean; readonly reason?: string };

export function addDeleteCommands(group: Command): void {
  group
    .command("delete")
    .argument("<experiment>")
    .option("--dry-run", "say what would be deleted and what stays, and change nothing")
    .option("--reason <text>", "kept with the deletion")
    .description("hide one that has ended, and delete it after a grace; undelete brings it back")
    .action(withPlatform<DeleteOptions>(deleteExperiment));
  group
    .command("deleted")
    .description("those that can be brought back")
    .action(withPlatform(listDeleted));
}

async function deleteExperiment(
  { client, output }: Context,
  args: readonly string[],
  { dryRun = false, reason = "" }: DeleteOptions,
): Promise<void> {
  const experiment = argument(args, 0);
  const request = { experiment, reason, dryRun };
  const answer = await client.call("deleteExperiment", request, { idempotencyKey: randomUUID() });
  if (output.json) {
    output.message(DeleteExperimentResponseSchema, answer);
    return;
  }
  const { checkpoints, kept, graceEndMs } = answer;
  const going = `${checkpoints - kept.length} of its ${checkpoints} checkpoints`;
  if (dryRun) output.line(`experiment ${experiment}: would be deleted, with ${going}`);
  else
    output.line(
      `experiment ${experiment}: deleted, with ${going}; it can be brought back until ${time(graceEndMs)}`,
    );
  for (const { checkpoint, why } of kept) output.line(`checkpoint ${checkpoint} stays: ${why}`);
}

async function listDeleted({ client, output }: Context): Promise<void> {
  const page = await allPages((start) => client.call("listDeletedExperiments", start));
  if (output.json) {
    output.message(ListDeletedExperimentsResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "EXPERIMENT", value: ({ id }) => id, right: true },
    { title: "NAME", value: ({ name }) => name },
    { title: "UNTIL", value: ({ graceEndMs }) => time(graceEndMs) },
    { title: "REASON", value: ({ reason }) => reason },
  ]);
}
