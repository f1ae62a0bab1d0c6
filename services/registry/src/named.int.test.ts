/** Checkpoints of runs that have ended. */
import { randomUUID } from "node:crypto";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { markStorage } from "@trainyard/blob";
import type { AnyEvent } from "@trainyard/contracts";
import { RunEndWhy, TaskOutcome } from "@trainyard/contracts/events";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { registryLimits } from "./limits.ts";
import { countUnfinished } from "./shell/unfinished-list.ts";
import {
  experimentCreated,
  runCheckpointsNamed,
  runEnded,
  runRequested,
  taskCreated,
  TestRegistry,
} from "./testing/test-registry.ts";

let registry: TestRegistry;
const soon = { timeout: 90_000, interval: 100 };

beforeAll(async () => {
  registry = await TestRegistry.start();
  // The registry declares a checkpoint without a storage id here; it belongs to the default storage.
  await registry.stored(await registry.newTrial());
  await registry.adopt(registry.storage, registry.storageId);
});
afterAll(() => registry[Symbol.asyncDispose]());

const ok = { kind: "ok" };
const rejectedAs = (code: string) => ({ kind: "rejected", rejection: { rejected: code } });
const gone = ["CheckpointDeclared", "CheckpointAbandoned"];
const tell = (trial: string, ...events: Parameters<TestRegistry["stage"]["tell"]>[1][]) =>
  registry.stage.tell(`trial-${trial}`, ...events);
const becomes = (checkpoint: string, names: readonly string[]) =>
  vi.waitFor(async () => expect(await registry.names(checkpoint)).toEqual(names), soon);

describe("after the end of a run", () => {
  test("a named checkpoint completes, declared before or not, and can be restored from", async () => {
    const trial = await registry.newTrial();
    const { checkpoint: declared } = await registry.declare(trial);
    const undeclared = randomUUID();
    const files = await registry.write(declared, { weights: "w" });
    await registry.write(undeclared, { weights: "w" });
    await tell(trial, runEnded(1, RunEndWhy.FINISHED, [declared, undeclared]));
    await registry.restart();
    expect((await registry.declare(trial, 1, undeclared)).answer).toMatchObject(ok);
    for (const checkpoint of [declared, undeclared]) {
      expect(await registry.complete(checkpoint, trial, files)).toMatchObject(ok);
      expect(await registry.plan(checkpoint)).toMatchObject(ok);
    }
  });

  test("a checkpoint that was not named is refused, recorded as abandoned, and cleared", async () => {
    const trial = await registry.newTrial();
    const checkpoint = randomUUID();
    await registry.write(checkpoint, { weights: "w" });
    await tell(trial, runEnded(1, RunEndWhy.FINISHED, [randomUUID()]));
    const { answer } = await registry.declare(trial, 1, checkpoint);
    expect(answer).toMatchObject(rejectedAs("run_ended"));
    expect(await registry.names(checkpoint)).toEqual(gone);
    expect((await registry.declare(trial, 1, checkpoint)).answer).toMatchObject(
      rejectedAs("checkpoint_abandoned"),
    );
    await vi.waitFor(() => expect(registry.has(checkpoint)).toBe(false), soon);
  });

  test("a named checkpoint is abandoned once a later run is requested without it", async () => {
    const trial = await registry.newTrial();
    const { checkpoint: declared } = await registry.declare(trial);
    const undeclared = randomUUID();
    const files = await registry.write(declared, { weights: "w" });
    await registry.write(undeclared, { weights: "w" });
    await tell(trial, runEnded(1, RunEndWhy.FINISHED, [declared, undeclared]), runRequested(2));
    await becomes(declared, gone);
    // The registry's view may lag behind the log for a short time; its refusal is then that a later run exists.
    await vi.waitFor(async () => {
      const answer = await registry.complete(declared, trial, files);
      expect(answer).toMatchObject(rejectedAs("checkpoint_abandoned"));
    }, soon);
    // The agent declares a checkpoint that it never declared before.
    const { answer } = await registry.declare(trial, 1, undeclared);
    expect(answer).toMatchObject(rejectedAs("run_superseded"));
    await becomes(undeclared, gone);
    await vi.waitFor(() => expect(registry.has(undeclared)).toBe(false), soon);
  });

  test("a checkpoint of a lost run waits for its agent to name it", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    const files = await registry.write(checkpoint, { weights: "w" });
    await tell(trial, runEnded(1, RunEndWhy.LOST));
    expect(await registry.complete(checkpoint, trial, files)).toMatchObject(
      rejectedAs("run_unheard"),
    );
    await tell(trial, runCheckpointsNamed(1, [checkpoint]));
    expect(await registry.complete(checkpoint, trial, files)).toMatchObject(ok);
  });

  test("naming a checkpoint of another trial does not affect that checkpoint", async () => {
    const [mine, other] = [await registry.newTrial(), await registry.newTrial()];
    const { checkpoint, manifest } = await registry.stored(other);
    const { checkpoint: open } = await registry.declare(other);
    await tell(mine, runEnded(1, RunEndWhy.FINISHED, [checkpoint, open]), runRequested(2));
    expect((await registry.declare(mine, 1, checkpoint)).answer).toMatchObject(
      rejectedAs("checkpoint_exists"),
    );
    await becomes(open, ["CheckpointDeclared"]);
    expect(await registry.plan(checkpoint)).toMatchObject(ok);
    expect(await registry.complete(checkpoint, other, manifest)).toMatchObject(ok);
  });
});

