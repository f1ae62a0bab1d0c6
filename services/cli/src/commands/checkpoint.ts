import { mkdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { CheckpointSchema, ListCheckpointsResponseSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { extract } from "tar";
import { argument, type Context, withPlatform } from "../context.ts";
import { callerPath } from "../environment.ts";
import { time } from "../output.ts";
import { allPages } from "../pages.ts";

export function addCheckpointCommands(program: Command): void {
  const group = program.command("checkpoint").alias("c").description("the checkpoints of trials");
  group
    .command("list")
    .alias("ls")
    .argument("<experiment or trial>", "12, or 12.3")
    .description("an experiment's or a trial's checkpoints")
    .action(withPlatform(list));
  group
    .command("describe")
    .argument("<checkpoint>")
    .description("one, with its files")
    .action(withPlatform(describe));
  group
    .command("download")
    .argument("<checkpoint>")
    .argument("[folder]", "where to, by default a folder named after it")
    .description("its files")
    .action(withPlatform(download));
}

async function list({ client, output }: Context, args: readonly string[]): Promise<void> {
  const owner = argument(args, 0);
  const whose = owner.includes(".") ? { trial: owner } : { experiment: owner };
  const page = await allPages((start) => client.call("listCheckpoints", { ...whose, ...start }));
  if (output.json) {
    output.message(ListCheckpointsResponseSchema, page);
    return;
  }
  output.table(page.items, [
    { title: "CHECKPOINT", value: ({ uuid }) => uuid },
    { title: "TRIAL", value: ({ trial }) => trial, right: true },
    { title: "STEPS", value: (one) => String(one.stepsCompleted), right: true },
    { title: "STATE", value: ({ state }) => state },
    { title: "FILES", value: (one) => String(one.files), right: true },
    { title: "BYTES", value: (one) => String(one.bytes), right: true },
    { title: "COMPLETED", value: (one) => time(one.completedAtMs) },
  ]);
}

async function describe({ client, output }: Context, args: readonly string[]): Promise<void> {
  const checkpoint = await client.call("getCheckpoint", { checkpoint: argument(args, 0) });
  if (output.json) {
    output.message(CheckpointSchema, checkpoint);
    return;
  }
  output.fields([
    ["checkpoint", checkpoint.uuid],
    ["trial", checkpoint.trial],
    ["run", String(checkpoint.run)],
    ["steps", String(checkpoint.stepsCompleted)],
    ["state", checkpoint.state],
    ["storage", checkpoint.storageId ?? ""],
    ["reason", checkpoint.reason],
    ["declared", time(checkpoint.declaredAtMs)],
    ["completed", time(checkpoint.completedAtMs)],
    ["metadata", JSON.stringify(checkpoint.metadata ?? {})],
  ]);
  output.table(checkpoint.manifest, [
    { title: "FILE", value: ({ path }) => path },
    { title: "BYTES", value: ({ bytes }) => String(bytes), right: true },
    { title: "SHA-256", value: ({ sha256 }) => sha256 },
  ]);
}

async function download({ client, output }: Context, args: readonly string[]): Promise<void> {
  const checkpoint = argument(args, 0);
  const shown = args[1] ?? checkpoint;
  const folder = callerPath(shown);
  const body = await client.download("downloadCheckpoint", { checkpoint });
  await mkdir(folder, { recursive: true });
  await pipeline(Readable.fromWeb(body), createGunzip(), extract({ cwd: folder, strict: true }));
  output.note(`downloaded to ${shown}`);
}
