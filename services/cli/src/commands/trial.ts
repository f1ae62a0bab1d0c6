import type { Plain } from "@trainyard/contracts";
import { ListTrialsResponseSchema, type Trial, TrialSchema } from "@trainyard/contracts/api";
import { isMapping, undeliveredText } from "@trainyard/kernel";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { evidenceText } from "../evidence-text.ts";
import { detachSignal, printLogLine } from "../follow.ts";
import { addRowOptions, listedRows, type RowOptions } from "../list-options.ts";
import { firstLine, number, time } from "../output.ts";
import { percentText, progressText, ranText, timesText } from "../progress-text.ts";
import { noteAge } from "../state-age.ts";
import { phaseWord } from "../state-words.ts";
import { addTrialVerbs } from "./experiment-continue.ts";
import { addLogOptions, followedLines, type LogOptions, printLogs } from "./logs.ts";
import { addPortForward } from "./port-forward.ts";
import { addMetricsCommand } from "./trial-metrics.ts";
import { profile, tensorboard } from "./trial-profile.ts";

export function addTrialCommands(program: Command): void {
  const group = program.command("trial").alias("t").description("the trials of experiments");
  addRowOptions(group.command("list"))
    .alias("ls")
    .argument("<experiment>")
    .description("an experiment's trials")
    .action(withPlatform<RowOptions>(list));
  group
    .command("describe")
    .argument("<trial>", "12.3")
    .description("one trial")
    .action(withPlatform(describe));
  addLogOptions(group.command("logs").argument("<trial>"))
    .description("the output of its processes")
    .action(withPlatform<LogOptions>(logs));
  addMetricsCommand(group);
  addTrialVerbs(group);
  addPortForward(group, "trial");
  group
    .command("profile")
    .argument("<trial>")
    .option("--run <number>", "another run than the latest", Number)
    .description("metrics of its machines while it trained with profiling")
    .action(withPlatform<{ run?: number }>(profile));
  group
    .command("tensorboard")
    .argument("<trial>")
    .argument("[folder]", "where to copy them, if this machine does not mount the storage")
    .description("the folder of its TensorBoard files and traces, for tensorboard --logdir")
    .action(withPlatform(tensorboard));
}

export async function listTrials(
  { client, output }: Context,
  experiment: string,
  options: RowOptions = {},
): Promise<void> {
  const items = await listedRows(output, ListTrialsResponseSchema, options, (asked) =>
    client.call("listTrials", { experiment, ...asked }),
  );
  if (items === null) return;
  const nowMs = client.clock.nowMs();
  output.table(items, [
    { title: "TRIAL", value: ({ id }) => id, right: true },
    { title: "STATE", value: phaseWord },
    { title: "PROGRESS", value: ({ progress }) => percentText(progress), right: true },
    { title: "BEST", value: (trial) => number(trial.bestValue), right: true },
    { title: "STEPS", value: (trial) => String(trial.stepsCompleted), right: true },
    { title: "RAN", value: (trial) => ranText(trial, nowMs), right: true },
    { title: "RESTARTS", value: (trial) => String(trial.restarts), right: true },
    { title: "HYPERPARAMETERS", value: hyperparametersOf },
    ...(items.some((trial) => waitOf(trial) !== "") ? [{ title: "WAITS", value: waitOf }] : []),
  ]);
}

/** Returns why the latest run waits for slots; empty if it does not wait. */
function waitOf({ runs }: Plain<Trial>): string {
  return runs.at(-1)?.waitsFor ?? "";
}

/** Formats hyperparameters as "lr=0.01 hidden=8", nested ones by their path. */
export function hyperparametersOf(trial: Plain<Trial>): string {
  const flat = (value: unknown, path: string): readonly string[] => {
    if (isMapping(value)) {
      return Object.entries(value).flatMap(([key, inner]) =>
        flat(inner, path === "" ? key : `${path}.${key}`),
      );
    }
    return [`${path}=${typeof value === "number" ? number(value) : JSON.stringify(value)}`];
  };
  return flat(trial.hyperparameters ?? {}, "").join(" ");
}

