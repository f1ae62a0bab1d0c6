/** Deletes experiments, previews a deletion, and lists the deletions that can be undone. */
import { randomUUID } from "node:crypto";
import {
  DeleteExperimentResponseSchema,
  ListDeletedExperimentsResponseSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { type Context, withPlatform } from "../context.ts";
import { time } from "../output.ts";
import { allPages } from "../pages.ts";
import { actOnEach } from "./experiment-verbs.ts";

type DeleteOptions = { readonly dryRun?: boolean; readonly reason?: string };

export function addDeleteCommands(group: Command): void {
  group
    .command("delete")
    .argument("<experiments...>", "one or more numbers")
    .option("--dry-run", "say what would be deleted and what stays, and change nothing")
    .option("--reason <text>", "kept with the deletion")
    .description("hide what has ended, and delete it after a grace; undelete brings it back")
    .action(async (...given: unknown[]) => {
      // Commander passes the experiment numbers as one list.
      const ids = given[0] as readonly string[];
      await withPlatform<DeleteOptions>((context, _args, options) =>
        ids.length === 1
          ? deleteExperiment(context, ids[0] ?? "", options)
          : deleteSeveral(context, ids, options),
      )(...given);
    });
  group
    .command("deleted")
    .description("those that can be brought back")
    .action(withPlatform(listDeleted));
}

async function deleteExperiment(
  { client, output }: Context,
  experiment: string,
  { dryRun = false, reason = "" }: DeleteOptions,
): Promise<void> {
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

/** Deletes several experiments. The checkpoints that something still needs are printed before anything is deleted. */
async function deleteSeveral(
  context: Context,
  experiments: readonly string[],
  { dryRun = false, reason = "" }: DeleteOptions,
): Promise<void> {
  const { client, output } = context;
  const request = { experiments: [...experiments], verb: "delete", reason, dryRun: true };
  const options = { idempotencyKey: randomUUID() };
  const { items } = await client.call("actOnExperiments", request, options);
  if (!output.json) {
    for (const { experiment } of items.filter(({ outcome }) => outcome === "changed")) {
      const asked = { experiment, reason, dryRun: true };
      const key = { idempotencyKey: randomUUID() };
      const { kept } = await client.call("deleteExperiment", asked, key);
      for (const { checkpoint, why } of kept) {
        output.line(`checkpoint ${checkpoint} of experiment ${experiment} stays: ${why}`);
      }
    }
  }
  await actOnEach(context, { ...request, dryRun });
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
