/** The options of `logs`, for trials, experiments and tasks, and the code that prints, follows and saves lines. */
import { type FileHandle, open } from "node:fs/promises";
import type { CallOptions, Client } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import type { RemovedLogLines, TrialLogLine } from "@trainyard/contracts/api";
import { type Command, Option } from "commander";
import type { Context } from "../context.ts";
import { callerPath } from "../environment.ts";
import { logLineText, printLogLine } from "../follow.ts";
import { cliLimits } from "../limits.ts";
import { timeOf, wholeNumberOf } from "../option-values.ts";
import { type Output, time } from "../output.ts";
import { UsageError } from "../usage-error.ts";

type FilterOptions = {
  readonly run?: string;
  readonly node?: string;
  readonly rank?: string;
  readonly stream?: string;
  readonly level?: string;
  readonly since?: string;
  readonly until?: string;
  readonly contains?: string;
  readonly grep?: string;
  readonly search?: string;
};

export type LogOptions = FilterOptions & {
  readonly follow?: boolean;
  readonly tail?: string;
  readonly after?: string;
  readonly before?: string;
  readonly save?: string;
};

const streams = ["stdout", "stderr", "agent"];
const levels = ["trace", "debug", "info", "warning", "error", "critical"];

export function addLogOptions(command: Command): Command {
  return command
    .option("-f, --follow", "print new lines until it ends")
    .option("--tail <lines>", "only the last lines")
    .option("--run <number>", "only lines of this run")
    .option("--node <rank>", "only lines of this node")
    .option("--rank <rank>", "only lines of the process with this rank")
    .addOption(new Option("--stream <name>", "only lines of this stream").choices(streams))
    .addOption(
      new Option("--level <level>", "only lines of this level or a more severe one").choices(
        levels,
      ),
    )
    .option("--since <time>", "only lines from this time on: 10m (ago), or 2026-11-22T10:00:00Z")
    .option("--until <time>", "only lines before this time")
    .option("--contains <text>", "only lines with this text in them")
    .option("--grep <expression>", "only lines in which this regular expression (RE2) is found")
    .option("--search <words>", "only lines that have all these words, in either case")
    .option("--after <cursor>", "only lines after the one with this cursor (see -o json)")
    .option("--before <cursor>", "only lines before the one with this cursor")
    .option("--save <file>", "download: write the lines into this file");
}

function filterOf(options: FilterOptions) {
  const { run, node, rank, since, until } = options;
  return {
    ...(run === undefined ? {} : { run: wholeNumberOf("--run", run) }),
    ...(node === undefined ? {} : { nodeRank: wholeNumberOf("--node", node) }),
    ...(rank === undefined ? {} : { rank: wholeNumberOf("--rank", rank) }),
    ...(since === undefined ? {} : { fromMs: timeOf("--since", since) }),
    ...(until === undefined ? {} : { untilMs: timeOf("--until", until) }),
    source: options.stream ?? "",
    level: options.level ?? "",
    contains: options.contains ?? "",
    matches: options.grep ?? "",
    search: options.search ?? "",
  };
}

type Request = ReturnType<typeof filterOf> & {
  readonly pageSize: number;
  readonly pageToken: string;
  readonly tail: number;
  readonly after: string;
  readonly before: string;
};

/** The source of the lines: one trial, all trials of an experiment, or a task. */
export type LogTask =
  | { readonly trial: string }
  | { readonly experiment: string }
  | { readonly task: string };

function listed(client: Client, task: LogTask, request: Request) {
  if ("trial" in task) return client.call("listTrialLogs", { ...task, ...request });
  return "task" in task
    ? client.call("listTaskLogs", { ...task, ...request })
    : client.call("listExperimentLogs", { ...task, ...request });
}

