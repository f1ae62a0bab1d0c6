/** Tests of tasks that keep their work: their saves, the waits for them, and the commands of people. */
import type { AnyEvent, EventOf } from "@trainyard/contracts";
import { StopMode, StopWhy, TaskOutcome } from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { isRejection } from "@trainyard/kernel";
import { serviceMeta } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import { limits } from "../limits.ts";
import {
  acknowledged,
  agentLost,
  allocationGranted,
  allocationStarted,
  checkpointA,
  checkpointB,
} from "../testing/examples.ts";
import { memoryIds } from "../testing/memory-ids.ts";
import { defaultDelays, noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";
import { taskConfig, taskCreated, taskRun } from "../testing/tasks.ts";
import { Awaiting, awaitingCheck, awaitingTasksFold } from "./awaiting.ts";
import { reactionHandlers } from "./reactions.ts";
import { taskCommands } from "./task-commands.ts";
import { UnendedTasks } from "./unended-tasks.ts";

const logger = pino({ enabled: false });
const own = "task-t1";
const first = "allocation-t1#1";
const sealed = { checkpoints: [{ checkpoint: checkpointB, step: 20, bytes: 0 }] };

let clock: ManualClock;
let stage: Stage;

const waits = () => waitsBy(clock, [], ["t1"]);

beforeEach(async () => {
  clock = new ManualClock();
  const log = createMemoryLog({ clock }).as("experiments");
  stage = new Stage("experiments", () => reactionHandlers(waits(), noFanOuts), log);
  await stage.tell(own, taskCreated(taskConfig, "notebook"), taskRun(1));
  await stage.tell(first, allocationGranted("a1"), allocationStarted);
  await stage.settle();
});

const about = { trial: "", task: "t1" };

function declared(run: number, step: number): EventOf<"CheckpointDeclared"> {
  const place = { storage: {}, format: "trainyard-work/1", metadata: {} };
  return { type: "CheckpointDeclared", data: { ...about, ...place, run, step } } as const;
}

function completed(run: number, step: number): EventOf<"CheckpointCompleted"> {
  const content = { manifestDigest: "d", files: 3, bytes: 9 };
  return { type: "CheckpointCompleted", data: { ...about, ...content, run, step } };
}

async function tell(stream: string, ...events: readonly AnyEvent[]): Promise<void> {
  await stage.tell(stream, ...events);
  await stage.settle();
}

const stop = (why: StopWhy): AnyEvent => ({
  type: "AllocationStopRequested",
  data: { mode: StopMode.GRACEFUL, why, graceMs: 1 },
});
const saved = (checkpoint: string, step: number) =>
  tell(`checkpoint-${checkpoint}`, declared(1, step), completed(1, step));
const ends = (why: StopWhy, more: object = {}) =>
  tell(first, stop(why), {
    ...acknowledged,
    data: { ...acknowledged.data, ...more },
  });
const last = async () => (await stage.stream(own)).at(-1);
const requests = async () =>
  (await stage.names(own)).filter((name) => name === "RunRequested").length;

async function send(name: "PauseTask" | "ResumeTask", tasksPerWorkspaceMax = 9): Promise<string> {
  const unended = await UnendedTasks.open({ log: stage.log, logger, tasksPerWorkspaceMax });
  const table = taskCommands(stage.executor, memoryIds(), unended, waits());
  const context = { identity: { commitId: newEventId(), meta: serviceMeta("experiments") } };
  const request = { task: "t1", reason: "lunch" };
  const handler = table[name] as (asked: object, by: object) => Promise<object>;
  const answer = await handler(request, context);
  return isRejection(answer) ? answer.rejected : "accepted";
}

describe("a complete save", () => {
  test("is recorded, and the next run of a drained task starts from it", async () => {
    await saved(checkpointA, 10);
    expect(await last()).toMatchObject({
      type: "TaskSaved",
      data: { checkpoint: checkpointA, run: 1, files: 3, bytes: 9, step: 10 },
    });
    await ends(StopWhy.DRAIN);
    expect(await last()).toMatchObject({
      type: "RunRequested",
      data: { run: 2, fromCheckpoint: checkpointA, fromStep: 10, delayMs: 0 },
    });
  });

  test("is waited for if the run has left it", async () => {
    await saved(checkpointA, 10);
    await tell(`checkpoint-${checkpointB}`, declared(1, 20));
    await ends(StopWhy.DRAIN, { sealed });
    expect(await requests()).toBe(1);
    await tell(`checkpoint-${checkpointB}`, completed(1, 20));
    expect(await last()).toMatchObject({
      data: { run: 2, fromCheckpoint: checkpointB, fromStep: 20 },
    });
  });

  test("that fails is not waited for, nor one whose only host is removed", async () => {
    await saved(checkpointA, 10);
    await ends(StopWhy.DRAIN, { sealed });
    await tell(`checkpoint-${checkpointB}`, declared(1, 20), {
      type: "CheckpointFailed",
      data: { reason: "a file differs" },
    });
    expect(await last()).toMatchObject({ data: { run: 2, fromCheckpoint: checkpointA } });
    await tell("allocation-t1#2", allocationGranted("a2"), allocationStarted);
    const other = "cccccccc-0000-4000-8000-000000000003";
    const left = { checkpoints: [{ checkpoint: other, step: 30, bytes: 0 }] };
    await tell("allocation-t1#2", stop(StopWhy.DRAIN), {
      ...acknowledged,
      data: { ...acknowledged.data, sealed: left },
    });
    expect(await requests()).toBe(2);
    await tell("agent-a2", { type: "AgentRemoved", data: {} } as AnyEvent);
    expect(await last()).toMatchObject({ data: { run: 3, fromCheckpoint: checkpointA } });
  });

  test("that never arrives is waited for until its time, and then the one before it is used", async () => {
    await saved(checkpointA, 10);
    const before = await awaiting();
    await ends(StopWhy.DRAIN, { sealed });
    for (const stored of await stage.log.readAll(0, 100)) before.taskDues.observe(stored);
    await before.taskDues.save();
    const check = awaitingCheck(stage.log, logger, awaitingTasksFold);
    expect((await check.run(new AbortController().signal)).finding).toBe("");
    await holding(limits.checkpointsWaitMs - 1);
    expect(await requests()).toBe(1);
    await holding(limits.checkpointsWaitMs);
    expect(await last()).toMatchObject({ data: { run: 2, fromCheckpoint: checkpointA } });
  });
});

const awaiting = () => {
  const { log, executor } = stage;
  return Awaiting.open({ log, executor, clock, logger, delays: defaultDelays, onParked() {} });
};

/** Runs the leader's loop until nothing is due. */
async function holding(ms: number): Promise<void> {
  const ended = new AbortController();
  const running = (await awaiting()).taskDues.loop.run(ended.signal);
  await clock.advance(ms);
  ended.abort();
  await clock.advance(0);
  await running;
}

describe("PauseTask and ResumeTask", () => {
  test("a paused task is resumed from its latest save", async () => {
    await saved(checkpointA, 10);
    expect(await send("PauseTask")).toBe("accepted");
    expect(await send("ResumeTask")).toBe("task_not_ended");
    await ends(StopWhy.PAUSE);
    expect(await last()).toMatchObject({
      data: { outcome: TaskOutcome.PAUSED, reason: "lunch" },
    });
    expect(await send("ResumeTask")).toBe("accepted");
    expect((await stage.names(own)).slice(-2)).toEqual(["TaskResumed", "RunRequested"]);
    expect(await last()).toMatchObject({ data: { run: 2, fromCheckpoint: checkpointA } });
    expect(await send("ResumeTask")).toBe("accepted");
    expect(await requests()).toBe(2);
  });

  test("a damaged save is left out, and a task without an intact one ends with a sentence", async () => {
    await saved(checkpointA, 10);
    await saved(checkpointB, 20);
    const damaged = {
      type: "CheckpointDamaged",
      data: { problems: [], count: 1, by: "" },
    } as const;
    await tell(`checkpoint-${checkpointB}`, damaged);
    await send("PauseTask");
    await ends(StopWhy.PAUSE);
    await send("ResumeTask");
    expect(await last()).toMatchObject({ data: { run: 2, fromCheckpoint: checkpointA } });
    await tell("allocation-t1#2", agentLost);
    await tell(`checkpoint-${checkpointA}`, damaged);
    await send("ResumeTask");
    expect(await last()).toMatchObject({
      data: { reason: "none of its saves is complete and intact" },
    });
  });

  test("a lost task without a save is not resumed, until its agent returns with one", async () => {
    await tell(first, agentLost);
    expect(await last()).toMatchObject({ data: { outcome: TaskOutcome.FAILED } });
    expect(await send("ResumeTask")).toBe("nothing_saved");
    const left = { runs: [{ allocation: "t1#1", checkpoints: sealed.checkpoints }] };
    const host = { occupations: [], slots: [], folder: "", place: "", startedMs: 1 };
    await tell("agent-a1", { type: "AgentReturned", data: { ...host, left } });
    expect(await send("ResumeTask")).toBe("accepted");
    expect(await requests()).toBe(1);
    await saved(checkpointB, 20);
    expect(await last()).toMatchObject({ data: { run: 2, fromCheckpoint: checkpointB } });
  });

  test("a resumed task counts for its workspace again", async () => {
    await saved(checkpointA, 10);
    await send("PauseTask");
    await ends(StopWhy.PAUSE);
    await stage.tell("task-t2", taskCreated(), taskRun(1));
    expect(await send("ResumeTask", 1)).toBe("too_many_tasks");
    expect(await send("ResumeTask", 2)).toBe("accepted");
    expect(await requests()).toBe(2);
    expect(await send("ResumeTask", 0)).toBe("accepted");
  });

  test("a folder that is not saved is named with the end of the task", async () => {
    const unsaved = "the folder is larger than 10 GiB: it is in /data/t1 on a1 for a week";
    await ends(StopWhy.DRAIN, { unsaved });
    expect(await last()).toMatchObject({ type: "TaskEnded", data: { unsaved } });
  });
});
