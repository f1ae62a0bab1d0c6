/** Starts commands and shells on the cluster, and follows a command until it has ended. */
import { randomUUID } from "node:crypto";
import type { Client } from "@trainyard/client";
import type { Plain, RequestInitOf } from "@trainyard/contracts";
import { CreateTaskResponseSchema, type Task } from "@trainyard/contracts/api";
import { pause } from "@trainyard/kernel";
import { type Command, Option } from "commander";
import { readConfig } from "../config-file.ts";
import { taskPage } from "../connection.ts";
import type { Context } from "../context.ts";
import { withPlatform } from "../context.ts";
import { callerPath } from "../environment.ts";
import { detachSignal, logLineText } from "../follow.ts";
import { cliLimits } from "../limits.ts";
import { collect } from "../option-values.ts";
import { firstLine } from "../output.ts";
import { packContext } from "../pack-context.ts";
import { isTaskOver, taskWithPlace } from "../terminal/task-place.ts";
import { Failure, UsageError } from "../usage-error.ts";
import { followedLines } from "./logs.ts";
import { addShellOpen, openTerminal, requireInteractive } from "./terminal.ts";

export type StartOptions = {
  readonly config?: string;
  readonly context?: string;
  readonly set?: readonly string[];
  readonly workspace?: string;
  readonly dryRun?: boolean;
  readonly idempotencyKey?: string;
};

type RunOptions = StartOptions & { readonly follow?: boolean };
type ShellOptions = StartOptions & { readonly detach?: boolean };

export function addStartCommands(program: Command): void {
  const commands = program.command("cmd").alias("command").description("run commands");
  addStartOptions(commands.command("run"))
    .option("--context <folder>", "the folder of files that it starts in")
    .argument("[command...]", "after --: the command and its arguments")
    .option("-f, --follow", "show its output until it ends, and end with its exit code")
    .description("run a command: yard cmd run -- nvidia-smi")
    .action(withPlatform<RunOptions>(runCommand));
  const shells = program.command("shell").description("terminals on the cluster");
  addStartOptions(shells.command("start"))
    .option("--context <folder>", "the folder of files that it starts in")
    .option("--detach", "start it without opening its terminal; so does -o json")
    .description("start a shell, which runs until it is closed or killed, and open its terminal")
    .action(withPlatform<ShellOptions>(startShell));
  addShellOpen(shells);
}

export function addStartOptions(command: Command): Command {
  return command
    .option("--config <file>", "its YAML file")
    .addOption(
      new Option("--set <key=value>", "set a key over the file's, repeatable").argParser(collect),
    )
    .option("--workspace <name>", "the workspace that it belongs to")
    .option("--dry-run", "only check it, and start nothing")
    .option("--idempotency-key <key>", "a retry with the same key returns the first task");
}

async function runCommand(
  { client, output }: Context,
  command: readonly string[],
  options: RunOptions,
): Promise<void> {
  if (options.follow === true && options.dryRun === true) {
    throw new UsageError("--dry-run cannot be combined with --follow.");
  }
  const started = await start(
    { client, output },
    await requestOf("command", command, options),
    options,
  );
  if (options.follow === true && started !== null) await followCommand({ client, output }, started);
}

async function startShell(
  context: Context,
  _args: readonly string[],
  { detach = false, ...options }: ShellOptions,
): Promise<void> {
  const opens = !detach && !context.output.json && options.dryRun !== true;
  if (opens) requireInteractive(" With --detach it is started only.");
  const started = await start(context, await requestOf("shell", [], options), options);
  if (opens && started !== null) await openTerminal(context, started);
}

export async function requestOf(
  kind: string,
  command: readonly string[],
  { config, context, set = [], workspace = "", dryRun = false }: StartOptions,
): Promise<RequestInitOf<"createTask">> {
  const text = await readConfig(config, set, "--set");
  const packed = context === undefined ? null : await packContext(callerPath(context), context);
  return {
    kind,
    config: text,
    command: [...command],
    overrides: [...set],
    workspace,
    validateOnly: dryRun,
    ...(packed === null ? {} : { context: packed.bytes }),
  };
}

type Started = { readonly task: string; readonly position: string };

/** Creates a task, and prints its id and page. Returns null if it was only checked. */
export async function start(
  { client, output }: Context,
  request: RequestInitOf<"createTask">,
  { follow = false, idempotencyKey }: RunOptions,
): Promise<Started | null> {
  const answer = await client.call("createTask", request, {
    idempotencyKey: idempotencyKey ?? randomUUID(),
    soon: true,
  });
  for (const warning of answer.warnings) output.note(`warning: ${warning}`);
  const { task } = answer;
  if (output.json && !follow) output.message(CreateTaskResponseSchema, answer);
  if (task === undefined) {
    if (!output.json) output.line(`the ${request.kind ?? ""} is valid`);
    return null;
  }
  const created = `created ${task.kind} ${task.id}`;
  // A followed command's own output is alone on stdout.
  if (follow) output.note(created);
  else if (!output.json) output.line(created);
  output.note(taskPage(task.id));
  return { task: task.id, position: answer.position };
}

/** Prints the output of a command, each stream to its own, and ends with the exit code of the command. */
async function followCommand(
  { client, output }: Context,
  { task, position }: Started,
): Promise<void> {
  const signal = detachSignal(output, "the command continues");
  try {
    await taskWithPlace({ client, output, task, position, signal });
    const lines = followedLines(client, { task }, {}, { outlast: true, signal });
    for await (const line of lines) {
      const text = logLineText(output, line, false);
      if (output.json || line.source === "stdout") output.line(text);
      else output.note(text);
    }
    const ended = await taskAtEnd(client, task, signal);
    if (ended !== null) requireSuccess(ended);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/**
 * Returns the task once it has ended. Its log has ended before, so only a replica that is behind does not know it yet.
 */
async function taskAtEnd(
  client: Client,
  task: string,
  signal: AbortSignal,
): Promise<Plain<Task> | null> {
  while (!signal.aborted) {
    const found = await client.call("getTask", { task }, { outlast: true, signal });
    if (isTaskOver(found)) return found;
    await pause(client.clock, cliLimits.taskEndAgainMs, signal);
  }
  return null;
}

/** Throws a Failure with the command's exit code; with 1 if it has none, because it was killed or never started. */
function requireSuccess({ id, state, reason, exitCode }: Plain<Task>): void {
  if (state === "COMPLETED") return;
  const why = reason === "" ? "" : `: ${firstLine(reason)}`;
  throw new Failure(`Task ${id} ended ${state}${why}.`, exitCode || 1);
}