describe("saves of a task", () => {
  let number = 0;
  const format = "trainyard-work/1";
  const newTask = async (): Promise<string> => {
    number += 1;
    const stream = `task-t${number}`;
    await registry.stage.tell(stream, taskCreated(registry.storage), runRequested(1, ""));
    return `t${number}`;
  };
  const toTask = (task: string, ...events: Parameters<TestRegistry["stage"]["tell"]>[1][]) =>
    registry.stage.tell(`task-${task}`, ...events);
  const declare = (task: string, run = 1, checkpoint: string = randomUUID()) =>
    registry.declareIn({ trial: "", task, run, checkpoint, format, storageId: registry.storageId });
  const written = async (checkpoint: string) => registry.write(checkpoint, { "work.json": "{}" });
  const finish = async (task: string, checkpoint: string, run = 1) => {
    const manifest = await written(checkpoint);
    const message = { checkpoint, trial: "", task, run, manifest };
    return registry.stage.ask("registry", "CompleteCheckpoint", message);
  };

  test("are declared in the task's storage, read ahead and completed by its newest run", async () => {
    const task = await newTask();
    const { checkpoint, answer } = await declare(task);
    const path = join(registry.storage, checkpoint);
    expect(answer).toMatchObject({ kind: "ok", reply: { path } });
    await written(checkpoint);
    const ahead = { checkpoint, trial: "", task, run: 1, paths: ["work.json"] };
    expect(await registry.stage.ask("registry", "ReadAhead", ahead)).toMatchObject({
      reply: { files: 1 },
    });
    expect(await finish(task, checkpoint)).toMatchObject(ok);
    expect(await registry.plan(checkpoint)).toMatchObject(ok);
    const [first, second] = await registry.stage.events(`checkpoint-${checkpoint}`);
    expect(first?.data).toMatchObject({ task, trial: "", run: 1, format });
    expect(second?.data).toMatchObject({ task, trial: "", run: 1, files: 1 });
  });

  test("are refused for an unknown task, a run that was not requested, another task and a trial as well", async () => {
    const [task, other] = [await newTask(), await newTask()];
    expect((await declare("t900")).answer).toMatchObject(rejectedAs("task_not_found"));
    expect((await declare("1.1")).answer).toMatchObject(rejectedAs("task_not_found"));
    expect((await declare(task, 2)).answer).toMatchObject(rejectedAs("run_not_found"));
    const trial = await registry.newTrial();
    const both = await registry.declareIn({ trial, task, storageId: registry.storageId });
    expect(both.answer).toMatchObject(rejectedAs("task_not_found"));
    const { checkpoint } = await declare(task);
    expect(await finish(other, checkpoint)).toMatchObject(rejectedAs("not_your_run"));
    const asTrial = await registry.complete(checkpoint, trial, await written(checkpoint));
    expect(asTrial).toMatchObject(rejectedAs("not_your_run"));
    const asPerson = await registry.complete(checkpoint, "", await written(checkpoint));
    expect(asPerson).toMatchObject(rejectedAs("not_your_run"));
    const failed = { checkpoint, trial: "", task, run: 1, reason: "the disk is full" };
    expect(await registry.stage.ask("registry", "FailCheckpoint", failed)).toMatchObject(ok);
    await becomes(checkpoint, ["CheckpointDeclared", "CheckpointFailed"]);
  });

  test("complete after the end of their run if it names them, until the task is resumed without them", async () => {
    const task = await newTask();
    const [named, late, unnamed] = [randomUUID(), randomUUID(), randomUUID()];
    for (const one of [named, late, unnamed]) await declare(task, 1, one);
    const ended: AnyEvent = {
      type: "TaskEnded",
      data: { outcome: TaskOutcome.PAUSED, reason: "", restarts: 0 },
    };
    await toTask(task, runEnded(1, RunEndWhy.FINISHED, [named, late]), ended);
    expect(await finish(task, named)).toMatchObject(ok);
    expect(await finish(task, unnamed)).toMatchObject({ kind: "rejected" });
    await becomes(unnamed, gone);
    await toTask(task, { type: "TaskResumed", data: {} }, runRequested(2, ""));
    await becomes(late, gone);
    expect((await declare(task, 1)).answer).toMatchObject(rejectedAs("run_superseded"));
    const { checkpoint, answer } = await declare(task, 2);
    expect(answer).toMatchObject(ok);
    expect(await finish(task, checkpoint, 2)).toMatchObject(ok);
  });

  test("are refused and cleared once their task is deleted, named ones too", async () => {
    const task = await newTask();
    const { checkpoint: named } = await declare(task);
    await written(named);
    await toTask(task, runEnded(1, RunEndWhy.FINISHED, [named]), { type: "TaskDeleted", data: {} });
    await becomes(named, gone);
    await vi.waitFor(() => expect(registry.has(named)).toBe(false), soon);
    const { checkpoint: late, answer } = await declare(task);
    expect(answer).toMatchObject(rejectedAs("task_deleted"));
    expect(await registry.names(late)).toEqual(gone);
  });
});

