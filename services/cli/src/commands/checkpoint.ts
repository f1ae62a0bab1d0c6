import type { Plain } from "@trainyard/contracts";
import {
  type Checkpoint,
  CheckpointSchema,
  ListCheckpointsResponseSchema,
} from "@trainyard/contracts/api";
import { holderText, isTaskId } from "@trainyard/kernel";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { callerPath } from "../environment.ts";
import { addRowOptions, listedRows, type RowOptions } from "../list-options.ts";
import { collect } from "../option-values.ts";
import { time } from "../output.ts";
import { unpackInto } from "../unpack-into.ts";
import { addCheckpointFiles } from "./checkpoint-files.ts";
import { addCheckpointLife, becauseOf } from "./checkpoint-life.ts";
import { stateWord } from "../state-words.ts";

export function addCheckpointCommands(program: Command): void {
  const group = program.command("checkpoint").alias("c").description("the checkpoints of trials");
  addRowOptions(group.command("list"))
    .alias("ls")
    .argument("<experiment, trial or task>", "12, 12.3 or t12")
    .description("an experiment's or a trial's checkpoints, or the saves of a task's folder")
    .action(withPlatform<RowOptions>(list));
  group
    .command("describe")
    .argument("<checkpoint>")
    .description("one, with its files and what keeps or deletes it")
    .action(withPlatform(describe));
  group
    .command("download")
    .argument("<checkpoint>")
    .argument("[folder]", "where to, by default a folder named after it")
    .option("--glob <pattern>", "only these files: **/*.pt, say; repeatable", collect)
    .description("its files")
    .action(withPlatform<GlobOption>(download));
  addCheckpointFiles(group);
  addCheckpointLife(group);
}

async function list(
  { client, output }: Context,
  args: readonly string[],
  options: RowOptions,
): Promise<void> {
  const owner = argument(args, 0);
  const whose = ownerIn(owner);
  const items = await listedRows(output, ListCheckpointsResponseSchema, options, (asked) =>
    client.call("listCheckpoints", { ...whose, ...asked }),
  );
  if (items === null) return;
  output.table(items, [
    { title: "CHECKPOINT", value: ({ uuid }) => uuid },
    "task" in whose
      ? { title: "TASK", value: ({ task = "" }) => task, right: true }
      : { title: "TRIAL", value: ({ trial }) => trial, right: true },
    { title: "STEPS", value: (one) => String(one.stepsCompleted), right: true },
    { title: "STATE", value: ({ state }) => stateWord(state) },
    { title: "FILES", value: (one) => String(one.files), right: true },
    { title: "BYTES", value: (one) => String(one.bytes), right: true },
    { title: "COMPLETED", value: (one) => time(one.completedAtMs) },
  ]);
}

function ownerIn(id: string) {
  if (isTaskId(id)) return { task: id };
  return id.includes(".") ? { trial: id } : { experiment: id };
}

async function describe({ client, output }: Context, args: readonly string[]): Promise<void> {
  const checkpoint = await client.call("getCheckpoint", { checkpoint: argument(args, 0) });
  if (output.json) {
    output.message(CheckpointSchema, checkpoint);
    return;
  }
  // The SDK stores the versions of its environment in the metadata, beside the script's own entries.
  const { trainyard_versions: versions, ...metadata } = checkpoint.metadata ?? {};
  const isListed = checkpoint.manifest.length > 0 || checkpoint.files === 0;
  output.fields([
    ["checkpoint", checkpoint.uuid],
    [
      "uploaded",
      checkpoint.uploadedBy === undefined ? "" : `from a folder by ${checkpoint.uploadedBy}`,
    ],
    ["task", checkpoint.task ?? ""],
    ["trial", checkpoint.trial],
    ["run", checkpoint.run === 0 ? "" : String(checkpoint.run)],
    ["steps", checkpoint.trial === "" ? "" : String(checkpoint.stepsCompleted)],
    ["state", stateWord(checkpoint.state)],
    ["storage", checkpoint.storageId ?? ""],
    ["reason", checkpoint.reason],
    ["declared", time(checkpoint.declaredAtMs)],
    ["completed", time(checkpoint.completedAtMs)],
    ["metadata", JSON.stringify(metadata)],
    ["versions", versionsOf(versions)],
    ["hyperparameters", JSON.stringify(checkpoint.hyperparameters ?? {})],
    ["metrics", JSON.stringify(checkpoint.metrics ?? {})],
    ["code", checkpoint.codeDigest],
    ...checkpoint.pins.map(({ holder, reason }): [string, string] => [
      "pinned by",
      reason === "" ? holderText(holder) : `${holderText(holder)}: ${reason}`,
    ]),
    ...(await retentionOf({ client, output }, checkpoint)),
    ["files", isListed ? "" : unlistedText(checkpoint)],
  ]);
  if (!isListed) return;
  output.table(checkpoint.manifest, [
    { title: "FILE", value: ({ path }) => path },
    { title: "BYTES", value: ({ bytes }) => String(bytes), right: true },
    { title: "SHA-256", value: ({ sha256 }) => sha256 },
  ]);
}

/** The API lists the files of a complete checkpoint only, and those of a task's save not to everybody. */
function unlistedText({ files, bytes, state, task }: Plain<Checkpoint>): string {
  const isSave = task !== undefined && state === "COMPLETED";
  const why = isSave
    ? "its owner reads them, and those with task_control in the workspace"
    : "they are listed while the checkpoint is complete";
  return `${files}, with ${bytes} bytes; ${why}`;
}

/** Names the versions of Python, the SDK and the frameworks that wrote the checkpoint; empty if it names none. */
function versionsOf(versions: unknown): string {
  if (typeof versions !== "object" || versions === null) return "";
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${String(version)}`)
    .join(", ");
}

/** Asks for the retention of a checkpoint; only a complete one has it. */
async function retentionOf(
  { client }: Context,
  { uuid, completedAtMs }: Plain<Checkpoint>,
): Promise<readonly (readonly [string, string])[]> {
  if (completedAtMs === undefined) return [];
  const verdict = await client.call("explainCheckpoint", { checkpoint: uuid });
  const name = verdict.keeps ? "kept" : verdict.state === "deleted" ? "deleted" : "given up";
  return becauseOf(verdict).map((because) => [name, because]);
}

type GlobOption = { readonly glob?: readonly string[] };

async function download(
  { client, output }: Context,
  args: readonly string[],
  { glob = [] }: GlobOption,
): Promise<void> {
  const checkpoint = argument(args, 0);
  const shown = args[1] ?? checkpoint;
  const folder = callerPath(shown);
  const body = await client.download("downloadCheckpoint", { checkpoint, globs: [...glob] });
  await unpackInto(folder, body);
  output.note(`downloaded to ${shown}`);
}
