import { randomUUID } from "node:crypto";
import { ApiError, type CallOptions } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import {
  CreateExperimentResponseSchema,
  type Experiment,
  ExperimentSchema,
  type JobRun,
  ListExperimentsResponseSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { overrides } from "../config-file.ts";
import { experimentPage } from "../connection.ts";
import { argument, type Context, withPlatform } from "../context.ts";
import { detachSignal, printLogLine, requireCompleted, waitForEnd } from "../follow.ts";
import { cliLimits } from "../limits.ts";
import { collect } from "../option-values.ts";
import { addColumnOption, addRowOptions, listedRows, type RowOptions } from "../list-options.ts";
import { firstLine, number, printable, time } from "../output.ts";
import { startupHook } from "../pack-context.ts";
import { allPages } from "../pages.ts";
import { ProgressLine } from "../progress-line.ts";
import { leftText, percentText, progressText, timesText } from "../progress-text.ts";
import { readSubmission } from "../submission.ts";
import { phaseWord } from "../state-words.ts";
import { addSteering, stateOf } from "./experiment-verbs.ts";
import { addDeleteCommands } from "./experiment-delete.ts";
import { addContinueCommand } from "./experiment-continue.ts";
import { addForkCommand } from "./experiment-fork.ts";
import { addSetCommands } from "./experiment-set.ts";
import { addSourceCommands } from "./experiment-source.ts";
import { addLogOptions, followedLines, type LogOptions, printLogs } from "./logs.ts";
import { addMoveExperiments } from "./move.ts";
import { addValidate } from "./validate.ts";

type CreateOptions = {
  readonly follow?: boolean;
  readonly config: readonly string[];
  readonly paused?: boolean;
  readonly idempotencyKey?: string;
};

export function addExperimentCommands(program: Command): void {
  const group = program
    .command("experiment")
    .alias("e")
    .description("submit, watch and steer experiments");
  group
    .command("create")
    .description("submit an experiment")
    .argument("<config>", "the experiment's YAML file, or a folder that download wrote")
    .argument("[context]", "the folder of training code")
    .option("-f, --follow", "show its logs until it ends")
    .addOption(overrides())
    .option("--paused", "create it paused")
    .option("--idempotency-key <key>", "a retry with the same key returns the first experiment")
    .action(withPlatform<CreateOptions>(create));
  addValidate(group);
  addColumnOption(addRowOptions(group.command("list")))
    .alias("ls")
    .option("--label <label>", "only with this label; may be given several times", collect)
    .option("--state <state>", "only in this state, as ACTIVE; may be given several times", collect)
    .option("--workspace <name>", "only of this workspace")
    .option("--project <name>", "only of projects of this name")
    .option("-a, --archived", "also archived experiments")
    .description("experiments, the newest first")
    .action(withPlatform<ListOptions>(list));
  group
    .command("describe")
    .argument("<experiment>")
    .description("one experiment")
    .action(withPlatform(describe));
  addLogOptions(group.command("logs").argument("<experiment>"))
    .description("the log lines of all its trials")
    .action(withPlatform<LogOptions>(logs));
  group
    .command("wait")
    .argument("<experiment>")
    .description("wait until it has ended; exit code 1 unless it completed")
    .action(withPlatform(wait));
  addSteering(group);
  addForkCommand(group);
  addContinueCommand(group);
  addDeleteCommands(group);
  addSourceCommands(group);
  addMoveExperiments(group);
  addSetCommands(group);
}

async function create(
  { client, output }: Context,
  args: readonly string[],
  options: CreateOptions,
): Promise<void> {
  const given = await readSubmission(argument(args, 0), args[1] ?? "", options.config);
  const { config = "" } = given.request;
  const answer = await client.call(
    "createExperiment",
    { ...given.request, paused: options.paused ?? false },
    { idempotencyKey: options.idempotencyKey ?? randomUUID(), soon: true },
  );
  for (const warning of answer.warnings) output.note(`warning: ${warning}`);
  if (given.packed.hasStartupHook && config.includes(startupHook)) {
    const twice = "is read before the entrypoint: where the entrypoint names it, it runs twice";
    output.note(`warning: ${startupHook}: ${twice}`);
  }
  const id = answer.experiment?.id ?? "";
  if (output.json && options.follow !== true)
    output.message(CreateExperimentResponseSchema, answer);
  if (!output.json) output.line(`created experiment ${id}`);
  output.note(experimentPage(id));
  if (options.follow === true) await followExperiment({ client, output }, id, { outlast: true });
}

async function followExperiment(
  context: Context,
  experiment: string,
  options: Pick<CallOptions, "outlast"> = {},
  lines: LogOptions = {},
): Promise<void> {
  const { client, output } = context;
  const signal = detachSignal(output);
  try {
    const call = { ...options, signal };
    for await (const line of followedLines(client, { experiment }, lines, call)) {
      printLogLine(output, line, true);
    }
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  const ended = await waitForEnd(client, experiment, signal);
  if (ended !== null && !output.json) output.line(`experiment ${experiment} ended ${ended.state}`);
  requireCompleted(ended);
}

type ListOptions = RowOptions & {
  readonly column?: readonly string[];
  readonly label?: readonly string[];
  readonly state?: readonly string[];
  readonly archived?: boolean;
  readonly workspace?: string;
  readonly project?: string;
};

async function list(
  { client, output }: Context,
  _args: readonly string[],
  options: ListOptions,
): Promise<void> {
  const { label = [], state = [], archived = false, column = [] } = options;
  const { workspace = "", project = "" } = options;
  const states = state.map((one) => one.toUpperCase());
  const place = { workspace, project };
  const fields = output.json ? [...column] : [...fieldsShown, ...column];
  const wanted = { labels: [...label], states, archived, ...place, fields };
  const items = await listedRows(output, ListExperimentsResponseSchema, options, (asked) =>
    client.call("listExperiments", { ...wanted, ...asked }),
  );
  if (items === null) return;
  const nowMs = client.clock.nowMs();
  output.table(items, [
    { title: "ID", value: ({ id }) => id, right: true },
    { title: "NAME", value: ({ name }) => name },
    { title: "STATE", value: stateOf },
    { title: "PROGRESS", value: ({ progress }) => percentText(progress), right: true },
    { title: "LEFT", value: (one) => leftText(one, nowMs), right: true },
    { title: "TRIALS", value: trialsOf, right: true },
    { title: "BEST", value: (one) => number(one.bestValue), right: true },
    { title: "METRIC", value: ({ metric }) => metric },
    ...column.map((name) => ({
      title: name,
      value: ({ values }: Plain<Experiment>) => valueText(values?.[name]),
      right: true,
    })),
    { title: "CREATED", value: (one) => time(one.createdAtMs) },
  ]);
}

const fieldsShown: readonly string[] = [
  "id",
  "name",
  "state",
  "phase",
  "progress",
  "estimated_end_at_ms",
  "trials",
  "trials_completed",
  "best_value",
  "metric",
  "created_at_ms",
];

const valueText = (value: unknown): string =>
  typeof value === "number" ? number(value) : typeof value === "string" ? value : "";

const trialsOf = ({ trialsCompleted, trials }: Plain<Experiment>): string =>
  `${trialsCompleted}/${trials}`;

async function describe({ client, output }: Context, args: readonly string[]): Promise<void> {
  const experiment = await client.call("getExperiment", { experiment: argument(args, 0) });
  const nowMs = client.clock.nowMs();
  output.show(ExperimentSchema, experiment, () => [
    ["experiment", experiment.id],
    ["name", experiment.name],
    ["description", experiment.description],
    ["labels", experiment.labels.join(", ")],
    ["notes", firstLine(experiment.notes)],
    ["state", phaseWord(experiment)],
    ["archived", experiment.archived ? "yes" : ""],
    ["reason", firstLine(experiment.reason)],
    ["waits for", experiment.waitsFor],
    ["forked from", experiment.parent],
    ["workspace", experiment.workspace],
    ["project", experiment.project],
    ["owner", experiment.owner],
    ["created", time(experiment.createdAtMs)],
    ["ended", time(experiment.endedAtMs)],
    ["searcher", experiment.searcher],
    [
      "metric",
      experiment.metric === ""
        ? ""
        : `${experiment.metric}, ${experiment.smallerIsBetter ? "smaller" : "larger"} is better`,
    ],
    [
      "trials",
      `${experiment.trials} created, ${experiment.trialsCompleted} completed, ${experiment.trialsFailed} failed`,
    ],
    ["progress", progressText(experiment, nowMs)],
    ["time", timesText(experiment, nowMs)],
    ["warning", experiment.warning],
    [
      "best",
      experiment.bestTrial === undefined
        ? ""
        : `${number(experiment.bestValue)} by trial ${experiment.bestTrial}`,
    ],
    ["seed", String(experiment.seed)],
  ]);
  if (output.json) return;
  if (experiment.state === "ACTIVE") await showWaiting({ client, output }, experiment.id);
  if (experiment.trialsFailed > 0) await showFailed({ client, output }, experiment.id);
}

/**
 * Prints one line per waiting run, with the reason. Prints nothing without waiting runs, or if the scheduler times out.
 */
async function showWaiting({ client, output }: Context, experiment: string): Promise<void> {
  const signal = AbortSignal.timeout(cliLimits.explainMs);
  let waiting: readonly Plain<JobRun>[];
  let inAll = 0;
  let when = "waits";
  try {
    const { job, runs, old } = await client.call("explainJob", { job: experiment }, { signal });
    if (old === true) when = "last waited (the scheduler does not answer)";
    waiting = runs.filter(({ placements }) => placements.length === 0);
    inAll = job?.runsWaiting ?? waiting.length;
  } catch (error) {
    if (error instanceof ApiError || signal.aborted) return;
    throw error;
  }
  for (const { run, detail, reason } of waiting.slice(0, cliLimits.waitingShown)) {
    const why = detail || reason || "it has not been considered yet";
    output.line(printable(`run ${run} ${when}: ${why}`));
  }
  const more = inAll - cliLimits.waitingShown;
  if (more > 0) output.line(`and ${more} more: yard job explain ${experiment}`);
}

/** Prints one line per failed trial, with the reason, and the last output of the first one. */
async function showFailed({ client, output }: Context, experiment: string): Promise<void> {
  const { items } = await allPages((start) => client.call("listTrials", { experiment, ...start }));
  const failed = items.filter(({ state }) => state === "ERROR");
  for (const { id, reason } of failed.slice(0, cliLimits.failedShown)) {
    output.line(printable(`trial ${id} failed: ${firstLine(reason)}`));
  }
  const more = failed.length - cliLimits.failedShown;
  if (more > 0) output.line(`and ${more} more: yard trial list ${experiment}`);
  const first = failed[0];
  if (first === undefined) return;
  const { lastLogLines } = await client.call("getTrial", { trial: first.id });
  for (const line of lastLogLines) output.line(`  | ${printable(line)}`);
}

async function logs(context: Context, args: readonly string[], options: LogOptions): Promise<void> {
  const experiment = argument(args, 0);
  if (options.follow === true) return followExperiment(context, experiment, {}, options);
  return printLogs(context, { experiment }, options);
}

async function wait({ client, output }: Context, args: readonly string[]): Promise<void> {
  const progress = new ProgressLine(process.stderr);
  const signal = detachSignal(output);
  const ended = await waitForEnd(client, argument(args, 0), signal, {
    onChange: (experiment) => progress.experiment(experiment),
    onAway: (why) => output.note(`${why}; trying again …`),
  });
  progress.end();
  if (ended !== null) {
    if (output.json) output.message(ExperimentSchema, ended);
    else output.line(`experiment ${ended.id} ended ${ended.state}`);
  }
  requireCompleted(ended);
}
