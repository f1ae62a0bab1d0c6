/**
 * The commands about experiments and tasks in the queues of pools: their order, why they wait, and their priority and
 * limits.
 */
import { randomUUID } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import {
  type Job,
  JobExplanationSchema,
  JobResponseSchema,
  type JobRun,
  ListJobsResponseSchema,
} from "@trainyard/contracts/api";
import { isTaskId } from "@trainyard/kernel";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { positiveNumberOf, wholeNumberOf } from "../option-values.ts";
import { addRowOptions, listedRows, type RowOptions } from "../list-options.ts";
import { number, time } from "../output.ts";
import { UsageError } from "../usage-error.ts";

export function addJobCommands(program: Command): void {
  const group = program.command("job").description("experiments and tasks in the queues");
  addRowOptions(group.command("list").alias("ls"))
    .option("--pool <name>", "of this pool only", "")
    .description("experiments and tasks with runs that wait or have a place, in queue order")
    .action(withPlatform<ListOptions>(list));
  group
    .command("explain")
    .argument("<job>", "the experiment 12 or the task t12")
    .description("why its runs wait, and what would let them start")
    .action(withPlatform(explain));
  group
    .command("update")
    .argument("<job>", "the experiment 12 or the task t12")
    .option("--priority <number>", "1 to 99; lower is placed first")
    .option("--weight <number>", "its part of the slots in a pool with fair share")
    .option("--max-slots <number>", "the most slots that its runs hold together, or none")
    .description("change what is given, for the runs that it has and those to come")
    .action(withPlatform<UpdateOptions>(update));
  group
    .command("move")
    .argument("<job>", "the experiment 12 or the task t12")
    .option("--ahead-of <job>", "place its runs directly before those of this one")
    .option("--behind <job>", "place its runs directly after those of this one")
    .description("change its place in the queue; it gets the other one's priority")
    .action(withPlatform<MoveOptions>(move));
}

type ListOptions = RowOptions & { readonly pool: string };

async function list(
  { client, output }: Context,
  _args: readonly string[],
  { pool, ...rows }: ListOptions,
): Promise<void> {
  const items = await listedRows(output, ListJobsResponseSchema, rows, (asked) =>
    client.call("listJobs", { pool, ...asked }),
  );
  if (items === null) return;
  output.table(items, [
    { title: "JOB", value: ({ job }) => job, right: true },
    { title: "POOL", value: (one) => one.pool },
    { title: "WORKSPACE", value: ({ workspace }) => workspace },
    { title: "OWNER", value: ({ owner }) => owner },
    { title: "PRIORITY", value: ({ priority }) => String(priority), right: true },
    { title: "WEIGHT", value: ({ weight }) => number(weight), right: true },
    { title: "MAX SLOTS", value: maxSlotsOf, right: true },
    { title: "HELD", value: ({ slotsHeld }) => String(slotsHeld), right: true },
    { title: "WANTED", value: ({ slotsWanted }) => String(slotsWanted), right: true },
    { title: "PLACED", value: ({ runsPlaced }) => String(runsPlaced), right: true },
    { title: "WAITING", value: ({ runsWaiting }) => String(runsWaiting), right: true },
    { title: "AHEAD", value: ({ jobsAhead }) => String(jobsAhead), right: true },
  ]);
}

const maxSlotsOf = ({ maxSlots }: Plain<Job>): string => (maxSlots === 0 ? "" : String(maxSlots));

async function explain({ client, output }: Context, args: readonly string[]): Promise<void> {
  const answer = await client.call("explainJob", { job: argument(args, 0) });
  if (output.json) {
    output.message(JobExplanationSchema, answer);
    return;
  }
  const { job, runs, old } = answer;
  if (old === true) {
    output.note("the scheduler does not answer: these are the reasons that it recorded last");
    for (const { run, detail, limit } of runs) {
      output.line("");
      output.fields([
        ["run", run],
        ["reason", detail],
        ["limit", limit],
      ]);
    }
    return;
  }
  if (job !== undefined) output.fields(fieldsOf(job));
  for (const run of runs) {
    output.line("");
    output.fields(run.placements.length > 0 ? placedFields(run) : waitingFields(run));
  }
  const more = (job?.runsPlaced ?? 0) + (job?.runsWaiting ?? 0) - runs.length;
  if (more > 0) {
    output.line("");
    output.line(`and ${more} more ${more === 1 ? "run" : "runs"}`);
  }
}

