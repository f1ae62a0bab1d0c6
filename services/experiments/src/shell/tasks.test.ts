import type { CommandReply } from "@trainyard/bus";
import { TaskOutcome } from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { type CommandRequestOf, type CommandName } from "@trainyard/contracts/command-services";
import { commandHandlers, decodeReply, encodeRequest, readRejected } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { pino } from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import {
  agentLost,
  allocationEnded,
  allocationStarted,
  exit,
  withdrawn,
} from "../testing/examples.ts";
import { memoryIds } from "../testing/memory-ids.ts";
import { noFanOuts, waitsBy } from "../testing/small-fan-outs.ts";
import { repeatedConfig, taskConfig } from "../testing/tasks.ts";
import { reactionHandlers } from "./reactions.ts";
import { taskCommands } from "./task-commands.ts";
import { unendedCheck, UnendedTasks } from "./unended-tasks.ts";

const logger = pino({ enabled: false });
const waits = waitsBy({ nowMs: () => 0 });
const creation = {
  kind: "command",
  config: taskConfig,
  name: "echo hello",
  contextDigest: "",
  contextBytes: 0,
  contextDeletions: 0,
  owner: "ada",
  workspace: "lab",
  tokenId: "k1",
  sources: [],
};

let stage: Stage;
let ids: ReturnType<typeof memoryIds>;
let unended: UnendedTasks;

beforeEach(async () => {
  stage = new Stage("experiments", () => reactionHandlers(waits, noFanOuts));
  ids = memoryIds();
  unended = await openUnended();
});

const openUnended = () => UnendedTasks.open({ log: stage.log, logger, tasksPerWorkspaceMax: 2 });

async function observeAll(): Promise<void> {
  for (const event of await stage.log.readAll(0, 1_000)) unended.observe(event);
}

async function send<Name extends CommandName<"experiments">>(
  name: Name,
  request: CommandRequestOf<"experiments", Name>,
  commitId: string = newEventId(),
): Promise<string> {
  const table = taskCommands(stage.executor, ids, unended, waits);
  const handler = commandHandlers("experiments", table, logger)[name];
  if (handler === undefined) throw new Error(`${name} is not a command`);
  const headers = { commitId, authid: "u1", traceparent: "", correlationid: "" };
  const body = encodeRequest("experiments", name, request);
  const reply = await handler({ headers, body, isLate: () => false });
  return answerOf(reply);
}

function answerOf({ kind, ...reply }: CommandReply): string {
  if (!("body" in reply)) return kind;
  if (kind === "rejected") return readRejected(reply.body).rejected;
  return decodeReply("experiments", "CreateTask", reply.body).stream;
}

const create = (overrides: Partial<typeof creation> = {}, commitId?: string) =>
  send("CreateTask", { ...creation, ...overrides }, commitId);

const types = (task: string) => stage.names(`task-${task}`);

