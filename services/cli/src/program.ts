import { readFileSync } from "node:fs";
import { ApiError, Unreachable } from "@trainyard/client";
import { ClusterError } from "@trainyard/local-cluster/cluster-error";
import { Command, CommanderError, Option } from "commander";
import { addCommands } from "./command-groups.ts";
import { printableLines } from "./output.ts";
import { Failure, UsageError } from "./usage-error.ts";

/**
 * Exit codes. 0: done. 1: failed, not completed or unreachable. 2: wrong usage or input. A followed command on the
 * cluster has its own.
 */
type ExitCode = number;

/** The version of this command line; `yard version` asks the cluster for its own. */
const { version } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
) as { readonly version: string };

async function createProgram(first: string | undefined): Promise<Command> {
  const program = new Command("yard")
    .description("Trainyard from the command line")
    .version(version, "-V, --version", "print the version of this command line")
    .addOption(
      new Option("-o, --output <format>", "what goes to stdout")
        .choices(["table", "json"])
        .default("table"),
    )
    .showHelpAfterError("(see --help)")
    .exitOverride();
  await addCommands(program, first);
  inherit(program);
  return program;
}

/** Gives subcommands the option -o, and makes them throw instead of exiting the process. */
function inherit(command: Command): void {
  for (const sub of command.commands) {
    sub.exitOverride().showHelpAfterError("(see --help)");
    if (sub.commands.length === 0) {
      sub.addOption(
        new Option("-o, --output <format>", "what goes to stdout").choices(["table", "json"]),
      );
    }
    inherit(sub);
  }
}

/** Runs one command line and returns its exit code. */
export async function run(argv: readonly string[]): Promise<ExitCode> {
  try {
    const program = await createProgram(argv[0]);
    await program.parseAsync([...argv], { from: "user" });
    return 0;
  } catch (error) {
    return explain(error);
  }
}

/** Prints an error to stderr and returns its exit code. */
export function explain(error: unknown): ExitCode {
  if (error instanceof CommanderError) {
    // Commander has printed the error itself; --help is not an error.
    return error.exitCode === 0 ? 0 : 2;
  }
  if (error instanceof UsageError) return say(error.message, 2);
  if (error instanceof Failure) return say(error.message, error.exitCode);
  if (error instanceof ClusterError) return say(error.message, 1);
  if (error instanceof ApiError) return explainProblem(error);
  if (error instanceof Unreachable) {
    return say(`The platform cannot be reached: ${error.message}.`, 1);
  }
  return say(error instanceof Error ? (error.stack ?? error.message) : String(error), 1);
}

function explainProblem({ problem }: ApiError): ExitCode {
  const input = problem.status >= 400 && problem.status < 500 && problem.status !== 429;
  if (problem.errors.length === 0) return say(sentence(problem.detail), input ? 2 : 1);
  for (const { path, detail } of problem.errors)
    say(path === "" ? sentence(detail) : `${path}: ${detail}`, 2);
  return input ? 2 : 1;
}

/** A sentence may begin with the address of a storage, which is no word. */
function sentence(text: string): string {
  const isAddress = /^\w+:\/\//.test(text);
  const whole = isAddress ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

function say(text: string, code: ExitCode): ExitCode {
  // The detail of a problem may quote a name, which may have control characters. A program's code needs no text.
  if (text !== "") process.stderr.write(`${printableLines(text)}\n`);
  return code;
}