function fieldsOf(job: Plain<Job>): readonly (readonly [string, string])[] {
  const loan = job.slotsBorrowed === 0 ? "" : `, ${job.slotsBorrowed} of them on loan`;
  return [
    ["job", job.job],
    ["pool", job.pool],
    ["workspace", job.workspace],
    ["owner", job.owner],
    ["priority", String(job.priority)],
    ["weight", number(job.weight)],
    ["max slots", maxSlotsOf(job)],
    ["runs", `${job.runsPlaced} placed, ${job.runsWaiting} waiting`],
    ["slots", `${job.slotsHeld} held${loan}, ${job.slotsWanted} wanted`],
    ["jobs ahead", String(job.jobsAhead)],
  ];
}

function placedFields({
  run,
  placements,
  detail,
  preemptions,
}: Plain<JobRun>): readonly (readonly [string, string])[] {
  const where = placements.map(({ agent, slots }) => `${agent}[${slots.join(",")}]`);
  return [
    ["run", run],
    ["runs on", where.join(" ")],
    ...(detail === "" ? [] : [["state", detail] as const]),
    ["preempted", timesText(preemptions)],
  ];
}

function waitingFields(run: Plain<JobRun>): readonly (readonly [string, string])[] {
  const slots = run.resources?.slots ?? 0;
  return [
    ["run", run.run],
    ["waits since", time(run.queuedAtMs)],
    ["preempted", timesText(run.preemptions)],
    ["wants", `${slots} ${slots === 1 ? "slot" : "slots"}`],
    ["reason", run.detail || run.reason],
    ["limit", run.limit],
    ["runs ahead", String(run.ahead)],
    ["slots held by", run.blockers.join(", ")],
    ["starts", run.startsWhen],
  ];
}

/** Returns how often earlier runs of the trial were preempted; empty for never. */
function timesText(preemptions: number): string {
  return preemptions === 0 ? "" : `${preemptions} ${preemptions === 1 ? "time" : "times"} before`;
}

type UpdateOptions = {
  readonly priority?: string;
  readonly weight?: string;
  readonly maxSlots?: string;
};

async function update(
  { client, output }: Context,
  args: readonly string[],
  { priority, weight, maxSlots }: UpdateOptions,
): Promise<void> {
  if (priority === undefined && weight === undefined && maxSlots === undefined) {
    throw new UsageError("Give at least one of --priority, --weight and --max-slots.");
  }
  const job = argument(args, 0);
  const request = {
    job,
    ...(priority === undefined ? {} : { priority: wholeNumberOf("--priority", priority, 1) }),
    ...(weight === undefined ? {} : { weight: positiveNumberOf("--weight", weight) }),
    ...(maxSlots === undefined
      ? {}
      : { maxSlots: maxSlots === "none" ? 0 : wholeNumberOf("--max-slots", maxSlots, 1) }),
  };
  const answer = await client.call("updateJob", request, { idempotencyKey: randomUUID() });
  if (output.json) output.message(JobResponseSchema, answer);
  else output.line(`${jobText(job)} is updated in the queue`);
}

const jobText = (job: string): string => (isTaskId(job) ? `task ${job}` : `experiment ${job}`);

type MoveOptions = { readonly aheadOf?: string; readonly behind?: string };

async function move(
  { client, output }: Context,
  args: readonly string[],
  { aheadOf, behind }: MoveOptions,
): Promise<void> {
  const anchor = aheadOf ?? behind;
  if (anchor === undefined || (aheadOf !== undefined && behind !== undefined)) {
    throw new UsageError("Give one of --ahead-of and --behind.");
  }
  const [job, ahead] = [argument(args, 0), aheadOf !== undefined];
  const answer = await client.call(
    "moveJob",
    { job, anchor, ahead },
    { idempotencyKey: randomUUID() },
  );
  if (output.json) output.message(JobResponseSchema, answer);
  else output.line(`${jobText(job)} is ${ahead ? "ahead of" : "behind"} ${anchor} in the queue`);
}