describe("CreateTask", () => {
  test("creates a task under the next number of tasks, with its first run", async () => {
    expect(await create()).toBe("task-t1");
    expect(await create({ kind: "shell" })).toBe("task-t2");
    expect(await stage.stream("task-t1")).toMatchObject([
      {
        type: "TaskCreated",
        data: { kind: "command", name: "echo hello", tokenId: "k1", sources: [] },
      },
      { type: "RunRequested", data: { run: 1, workspace: "lab", owner: "ada", experiment: "" } },
    ]);
  });

  test("returns the first task if it is repeated, also in a workspace that is full, and after a takeover", async () => {
    await create();
    const commitId = newEventId();
    const first = await create({}, commitId);
    expect(await create({}, commitId)).toBe(first);
    expect(await create()).toBe("too_many_tasks");
    unended = await openUnended();
    expect(await create({}, commitId)).toBe(first);
    expect(await create()).toBe("too_many_tasks");
  });

  test("is refused without a known kind, without a configuration, or with deleted code", async () => {
    expect(await create({ kind: "jupyter" })).toBe("invalid_request");
    const { config: _, ...without } = creation;
    expect(await send("CreateTask", without)).toBe("invalid_request");
    expect(await create({ contextDigest: "c1", contextDeletions: 1 })).toBe("content_deleted");
  });

  test("is refused in a workspace with too many unended tasks, until one has ended", async () => {
    expect(await Promise.all([create(), create(), create()])).toContain("too_many_tasks");
    await observeAll();
    expect(await create()).toBe("too_many_tasks");
    expect(await create({ workspace: "other" })).toMatch("task-t");
    await stage.tell("allocation-t1#1", allocationEnded());
    await stage.settle();
    await observeAll();
    expect(await create()).toMatch("task-t");
    expect(await create()).toBe("too_many_tasks");
  });

  test("is decided once for copies that arrive at once, which count as one until then", async () => {
    let decisions = 0;
    const lost = Promise.withResolvers<never>();
    const decide = () => ((decisions += 1), lost.promise);
    await create();
    const copies = [1, 2].map(() => unended.creating("c1", "lab", decide));
    expect(await create()).toBe("too_many_tasks");
    lost.reject(new Error("the log is away"));
    await expect(Promise.allSettled(copies)).resolves.toMatchObject([
      { status: "rejected" },
      { status: "rejected" },
    ]);
    expect(decisions).toBe(1);
    expect(await create()).toMatch("task-t");
  });

  test("counts the unended tasks of the log after a takeover", async () => {
    await create();
    await create();
    unended = await openUnended();
    expect(await create()).toBe("too_many_tasks");
    const { finding } = await unendedCheck(stage.log, logger).run(new AbortController().signal);
    expect(finding).toBe("");
  });
});

describe("a task's run", () => {
  test("starts and ends with its allocation, and its exit code is the task's", async () => {
    await create();
    await stage.tell("allocation-t1#1", allocationStarted, allocationEnded({ exits: [exit(7)] }));
    await stage.settle();
    expect(await types("t1")).toEqual([
      "TaskCreated",
      "RunRequested",
      "RunStarted",
      "RunEnded",
      "TaskEnded",
    ]);
    expect((await stage.stream("task-t1")).at(-1)).toMatchObject({
      data: { outcome: TaskOutcome.FAILED, exitCode: 7 },
    });
  });

  test("that is lost is requested again within max_restarts", async () => {
    await create({ config: repeatedConfig });
    for (const run of [1, 2, 3]) {
      await stage.tell(`allocation-t1#${run}`, allocationStarted, agentLost);
      await stage.settle();
    }
    const runs = (await types("t1")).filter((type) => type === "RunRequested");
    expect(runs).toHaveLength(3);
    expect((await stage.stream("task-t1")).at(-1)).toMatchObject({
      type: "TaskEnded",
      data: { outcome: TaskOutcome.FAILED, restarts: 2 },
    });
  });
});

describe("KillTask and DeleteTask", () => {
  test("a killed task ends when its allocation has, and can be deleted then", async () => {
    await create();
    expect(await send("DeleteTask", { task: "t1" })).toBe("task_not_ended");
    expect(await send("KillTask", { task: "t1", reason: "enough" })).toBe("task-t1");
    await stage.tell("allocation-t1#1", withdrawn);
    await stage.settle();
    expect((await stage.stream("task-t1")).at(-1)).toMatchObject({
      data: { outcome: TaskOutcome.KILLED, reason: "enough" },
    });
    expect(await send("DeleteTask", { task: "t1" })).toBe("task-t1");
    expect((await types("t1")).at(-1)).toBe("TaskDeleted");
  });

  test("are refused for ids that are no task's", async () => {
    for (const task of ["t9", "12", "t12#1", ""]) {
      expect(await send("KillTask", { task, reason: "" })).toBe("task_not_found");
      expect(await send("DeleteTask", { task })).toBe("task_not_found");
    }
  });
});
