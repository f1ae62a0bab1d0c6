/** Commands on checkpoints: pin, delete, undo a deletion, explain what keeps them. */
import { randomUUID } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import {
  CheckpointChangeResponseSchema,
  DeleteCheckpointResponseSchema,
  PreviewRetentionResponseSchema,
} from "@trainyard/contracts/api";
import type { RetentionSettings, RetentionVerdict } from "@trainyard/contracts/commands";
import { assert } from "@trainyard/kernel";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { collect, wholeNumberOf } from "../option-values.ts";
import { number, time } from "../output.ts";
import { cliLimits } from "../limits.ts";
import { stateWord } from "../state-words.ts";
import { UsageError } from "../usage-error.ts";

type ReasonOption = { readonly reason?: string };
const reasonOption = ["--reason <text>", "recorded with your name"] as const;

export function addCheckpointLife(group: Command): void {
  group
    .command("pin")
    .argument("<checkpoint>")
    .option(...reasonOption)
    .description("keep it, whatever the policy says; one that is to be deleted is spared")
    .action(withPlatform<ReasonOption>(pin));
  group
    .command("unpin")
    .argument("<checkpoint>")
    .option("--holder <name>", "another person, whose pin it is")
    .description("take a pin away")
    .action(withPlatform<{ readonly holder?: string }>(unpin));
  group
    .command("delete")
    .alias("rm")
    .argument("<checkpoint>")
    .option("--glob <pattern>", "only these files, at once; repeatable", collect)
    .option(...reasonOption)
    .description("delete it after the grace period, or some of its files at once")
    .action(withPlatform<ReasonOption & { readonly glob?: readonly string[] }>(remove));
  group
    .command("undelete")
    .argument("<checkpoint>")
    .option(...reasonOption)
    .description("take back a deletion before its grace period ends, and pin the checkpoint")
    .action(withPlatform<ReasonOption>(undelete));
  group
    .command("gc")
    .argument("<experiment>")
    .option("--preview", "show what keeps or deletes each checkpoint, and change nothing")
    .option(
      `${flags.saveExperimentBest} <n>`,
      "checkpoints of the experiment to keep by its metric",
    )
    .option(`${flags.saveTrialBest} <n>`, "checkpoints of each trial to keep by its metric")
    .option(`${flags.saveTrialLatest} <n>`, "latest checkpoints of each trial to keep")
    .option(...reasonOption)
    .description("change which checkpoints an experiment keeps; also one that has ended")
    .action(withPlatform<GcOptions>(gc));
}

type Policy = Plain<RetentionSettings>;

/** The option of each setting. */
const flags: Readonly<Record<keyof Policy, string>> = {
  saveExperimentBest: "--save-experiment-best",
  saveTrialBest: "--save-trial-best",
  saveTrialLatest: "--save-trial-latest",
};

type GcOptions = ReasonOption & { readonly preview?: boolean } & {
  readonly [Setting in keyof Policy]?: string;
};

async function pin(
  { client, output }: Context,
  args: readonly string[],
  { reason = "" }: ReasonOption,
): Promise<void> {
  const checkpoint = argument(args, 0);
  const answer = await client.call("pinCheckpoint", { checkpoint, reason }, repeatable());
  if (output.json) output.message(CheckpointChangeResponseSchema, answer);
  else output.note(`checkpoint ${checkpoint} is pinned`);
}

async function unpin(
  { client, output }: Context,
  args: readonly string[],
  { holder = "" }: { readonly holder?: string },
): Promise<void> {
  const checkpoint = argument(args, 0);
  const answer = await client.call("unpinCheckpoint", { checkpoint, holder }, repeatable());
  if (output.json) output.message(CheckpointChangeResponseSchema, answer);
  else output.note(`checkpoint ${checkpoint} is unpinned`);
}

async function remove(
  { client, output }: Context,
  args: readonly string[],
  { reason = "", glob = [] }: ReasonOption & { readonly glob?: readonly string[] },
): Promise<void> {
  const checkpoint = argument(args, 0);
  const request = { checkpoint, reason, globs: [...glob] };
  const answer = await client.call("deleteCheckpoint", request, repeatable());
  if (output.json) output.message(DeleteCheckpointResponseSchema, answer);
  else if (glob.length > 0) output.note(`files of checkpoint ${checkpoint} are being deleted`);
  else {
    const undo = `yard checkpoint undelete ${checkpoint}`;
    output.note(
      `checkpoint ${checkpoint} is deleted after ${time(answer.graceEndMs)} UTC; until then "${undo}" takes it back`,
    );
  }
}

