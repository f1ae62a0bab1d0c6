/** Tests of the retention of the saves of tasks. */
import { randomUUID } from "node:crypto";
import type { AnyEvent } from "@trainyard/contracts";
import { TaskOutcome } from "@trainyard/contracts/events";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import {
  damaged,
  pinned,
  runEnded,
  runRequested,
  saved,
  taskCreated,
  unpinned,
} from "./testing/events.ts";
import { soon, TestGc } from "./testing/test-gc.ts";

let gc: TestGc;
let number = 0;

beforeAll(async () => {
  gc = await TestGc.open();
});
afterEach(() => gc.stop());
afterAll(() => gc[Symbol.asyncDispose]());

const condemned = ["CheckpointCondemned"];
const deleted = ["CheckpointCondemned", "CheckpointDeletionStarted", "CheckpointDeleted"];

const becomes = (save: string | undefined, expected: readonly string[]) =>
  vi.waitFor(async () => expect(await gc.retention(save ?? "")).toEqual(expected), soon);

const toTask = (task: string, ...events: readonly AnyEvent[]) =>
  gc.stage.tell(`task-${task}`, ...events);

const ended: AnyEvent = {
  type: "TaskEnded",
  data: { outcome: TaskOutcome.PAUSED, reason: "", restarts: 0 },
};

async function newTask(): Promise<string> {
  number += 1;
  await toTask(`t${number}`, taskCreated(gc.root), runRequested(1));
  return `t${number}`;
}

/** Makes complete saves of a task's run, with these numbers, in this order. */
async function saves(task: string, steps: readonly number[], run = 1): Promise<readonly string[]> {
  const made: string[] = [];
  for (const step of steps) {
    const id = randomUUID();
    await gc.checkpointFiles(id);
    await gc.stage.tell(`checkpoint-${id}`, ...saved(task, run, step, gc.root, gc.storageId));
    const data = { checkpoint: id, run, step, files: 2, bytes: 5 };
    await toTask(task, { type: "TaskSaved", data });
    made.push(id);
  }
  return made;
}

async function explained(checkpoint: string) {
  const request = { experiment: "", checkpoint, limit: 1, after: "" };
  const answer = await gc.stage.ask("checkpoint-gc", "ExplainRetention", request);
  return answer.kind === "ok" ? answer.reply.verdicts : answer;
}

test("the newest three saves of a running task stay by their numbers, and older ones are deleted after the grace", async () => {
  await gc.start(0);
  const task = await newTask();
  const [late, first, second, third, fourth] = await saves(task, [2, 1, 3, 4, 5]);
  await becomes(late, deleted);
  await becomes(first, deleted);
  await gc.settled();
  for (const one of [second, third, fourth]) expect(await gc.retention(one ?? "")).toEqual([]);
  expect([late, first, second].map((one) => gc.has(one ?? ""))).toEqual([false, false, true]);
  expect(await explained(second ?? "")).toMatchObject([
    { keeps: true, keptBy: ["number 3 of the 3 latest of its task"], competitors: [] },
  ]);
  expect(await explained(fourth ?? "")).toMatchObject([
    { keptBy: [`task ${task} continues from it`, "number 1 of the 3 latest of its task"] },
  ]);
});

test("a save that a person pins, that a run starts from, or that the task continues from, stays beside the newest three", async () => {
  await gc.start(0);
  const task = await newTask();
  const [held = "", started = "", plain] = await saves(task, [1, 2, 3]);
  await gc.stage.tell(`checkpoint-${held}`, pinned("ada"));
  await toTask(task, runEnded(1), runRequested(2, started, 2));
  await saves(task, [1_000_001, 1_000_002, 1_000_003], 2);
  await becomes(plain, deleted);
  await gc.settled();
  expect(await gc.retention(held)).toEqual([]);
  expect(await gc.retention(started)).toEqual([]);
  await gc.stage.tell(`checkpoint-${held}`, unpinned("ada"));
  await becomes(held, deleted);
});

test("a condemned save is spared if a newer one is damaged within the grace", async () => {
  await gc.start(1);
  const task = await newTask();
  const [first, second = ""] = await saves(task, [1, 2, 3, 4]);
  await becomes(first, condemned);
  await gc.stage.tell(`checkpoint-${second}`, damaged("small.tar"));
  await becomes(first, [...condemned, "CheckpointSpared"]);
  expect(gc.has(first ?? "")).toBe(true);
  expect(await explained(second)).toMatchObject([
    { keptBy: ["it is damaged: only a person deletes it"] },
  ]);
});

test("a deleted task keeps only saves that are pinned, and its rows go with the last of them", async () => {
  await gc.start(0);
  const task = await newTask();
  const [first, held = "", last] = await saves(task, [1, 2, 3]);
  await gc.stage.tell(`checkpoint-${held}`, pinned("u1", "model-version:iris/1"));
  await toTask(task, runEnded(1), ended);
  await gc.settled();
  expect(await gc.retention(first ?? "")).toEqual([]);
  await toTask(task, { type: "TaskDeleted", data: {} });
  await becomes(first, deleted);
  await becomes(last, deleted);
  expect(await gc.retention(held)).toEqual([]);
  expect(await gc.stage.verify()).toEqual({ "checkpoint-gc.checkpoints": "" });
  await gc.stage.tell(`checkpoint-${held}`, unpinned("u1", "model-version:iris/1"));
  await becomes(held, deleted);
  await vi.waitFor(async () => {
    const rows = "select from checkpoint_gc.checkpoints where experiment = $1";
    expect(await gc.stage.sql(rows, [task])).toEqual([]);
  }, soon);
});

test("a save that outranked ones have condemned is deleted with its task, although the task's other saves go first", async () => {
  await gc.start(2);
  const task = await newTask();
  const [first, ...others] = await saves(task, [1, 2, 3, 4]);
  await becomes(first, condemned);
  await toTask(task, runEnded(1), ended, { type: "TaskDeleted", data: {} });
  for (const one of [...others, first]) await becomes(one, deleted);
  expect([...others, first].map((one) => gc.has(one ?? ""))).toEqual(Array(4).fill(false));
});

test("a person cannot delete the save that a task continues from, and can delete an earlier one", async () => {
  await gc.start(600);
  const task = await newTask();
  const [first = "", last = ""] = await saves(task, [1, 2]);
  const deletion = (checkpoint: string) =>
    gc.stage.ask("checkpoint-gc", "DeleteCheckpoint", { checkpoint, reason: "", globs: [] });
  expect(await deletion(last)).toMatchObject({ rejection: { rejected: "checkpoint_needed" } });
  expect(await deletion(first)).toMatchObject({ kind: "ok" });
});