describe("where runs have users", () => {
  const own = process.getuid?.() ?? 0;
  const started = (trial: string, userId: number) =>
    registry.stage.tell(`allocation-${trial}#1`, {
      type: "AllocationStarted",
      data: { starts: [{ agent: "a", nodeRank: 0, pid: 1, userId }] },
    });

  test("a run declares and completes the folders of its user, and none of another user", async () => {
    const [mine, other] = [await registry.newTrial(), await registry.newTrial()];
    await started(mine, own);
    await started(other, own + 1);
    const checkpoint = randomUUID();
    const files = await registry.write(checkpoint, { weights: "w" });
    expect((await registry.declare(other, 1, checkpoint)).answer).toMatchObject(
      rejectedAs("not_your_folder"),
    );
    expect((await registry.declare(mine, 1, checkpoint)).answer).toMatchObject(ok);
    expect(await registry.complete(checkpoint, mine, files)).toMatchObject(ok);
  });

  test("a run that declares an id before another user's run writes the folder neither completes nor clears it", async () => {
    const trial = await registry.newTrial();
    await started(trial, own + 1);
    const { checkpoint, answer } = await registry.declare(trial);
    expect(answer).toMatchObject(ok);
    const files = await registry.write(checkpoint, { weights: "w" });
    expect(await registry.complete(checkpoint, trial, files)).toMatchObject(
      rejectedAs("not_your_folder"),
    );
    await tell(trial, runEnded(1));
    await becomes(checkpoint, gone);
    const left = () =>
      registry.stage.sql("select from registry.unfinished where checkpoint = $1", [checkpoint]);
    await vi.waitFor(async () => expect(await left()).toEqual([]), soon);
    expect(registry.has(checkpoint)).toBe(true);
  });
});

