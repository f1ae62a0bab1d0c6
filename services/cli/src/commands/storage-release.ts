/** Releases the deletions that a log that went back holds, after a look at what was never completed. */
import { randomUUID } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import {
  type DeletionHold,
  GetDeletionHoldResponseSchema,
  ReleaseDeletionsResponseSchema,
  type UnfinishedCheckpoint,
} from "@trainyard/contracts/api";
import type { Client } from "@trainyard/client";
import type { Command } from "commander";
import { type Context, withPlatform } from "../context.ts";
import { type Output, time } from "../output.ts";
import { allPages } from "../pages.ts";
import { canAsk, confirmed } from "../prompts.ts";
import { UsageError } from "../usage-error.ts";

type ReleaseOptions = {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly reason?: string;
};

/** The states of unfinished checkpoints, in words for a person. */
const states: Readonly<Record<string, string>> = {
  declared: "being written",
  named: "its agent may deliver it",
  run_over: "abandoned next",
  void: "abandoned",
};

export function addReleaseCommand(group: Command): void {
  group
    .command("release")
    .option("--yes", "do not ask")
    .option("--dry-run", "only list what was never completed")
    .option("--reason <text>", "kept with the release")
    .description("let deletions continue that are held because the log went back")
    .action(withPlatform<ReleaseOptions>(release));
}

async function release(
  { client, output }: Context,
  _args: readonly string[],
  { yes = false, dryRun = false, reason = "" }: ReleaseOptions,
): Promise<void> {
  let hold: Plain<DeletionHold> | undefined;
  const { items } = await allPages(async (start) => {
    const page = await client.call("getDeletionHold", start);
    hold = page.hold;
    return { ...page, position: "" };
  });
  if (output.json && dryRun) {
    const message = { items, nextPageToken: "", ...(hold && { hold }) };
    output.message(GetDeletionHoldResponseSchema, message);
    return;
  }
  if (hold === undefined) {
    output.note("no deletions are held");
    return;
  }
  if (!output.json) await show(client, output, hold, items);
  if (dryRun) return;
  if (!yes) {
    if (!canAsk()) throw new UsageError("Pass --yes to release the deletions without a question.");
    if (!(await confirmed("Release the deletions?"))) return;
  }
  const options = { idempotencyKey: randomUUID() };
  const answer = await client.call("releaseDeletions", { reason }, options);
  if (output.json) output.message(ReleaseDeletionsResponseSchema, answer);
  else output.note("the deletions are released");
}

async function show(
  client: Client,
  output: Output,
  hold: Plain<DeletionHold>,
  items: readonly Plain<UnfinishedCheckpoint>[],
): Promise<void> {
  output.line(sentenceOf(hold));
  if (items.length === 0) output.line("no checkpoint is unfinished according to the log");
  else showUnfinished(output, items);
  const { items: storages } = await client.call("listStorages", {});
  const condemned = storages.reduce((sum, one) => sum + one.condemned, 0);
  output.line(
    `After the release ${condemned === 1 ? "1 checkpoint is deleted once its" : `${condemned} checkpoints are deleted once their`} grace is over: pin what you need first.`,
  );
  for (const { root, held } of storages.filter((one) => one.held !== "")) {
    output.line(`${root} stays held after the release: ${held}`);
  }
}

function showUnfinished(output: Output, items: readonly Plain<UnfinishedCheckpoint>[]): void {
  output.line(`${items.length} checkpoints were never completed according to the log:`);
  output.table(items, [
    { title: "CHECKPOINT", value: ({ checkpoint }) => checkpoint },
    { title: "TRIAL", value: ({ trial }) => trial },
    { title: "STEP", value: ({ step }) => String(step), right: true },
    { title: "STATE", value: ({ state }) => states[state] ?? state },
    { title: "SINCE", value: ({ sinceMs }) => time(sinceMs) },
    { title: "WHERE", value: ({ place }) => place },
  ]);
  output.line(
    "After the release their files are removed once they are abandoned and their grace is over.",
  );
}

/** Prints a note while deletions are held. */
export async function noteHold({ client, output }: Context): Promise<void> {
  const { hold } = await client.call("getDeletionHold", { pageSize: 1 });
  if (hold !== undefined) output.note(sentenceOf(hold));
}

export function sentenceOf({ sinceMs, detail }: Plain<DeletionHold>): string {
  return `deletions are held since ${time(sinceMs)}: ${detail}; "yard storage release" releases them`;
}
