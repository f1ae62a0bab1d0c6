/** The commands that show a task's terminal, and that execute programs in a task. */
import { type Command, Option } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { collect } from "../option-values.ts";
import { attach, endedText, exitCodeOf } from "../terminal/attach.ts";
import { execute, executeInTerminal, type Program } from "../terminal/execute.ts";
import { requireConsole } from "../terminal/local-terminal.ts";
import { hasStarted, type TaskPlace } from "../terminal/task-place.ts";
import { Failure, UsageError } from "../usage-error.ts";

const leaveHelp =
  "\nIn a terminal, the keys ~. at the start of a line leave it, and ~~ types one ~.";

type OpenOptions = { readonly terminal?: string };

export function addShellOpen(shells: Command): void {
  shells
    .command("open")
    .argument("<task>", "t12")
    .option("--terminal <name>", "one of its terminals; a new one if there is none", "main")
    .description("open a terminal of a shell or of a running command")
    .addHelpText("after", leaveHelp)
    .action(
      withPlatform<OpenOptions>(async (context, args, options) => {
        requireInteractive();
        await openTerminal(context, { ...options, task: argument(args, 0) });
      }),
    );
}

type ExecOptions = {
  readonly tty?: boolean;
  readonly env?: readonly string[];
  readonly dir?: string;
};

export function addTaskExec(tasks: Command): void {
  tasks
    .command("exec")
    .argument("<task>", "t12")
    .argument("<command...>", "after --: the command and its arguments")
    .option("-t, --tty", "in a terminal")
    .addOption(new Option("--env <key=value>", "set a variable, repeatable").argParser(collect))
    .option("--dir <folder>", "the folder that it starts in; the task's folder by default")
    .description("execute a command in a running task: yard task exec t12 -- ps aux")
    .addHelpText("after", leaveHelp)
    .action(withPlatform<ExecOptions>(exec));
}

/** Throws a UsageError unless a terminal can be shown. */
export function requireInteractive(instead = " yard task exec works without one."): void {
  requireConsole(instead);
}

type Opened = { readonly task: string; readonly terminal?: string; readonly position?: string };

/** Shows a terminal of a task once the task runs. Ends with the exit code of the terminal's program. */
export async function openTerminal(
  { client, output }: Context,
  { task, terminal = "main", position = "" }: Opened,
): Promise<void> {
  if (!(await waitedFor({ client, output, task, position }))) return;
  const ended = await attach({ task, terminal, clock: client.clock, output });
  const name = terminal === "main" ? "" : ` --terminal ${terminal}`;
  if (ended === null) {
    output.note(`left task ${task}, which continues; back with: yard shell open ${task}${name}`);
    return;
  }
  const code = exitCodeOf(ended);
  const text = `The terminal ${terminal} of task ${task} ended ${endedText(ended)}.`;
  if (code !== 0) throw new Failure(text, code);
  output.note(text);
}

/** Returns whether the task runs: Ctrl-C leaves the wait. */
async function waitedFor(place: TaskPlace): Promise<boolean> {
  const leave = new AbortController();
  const left = (): void => {
    place.output.note("detached; the task continues");
    leave.abort();
  };
  process.once("SIGINT", left);
  try {
    return await hasStarted({ ...place, signal: leave.signal });
  } finally {
    process.off("SIGINT", left);
  }
}

async function exec(
  { client, output }: Context,
  [task = "", ...command]: readonly string[],
  { tty = false, env = [], dir = "" }: ExecOptions,
): Promise<void> {
  if (output.json) {
    throw new UsageError("The output of task exec is that of the command: -o json has none.");
  }
  if (tty) requireConsole(" Leave out -t.");
  const environment = Object.fromEntries(env.map(variableOf));
  await hasStarted({ client, output, task });
  const program: Program = {
    task,
    command,
    environment,
    directory: dir,
    clock: client.clock,
    output,
  };
  const ended = await (tty ? executeInTerminal(program) : execute(program));
  if (ended === null) throw new Failure("Left the command, which gets SIGHUP.");
  const code = exitCodeOf(ended);
  // The error output is that of the command alone.
  if (code !== 0) throw new Failure("", code);
}

function variableOf(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--env takes key=value, not "${text}".`);
  return [text.slice(0, at), text.slice(at + 1)];
}
