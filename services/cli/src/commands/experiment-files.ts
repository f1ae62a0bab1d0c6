/** Lists the files of an experiment's stored code, and prints the text of one. */
import { GetCodeFileResponseSchema, ListCodeFilesResponseSchema } from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { printableLines } from "../output.ts";
import { allPages } from "../pages.ts";
import { Failure } from "../usage-error.ts";

export function addFileCommand(group: Command): void {
  group
    .command("files")
    .argument("<experiment>")
    .argument("[path]", "print this file, up to its first MiB")
    .description("the files of its stored code, or the text of one")
    .action(withPlatform(files));
}

async function files(context: Context, args: readonly string[]): Promise<void> {
  const experiment = argument(args, 0);
  const path = args[1];
  if (path !== undefined) {
    await printFile(context, experiment, path);
    return;
  }
  const { client, output } = context;
  const page = await allPages(async (start) => ({
    ...(await client.call("listCodeFiles", { experiment, ...start })),
    position: "",
  }));
  if (output.json) {
    output.message(ListCodeFilesResponseSchema, { items: page.items, nextPageToken: "" });
    return;
  }
  output.table(page.items, [
    { title: "PATH", value: ({ path: own, link }) => (link === "" ? own : `${own} -> ${link}`) },
    { title: "BYTES", value: ({ bytes }) => String(bytes), right: true },
    { title: "SHA-256", value: ({ sha256 }) => sha256.slice(0, 16) },
  ]);
}

async function printFile(
  { client, output }: Context,
  experiment: string,
  path: string,
): Promise<void> {
  const found = await client.call("getCodeFile", { experiment, path });
  if (output.json) {
    output.message(GetCodeFileResponseSchema, found);
    return;
  }
  if (found.binary) {
    throw new Failure(`${path} is not text: save it with yard experiment download ${experiment}.`);
  }
  output.line(printableLines(found.text.replace(/\n$/, "")));
  if (found.truncated) output.note(`${path} is longer: this is its first MiB`);
}
