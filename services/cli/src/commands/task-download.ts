import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { callerPath } from "../environment.ts";
import { unpackSave } from "../unpack-save.ts";
import { Failure } from "../usage-error.ts";

export function addTaskDownload(group: Command): void {
  group
    .command("download")
    .argument("<task>", "t12")
    .argument("[folder]", "where to, by default a folder named after the task")
    .description("the files of its latest save; it may have changed some since")
    .action(withPlatform(download));
}

async function download({ client, output }: Context, args: readonly string[]): Promise<void> {
  const task = argument(args, 0);
  const shown = args[1] ?? task;
  const { items } = await client.call("listCheckpoints", {
    task,
    filter: "state = COMPLETED",
    orderBy: "steps_completed desc",
    pageSize: 1,
  });
  const [latest] = items;
  if (latest === undefined) {
    throw new Failure(
      `Nothing of task ${task} is saved: the folder of its run has no complete save.`,
    );
  }
  const body = await client.download("downloadCheckpoint", { checkpoint: latest.uuid, globs: [] });
  await unpackSave(callerPath(shown), body);
  output.note(`downloaded save ${latest.uuid} of ${task} to ${shown}`);
}