async function undelete(
  { client, output }: Context,
  args: readonly string[],
  { reason = "" }: ReasonOption,
): Promise<void> {
  const checkpoint = argument(args, 0);
  const answer = await client.call("undeleteCheckpoint", { checkpoint, reason }, repeatable());
  if (output.json) output.message(CheckpointChangeResponseSchema, answer);
  else output.note(`checkpoint ${checkpoint} is kept, and pinned`);
}

async function gc(context: Context, args: readonly string[], options: GcOptions): Promise<void> {
  const { client, output } = context;
  const experiment = argument(args, 0);
  const settings = settingsOf(options);
  if (options.preview === true) return preview(context, experiment, settings);
  if (Object.keys(settings).length === 0) {
    throw new UsageError("Give --preview, or what to keep: --save-trial-best 1, say.");
  }
  const { policy: held } = await client.call("previewRetention", { experiment, pageSize: 1 });
  // Settings that are not given stay as they are: a default in their place could delete checkpoints.
  assert(held !== undefined, "the preview has the policy in force");
  const policy = { ...held, ...settings };
  const { reason = "" } = options;
  const request = { experiment, reason, ...policy };
  const answer = await client.call("setRetentionPolicy", request, repeatable());
  if (output.json) output.message(CheckpointChangeResponseSchema, answer);
  else output.note(`experiment ${experiment} keeps ${policyText(policy)}`);
}

/** Returns the settings whose options are given. */
function settingsOf(options: GcOptions): Partial<Policy> {
  const settings: Partial<Record<keyof Policy, number>> = {};
  for (const [key, flag] of Object.entries(flags)) {
    const setting = key as keyof Policy;
    const text = options[setting];
    if (text !== undefined) settings[setting] = wholeNumberOf(flag, text);
  }
  return settings;
}

async function preview(
  { client, output }: Context,
  experiment: string,
  settings: Partial<Policy>,
): Promise<void> {
  const items: Plain<RetentionVerdict>[] = [];
  let [pageToken, policy] = ["", {}];
  do {
    const request = { experiment, ...settings, pageToken, pageSize: cliLimits.pageSize };
    const page = await client.call("previewRetention", request);
    items.push(...page.items);
    pageToken = page.nextPageToken;
    policy = page.policy === undefined ? {} : { policy: page.policy };
  } while (pageToken !== "");
  if (output.json) {
    output.message(PreviewRetentionResponseSchema, { items, nextPageToken: "", ...policy });
    return;
  }
  output.table(items, [
    { title: "CHECKPOINT", value: ({ checkpoint }) => checkpoint },
    { title: "TRIAL", value: ({ trial }) => trial, right: true },
    { title: "STEPS", value: ({ step }) => String(step), right: true },
    { title: "METRIC", value: ({ value }) => number(value), right: true },
    { title: "STATE", value: ({ state }) => stateWord(state) },
    { title: "VERDICT", value: verdictWord },
    { title: "BECAUSE", value: (one) => becauseOf(one).join("; ") },
  ]);
}

function verdictWord({ state, keeps }: Plain<RetentionVerdict>): string {
  if (state === "deleting" || state === "deleted") return "";
  return keeps ? "keep" : "delete";
}

/** Returns the reasons that keep or condemn a checkpoint, as sentences. */
export function becauseOf(verdict: Plain<RetentionVerdict>): readonly string[] {
  const { keptBy, competitors, by, reason, waits, graceEndMs } = verdict;
  const told = [...keptBy];
  if (by !== "") told.push(`${by} deletes it${reason === "" ? "" : `: ${reason}`}`);
  else if (keptBy.length === 0) {
    const [first] = competitors;
    const others = competitors.length > 1 ? ` and ${competitors.length - 1} more` : "";
    const rank = others === "" ? "ranks" : "rank";
    const ahead = first === undefined ? "" : `; ${first.checkpoint}${others} ${rank} higher`;
    told.push(`no ranking of the policy keeps it${ahead}`);
  }
  if (graceEndMs !== undefined) told.push(`its grace period ends ${time(graceEndMs)}`);
  if (waits !== "") told.push(`its deletion waits: ${waits}`);
  return told;
}

function policyText(policy: Policy): string {
  const { saveExperimentBest, saveTrialBest, saveTrialLatest } = policy;
  return `the ${saveExperimentBest} best of the experiment, the ${saveTrialBest} best and the ${saveTrialLatest} latest of each trial`;
}

const repeatable = () => ({ idempotencyKey: randomUUID() });