describe("a checkpoint that nobody completes", () => {
  afterEach(() => registry.restart());

  test("keeps its files for the grace after it is abandoned", async () => {
    const graceSeconds = 600;
    await registry.restart({ graceSeconds });
    const trial = await registry.newTrial();
    const checkpoint = "00000000-0000-4000-8000-0000000000aa";
    await registry.declare(trial, 1, checkpoint);
    await registry.write(checkpoint, { weights: "w" });
    await tell(trial, runEnded(1));
    const isVoid = `select from registry.unfinished where checkpoint = '${checkpoint}' and state = 'void'`;
    await vi.waitFor(async () => expect(await registry.stage.sql(isVoid)).toHaveLength(1), soon);
    await registry.restart({ graceSeconds, aheadMs: graceSeconds * 1_000 - 60_000 });
    // This checkpoint is last in a pass: once it is judged, the first one was judged too.
    const last = "ffffffff-0000-4000-8000-0000000000aa";
    const other = await registry.newTrial();
    await registry.declare(other, 1, last);
    await tell(other, runEnded(1));
    await becomes(last, gone);
    expect(registry.has(checkpoint, "weights")).toBe(true);
    await registry.restart({ graceSeconds, aheadMs: graceSeconds * 1_000 });
    await vi.waitFor(() => expect(registry.has(checkpoint)).toBe(false), soon);
  });

  test("is abandoned after the agents' time limit if its trial has no further run", async () => {
    const trial = await registry.newTrial();
    const named = randomUUID();
    const { checkpoint } = await registry.stored(trial);
    await registry.write(named, { weights: "w" });
    await tell(trial, runEnded(1, RunEndWhy.FINISHED, [named, checkpoint]));
    await registry.restart({ aheadMs: registryLimits.namedMs - 60_000 });
    await registry.stored(await registry.newTrial());
    expect(await registry.names(named)).toEqual([]);
    await registry.restart({ aheadMs: registryLimits.namedMs + 1_000 });
    await becomes(named, gone);
    await vi.waitFor(() => expect(registry.has(named)).toBe(false), soon);
    expect(await registry.plan(checkpoint)).toMatchObject(ok);
  });

  test("is cleared behind any number of checkpoints on an unavailable storage, which are cleared once it is back", async () => {
    const away = join(registry.folder, "away");
    await mkdir(away);
    await markStorage(away, registry.storageId);
    await registry.stage.tell("experiment-3", experimentCreated(away));
    await tell("3.1", runRequested(1));
    const ids = Array.from(
      { length: registryLimits.unfinishedPage + 5 },
      (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
    );
    for (const id of ids) await registry.declare("3.1", 1, id);
    const trial = await registry.newTrial();
    const last = "ffffffff-0000-4000-8000-000000000001";
    await registry.declare(trial, 1, last);
    await registry.write(last, { weights: "w" });
    await rename(away, `${away}.gone`);
    await tell("3.1", runEnded(1));
    await tell(trial, runEnded(1));
    await vi.waitFor(() => expect(registry.has(last)).toBe(false), soon);
    const left = async () =>
      (await registry.stage.sql(`select from registry.unfinished where state = 'void'`)).length;
    await vi.waitFor(async () => expect(await left()).toBe(ids.length), soon);
    const query = async (text: string) => ({ rows: await registry.stage.sql(text) });
    const counted = await countUnfinished({ query } as unknown as Parameters<
      typeof countUnfinished
    >[0]);
    const sinceMs = expect.any(Number) as unknown;
    expect(counted).toContainEqual({ state: "void", count: ids.length, sinceMs });
    expect(await registry.stage.verify()).toEqual({
      "registry.unfinished": "",
      "registry.placed": "",
    });
    await rename(`${away}.gone`, away);
    await vi.waitFor(async () => expect(await left()).toBe(0), { ...soon, timeout: 90_000 });
  });

  test("is retried soon after a clock that was days ahead postponed it", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    await registry.write(checkpoint, { weights: "w" });
    const marker = join(registry.folder, "checkpoints", ".trainyard-storage");
    await rename(marker, `${marker}.gone`);
    await registry.restart({ aheadMs: registryLimits.namedMs });
    await tell(trial, runEnded(1));
    const putOff = `select from registry.unfinished_tries where checkpoint = '${checkpoint}' and tries > 1`;
    await vi.waitFor(async () => expect(await registry.stage.sql(putOff)).toHaveLength(1), soon);
    await rename(`${marker}.gone`, marker);
    await registry.restart();
    await vi.waitFor(() => expect(registry.has(checkpoint)).toBe(false), soon);
  });
});