export async function printLogs(
  { client, output }: Context,
  task: LogTask,
  options: LogOptions,
): Promise<void> {
  const { after = "", before = "" } = options;
  const request = {
    ...filterOf(options),
    pageSize: cliLimits.logPageSize,
    pageToken: "",
    tail: 0,
    after,
    before,
  };
  await using target = await LineTarget.open(output, options.save, "experiment" in task);
  if (options.tail !== undefined) {
    const lines = wholeNumberOf("--tail", options.tail, 1);
    await target.write(await lastLines(client, task, { ...request, tail: lines }));
    return;
  }
  for (let pageToken = ""; ; ) {
    const page = await listed(client, task, { ...request, pageToken });
    if (pageToken === "") noteRemoved(output, page.removed);
    await target.write(page.items);
    if (page.nextPageToken === "") return;
    pageToken = page.nextPageToken;
  }
}

/** Notes the removed lines on stderr, so that an empty output is not mistaken for a trial without output. */
function noteRemoved(output: Output, removed: Plain<RemovedLogLines> | undefined): void {
  if (removed === undefined) return;
  const until = time(removed.untilMs);
  output.note(
    `retention has removed ${removed.lines} lines of the experiment, received until ${until}`,
  );
}

/** Reads pages backwards until it has the requested number of lines. */
async function lastLines(
  client: Client,
  task: LogTask,
  request: Request,
): Promise<readonly Plain<TrialLogLine>[]> {
  let lines: readonly Plain<TrialLogLine>[] = [];
  for (let { before } = request; ; ) {
    const tail = request.tail - lines.length;
    const page = await listed(client, task, { ...request, tail, before });
    lines = [...page.items, ...lines];
    if (lines.length >= request.tail || page.before === "") return lines;
    before = page.before;
  }
}

/** Yields lines as they arrive, until the task ends or the signal aborts. */
export async function* followedLines(
  client: Client,
  task: LogTask,
  options: LogOptions,
  call: { readonly signal: AbortSignal; readonly outlast?: boolean },
): AsyncGenerator<Plain<TrialLogLine>> {
  for (const name of ["tail", "before", "save"] as const) {
    if (options[name] !== undefined) {
      throw new UsageError(`--${name} cannot be combined with --follow.`);
    }
  }
  const request = { ...filterOf(options), after: options.after ?? "" };
  const stream = streamOf(client, task, request, call);
  for await (const { message } of stream) yield message;
}

function streamOf(
  client: Client,
  task: LogTask,
  request: ReturnType<typeof filterOf> & { readonly after: string },
  call: CallOptions,
) {
  if ("trial" in task) return client.stream("followTrialLogs", { ...task, ...request }, call);
  return "task" in task
    ? client.stream("followTaskLogs", { ...task, ...request }, call)
    : client.stream("followExperimentLogs", { ...task, ...request }, call);
}

/** Writes lines to standard output, or to a file. */
class LineTarget implements AsyncDisposable {
  readonly #output: Output;
  readonly #file: FileHandle | null;
  readonly #withTrial: boolean;

  private constructor(output: Output, file: FileHandle | null, withTrial: boolean) {
    this.#output = output;
    this.#file = file;
    this.#withTrial = withTrial;
  }

  static async open(
    output: Output,
    path: string | undefined,
    withTrial: boolean,
  ): Promise<LineTarget> {
    if (path === undefined) return new LineTarget(output, null, withTrial);
    const file = await open(callerPath(path), "w").catch((error: unknown) => {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new UsageError(`--save: ${path} cannot be written: ${code ?? message}.`);
    });
    return new LineTarget(output, file, withTrial);
  }

  async write(lines: readonly Plain<TrialLogLine>[]): Promise<void> {
    if (this.#file === null) {
      for (const line of lines) printLogLine(this.#output, line, this.#withTrial);
      return;
    }
    const texts = lines.map((line) => logLineText(this.#output, line, this.#withTrial));
    await this.#file.appendFile(texts.map((text) => `${text}\n`).join(""));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file?.close();
  }
}