async function list(context: Context, args: readonly string[], options: RowOptions): Promise<void> {
  await listTrials(context, argument(args, 0), options);
}

async function describe({ client, output }: Context, args: readonly string[]): Promise<void> {
  const trial = await client.call("getTrial", { trial: argument(args, 0) });
  if (output.json) {
    output.message(TrialSchema, trial);
    return;
  }
  const nowMs = client.clock.nowMs();
  noteAge(output, trial.schedulerAnsweredAtMs);
  output.fields([
    ["trial", trial.id],
    ["state", phaseWord(trial)],
    ["reason", firstLine(trial.reason)],
    ["hyperparameters", hyperparametersOf(trial)],
    ["origin", originOf(trial)],
    ["begins from", sourceOf(trial)],
    ["seed", String(trial.seed)],
    ["restarts", String(trial.restarts)],
    ["preemptions", String(preemptionsOf(trial))],
    ["progress", progressText(trial, nowMs)],
    ["time", timesText(trial, nowMs)],
    ["warning", trial.warning],
    ["steps", String(trial.stepsCompleted)],
    ["best", scalarsOf(trial.bestValidation)],
    ["latest", scalarsOf(trial.latestValidation)],
    ["checkpoint", trial.latestCheckpoint],
    ["not stored yet", undeliveredText(trial.undelivered)],
    ["created", time(trial.createdAtMs)],
    ["ended", time(trial.endedAtMs)],
  ]);
  for (const run of trial.runs) {
    const where = run.placements
      .map(({ agent, slots }) => `${agent}[${slots.join(",")}]`)
      .join(" ");
    // All lines after the first are the traceback of the rank that failed first.
    const [said = "", ...more] = run.message.split("\n");
    const row = (run.triesInRow ?? 1) > 1 ? `failure ${run.triesInRow} in a row` : "";
    const why = [run.whyEnded, row, said, run.waitsFor].filter((part) => part !== "").join(": ");
    output.line(`run ${run.number}  ${run.state}  ${where}  ${why}`.trimEnd());
    for (const line of more) output.line(`    ${line}`.trimEnd());
    for (const { agent, proxy } of run.placements) {
      for (const address of proxy?.addresses ?? []) output.line(`    ${agent} at ${address}`);
    }
  }
  for (const matched of trial.logPoliciesMatched) {
    const { policy, action, run, agent, rank, line } = matched;
    const who = rank === undefined ? agent : `rank ${rank} on ${agent}`;
    const does = action === "" ? "" : `, ${action}`;
    output.line(`log policy ${policy}${does}: run ${run}, ${who}: ${firstLine(line)}`);
  }
  for (const line of trial.lastLogLines) output.line(`  | ${line}`);
}

function preemptionsOf({ runs }: Plain<Trial>): number {
  return runs.filter(({ whyEnded }) => whyEnded === "preempted").length;
}

/** Returns the origin of the hyperparameters; empty if they were drawn at random. */
function originOf({ origin, proposalEvidence }: Plain<Trial>): string {
  if (origin === "drawn" || origin === "") return "";
  const evidence = evidenceText(proposalEvidence);
  return evidence === "" ? origin : `${origin} (${evidence})`;
}

function sourceOf({ sourceTrial, sourceStep }: Plain<Trial>): string {
  return sourceTrial === "" ? "" : `${sourceTrial} at step ${number(sourceStep)}`;
}

function scalarsOf(scalars: Readonly<Record<string, number>>): string {
  return Object.entries(scalars)
    .map(([name, value]) => `${name}=${number(value)}`)
    .join(" ");
}

async function logs(context: Context, args: readonly string[], options: LogOptions): Promise<void> {
  const task = { trial: argument(args, 0) };
  const { client, output } = context;
  if (options.follow !== true) return printLogs(context, task, options);
  const signal = detachSignal(output);
  try {
    for await (const line of followedLines(client, task, options, { signal })) {
      printLogLine(output, line, false);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
