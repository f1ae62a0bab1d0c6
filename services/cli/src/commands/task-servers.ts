/** Starts notebooks and TensorBoards on the cluster, and prints the link to their page once the server answers. */
import type { Command } from "commander";
import { type Context, withPlatform } from "../context.ts";
import { wholeNumberOf } from "../option-values.ts";
import { UsageError } from "../usage-error.ts";
import { openPage } from "./task-open.ts";
import { addStartOptions, requestOf, start, type StartOptions } from "./task-start.ts";

type ServerOptions = StartOptions & { readonly slots?: string; readonly wait: boolean };

export function addServerCommands(program: Command): void {
  const notebooks = program.command("notebook").description("JupyterLab on the cluster");
  addServerOptions(notebooks.command("start"))
    .argument("[config]", "its YAML file, as with --config")
    .option("--context <folder>", "the folder of files that it starts in")
    .description("start a notebook, and print the link to its page when it answers")
    .action(withPlatform<ServerOptions>(startNotebook));
  const boards = program.command("tensorboard").description("TensorBoard on the cluster");
  addServerOptions(boards.command("start"))
    .argument("<sources...>", "experiments and trials: 12 13.4")
    .description("start a TensorBoard of experiments and trials, and print the link to its page")
    .action(withPlatform<ServerOptions>(startBoard));
}

function addServerOptions(command: Command): Command {
  return addStartOptions(command)
    .option("--slots <number>", "the number of slots of one agent")
    .option("--no-wait", "start it without waiting for its page; so does -o json");
}

async function startNotebook(
  context: Context,
  [file]: readonly string[],
  options: ServerOptions,
): Promise<void> {
  if (file !== undefined && options.config !== undefined) {
    throw new UsageError("Name the configuration once: as an argument or with --config.");
  }
  const config = file ?? options.config;
  await startServer(context, "notebook", [], {
    ...options,
    ...(config === undefined ? {} : { config }),
  });
}

async function startBoard(
  context: Context,
  sources: readonly string[],
  options: ServerOptions,
): Promise<void> {
  await startServer(context, "tensorboard", sources, options);
}

async function startServer(
  context: Context,
  kind: string,
  sources: readonly string[],
  { slots, wait, ...options }: ServerOptions,
): Promise<void> {
  const number = slots === undefined ? [] : [`resources.slots=${wholeNumberOf("--slots", slots)}`];
  const set = [...(options.set ?? []), ...number];
  const request = await requestOf(kind, [], { ...options, set });
  const started = await start(context, { ...request, sources: [...sources] }, options);
  const opens = wait && !context.output.json;
  if (opens && started !== null) await openPage(context, { ...started, port: 0, local: false });
}
