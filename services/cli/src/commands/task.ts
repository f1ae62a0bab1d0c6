/** The commands about tasks: commands, shells, notebooks and TensorBoards on the cluster. */
import { randomUUID } from "node:crypto";
import { ApiError } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import {
  ListTasksResponseSchema,
  type Task,
  type TaskPort,
  type TaskSave,
  TaskResponseSchema,
  TaskSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, outputOf, withPlatform } from "../context.ts";
import { detachSignal, printLogLine } from "../follow.ts";
import { addRowOptions, listedRows, type RowOptions } from "../list-options.ts";
import { firstLine, time } from "../output.ts";
import { Failure } from "../usage-error.ts";
import { addLogOptions, followedLines, type LogOptions, printLogs } from "./logs.ts";
import { addPortForward } from "./port-forward.ts";
import { addTaskDownload } from "./task-download.ts";
import { addTaskOpen } from "./task-open.ts";
import { addServerCommands } from "./task-servers.ts";
import { addStartCommands } from "./task-start.ts";
import { useFields, useOf } from "./task-use.ts";
import { addTaskExec } from "./terminal.ts";

export function addTaskCommands(program: Command): void {
  addStartCommands(program);
  addServerCommands(program);
  const group = program
    .command("task")
    .description("commands, shells, notebooks and TensorBoards on the cluster");
  addRowOptions(group.command("list").alias("ls"))
    .description("tasks, the newest first")
    .action(withPlatform<RowOptions>(list));
  group
    .command("describe")
    .argument("<task>", "t12")
    .description("one task")
    .action(withPlatform(describe));
  addLogOptions(group.command("logs").argument("<task>"))
    .description("the output of its processes")
    .action(withPlatform<LogOptions>(logs));
  addTaskExec(group);
  addTaskOpen(group);
  addTaskDownload(group);
  addPortForward(group, "task");
  for (const [verb, call, description, done] of verbs) {
    group
      .command(verb)
      .argument("<tasks...>", "one or more tasks")
      .description(description)
      .action(withPlatform((context, ids) => actOn(context, ids, { call, done })));
  }
  group
    .command("schema")
    .description("the JSON Schema of a task's configuration, for editors")
    .action(async (_options: unknown, command: Command) => {
      const { exportTaskJsonSchema } = await import("@trainyard/experiment-config");
      outputOf(command).line(JSON.stringify(exportTaskJsonSchema(), null, 2));
    });
}

const verbs = [
  ["pause", "pauseTask", "save its folder and end its processes", "paused"],
  ["resume", "resumeTask", "continue it with the files of its latest save", "resumed"],
  ["kill", "killTask", "end its processes at once", "killed"],
  ["delete", "deleteTask", "delete an ended task with its log lines and saves", "deleted"],
] as const;

async function list(
  { client, output }: Context,
  _args: readonly string[],
  options: RowOptions,
): Promise<void> {
  const items = await listedRows(output, ListTasksResponseSchema, options, (asked) =>
    client.call("listTasks", asked),
  );
  if (items === null) return;
  output.table(items, [
    { title: "TASK", value: ({ id }) => id, right: true },
    { title: "KIND", value: ({ kind }) => kind },
    { title: "NAME", value: ({ name }) => name },
    { title: "STATE", value: ({ state }) => state },
    { title: "EXIT", value: exitOf, right: true },
    { title: "POOL", value: ({ pool }) => pool },
    { title: "SLOTS", value: ({ slots }) => String(slots), right: true },
    { title: "OWNER", value: ({ owner }) => owner },
    { title: "CREATED", value: (task) => time(task.createdAtMs) },
    ...(items.some(isWaiting)
      ? [
          {
            title: "WAITS",
            value: (task: Plain<Task>) => (isWaiting(task) ? firstLine(task.reason) : ""),
          },
        ]
      : []),
  ]);
}

const isWaiting = ({ state, reason }: Plain<Task>): boolean => state === "QUEUED" && reason !== "";

const exitOf = ({ exitCode }: Plain<Task>): string =>
  exitCode === undefined ? "" : String(exitCode);

async function describe({ client, output }: Context, args: readonly string[]): Promise<void> {
  const task = await client.call("getTask", { task: argument(args, 0) });
  if (output.json) {
    output.message(TaskSchema, task);
    return;
  }
  const use = await useOf(client, task);
  output.fields([
    ["task", task.id],
    ["kind", task.kind],
    ["name", task.name],
    ["state", task.state],
    [task.state === "QUEUED" ? "waits" : "reason", firstLine(task.reason)],
    ["exit code", exitOf(task)],
    ["workspace", task.workspace],
    ["owner", task.owner],
    ["pool", task.pool],
    ["slots", String(task.slots)],
    ["priority", String(task.priority)],
    ["ports", task.ports.map(portText).join(", ")],
    ["sources", task.sources.join(" ")],
    ["saved", saveText(task.lastSave)],
    ["unsaved", task.unsaved],
    ["restarts", String(task.restarts)],
    ["created", time(task.createdAtMs)],
    ["started", time(task.startedAtMs)],
    ["ended", time(task.endedAtMs)],
    ...useFields(use),
  ]);
  for (const { number, state, placements, whyEnded, message, waitsFor } of task.runs) {
    const where = placements.map(({ agent, slots }) => `${agent}[${slots.join(",")}]`).join(" ");
    const why = [whyEnded, firstLine(message), waitsFor].filter((part) => part !== "").join(": ");
    output.line(`run ${number}  ${state}  ${where}  ${why}`.trimEnd());
  }
  for (const line of task.lastLogLines) output.line(`  | ${line}`);
}

function saveText(save: Plain<TaskSave> | undefined): string {
  if (save === undefined) return "";
  const { savedAtMs, files, bytes, run, checkpoint } = save;
  return `${time(savedAtMs)} by run ${run}: ${files} files of ${bytes} bytes, checkpoint ${checkpoint}`;
}

const portText = ({ port, isTcp }: Plain<TaskPort>): string =>
  isTcp ? `${port} (TCP)` : `${port}`;

async function logs(context: Context, args: readonly string[], options: LogOptions): Promise<void> {
  const task = { task: argument(args, 0) };
  const { client, output } = context;
  if (options.follow !== true) return printLogs(context, task, options);
  const signal = detachSignal(output, "the task continues");
  try {
    for await (const line of followedLines(client, task, options, { signal })) {
      printLogLine(output, line, false);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

type Verb = {
  readonly call: (typeof verbs)[number][1];
  readonly done: string;
};

/** Applies the verb to each task. A refusal of one does not keep the others from it. */
async function actOn(
  { client, output }: Context,
  ids: readonly string[],
  { call, done }: Verb,
): Promise<void> {
  let refused = 0;
  for (const id of ids) {
    try {
      const answer = await client.call(call, { task: id }, { idempotencyKey: randomUUID() });
      if (output.json) output.message(TaskResponseSchema, answer);
      else output.line(`task ${id}: ${textOf(answer.task, done)}`);
    } catch (error) {
      if (ids.length === 1 || !(error instanceof ApiError) || error.problem.status >= 500) {
        throw error;
      }
      refused += 1;
      output.note(`task ${id}: refused, ${error.problem.detail}`);
    }
  }
  if (refused > 0) throw new Failure(`${refused} of ${ids.length} tasks were not ${done}.`);
}

/** A verb may change nothing, and takes its time otherwise, so it is answered with the state of the task. */
function textOf(task: Plain<Task> | undefined, done: string): string {
  return done !== "deleted" && task !== undefined ? task.state : done;
}
