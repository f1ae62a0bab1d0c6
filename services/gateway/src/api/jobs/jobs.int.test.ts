import type { AnyEvent } from "@trainyard/contracts";
import {
  AllocationEndCause,
  ExperimentOutcome,
  TaskOutcome,
  WaitCode,
} from "@trainyard/contracts/events";
import { reject } from "@trainyard/kernel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created, requested, taskCreated, trialCreated } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.append("experiment-12", created({}), { type: "ExperimentActivated", data: {} });
  await gateway.append("experiment-13", created({}));
  const ended = { outcome: ExperimentOutcome.COMPLETED, reason: "" };
  const position = await gateway.append("experiment-14", created({}), {
    type: "ExperimentEnded",
    data: ended,
  });
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const job = {
  job: "12",
  pool: "default",
  workspace: "research",
  owner: "ada",
  priority: 42,
  weight: 1,
  maxSlots: 4,
  runsWaiting: 1,
  runsPlaced: 2,
  slotsHeld: 2,
  slotsWanted: 8,
  slotsBorrowed: 0,
  jobsAhead: 1,
};
const run = {
  run: "12.3#1",
  resources: { pool: "default", slots: 8, priority: 42, weight: 1, singleAgent: true },
  queuedAtMs: 5,
  placements: [],
  reason: "quota",
  detail: "its workspace holds 16 of 16 slots",
  limit: "research",
  ahead: 2,
  blockers: ["7.1#1"],
  preemptions: 0,
  startsWhen: "a run of research ends",
};

/** Simulates the scheduler, which has runs of experiment 12 only. */
async function scheduler(asked: object[] = []): Promise<AsyncDisposable> {
  const absent = reject("not_found", "no run of the experiment waits or has a place");
  const ended = reject("experiment_ended", "experiment 14: the experiment has ended");
  const notWaiting = reject("not_waiting", "experiment 12: experiment 13 has no run that waits");
  return gateway.serving("scheduler", {
    ExplainJob: async (request) => (request.job === "12" ? { job, runs: [run] } : absent),
    UpdateJob: async (request) => {
      asked.push(request);
      return request.job === "12" ? { position: 12, stream: "pool-default" } : ended;
    },
    MoveJob: async (request) => {
      asked.push(request);
      return request.anchor === "13" ? notWaiting : { position: 13, stream: "pool-default" };
    },
  });
}

describe("a list of jobs", () => {
  const queued = (experiment: string, pool: string, slots: number): AnyEvent => {
    const resources = { pool, slots, priority: 42, weight: 1, singleAgent: true };
    const of = { workspace: "research", owner: experiment === "21" ? "ada" : "grace" };
    const task = `${experiment}.1`;
    const delays = { preemptible: true, delayMs: 0 };
    const data = { task, run: 1, job: experiment, resources, ...of, ...delays };
    return { type: "AllocationQueued", data };
  };
  const listed = async (query: string) => {
    const { status, body } = await gateway.call("GET", `/api/v1/jobs${query}`);
    expect(status).toBe(200);
    return body;
  };
  const idsOf = (body: { readonly [key: string]: unknown }) =>
    (body["items"] as { job: string; jobsAhead: number }[]).map(
      ({ job: id, jobsAhead }) => `${id} behind ${jobsAhead}`,
    );

  beforeAll(async () => {
    await gateway.append("allocation-21.1#1", queued("21", "default", 2));
    await gateway.append("allocation-22.1#1", queued("22", "default", 4));
    await gateway.append("allocation-23.1#1", queued("23", "gpus", 8));
    await gateway.append("allocation-24.1#1", queued("24", "default", 1), {
      type: "AllocationGranted",
      data: {
        placements: [{ agent: "a", slots: ["0"], nodeRank: 0, address: "h" }],
        ...{ masterAddress: "h", masterPort: 1, tokenKey: "k", folded: 0 },
      },
    });
    const update = { job: "22", priority: 1, maxSlots: 6 };
    const position = await gateway.append("pool-default", { type: "JobUpdated", data: update });
    await listed(`?minPosition=${position}`);
  });

  test("is in queue order, pool by pool, also without the scheduler", async () => {
    const body = await listed("");
    expect(idsOf(body)).toEqual(["22 behind 0", "21 behind 1", "24 behind 0", "23 behind 0"]);
    expect((body["items"] as object[])[0]).toEqual({
      ...{ job: "22", pool: "default", workspace: "research", owner: "grace" },
      ...{ priority: 1, weight: 1, maxSlots: 6, runsWaiting: 1, runsPlaced: 0 },
      ...{ slotsHeld: 0, slotsWanted: 4, slotsBorrowed: 0, jobsAhead: 0 },
    });
    expect(idsOf(await listed("?pool=gpus"))).toEqual(["23 behind 0"]);
  });

  test("says that the scheduler does not answer, as lists of agents and a trial do", async () => {
    const agents = await gateway.call("GET", "/api/v1/agents");
    for (const body of [await listed(""), agents.body]) {
      expect(body).toMatchObject({ schedulerAnsweredAtMs: 0 });
    }
    const trialOf12 = { ...trialCreated(9), data: { ...trialCreated(9).data, experiment: "12" } };
    const position = await gateway.append("trial-12.9", trialOf12, requested(1, 0));
    const trial = await gateway.call("GET", `/api/v1/trials/12.9?minPosition=${position}`);
    expect(trial.body).toMatchObject({ schedulerAnsweredAtMs: 0 });
  });

  test("is filtered, sorted, counted and paged, and its places are those in the whole queue", async () => {
    const filter = (text: string) => `?filter=${encodeURIComponent(text)}`;
    expect(idsOf(await listed(filter("owner = ada")))).toEqual(["21 behind 1"]);
    expect(idsOf(await listed(filter("slots_held > 0 or priority = 1")))).toEqual([
      "22 behind 0",
      "24 behind 0",
    ]);
    expect(idsOf(await listed("?orderBy=slots_wanted%20desc"))).toEqual([
      "23 behind 0",
      "22 behind 0",
      "21 behind 1",
      "24 behind 0",
    ]);
    const pages: string[] = [];
    for (let pageToken = ""; ; ) {
      const body = await listed(`?pageSize=1&count=true&fields=job&pageToken=${pageToken}`);
      expect(body).toMatchObject({ total: 4, totalIsEstimate: false });
      expect(Object.keys((body["items"] as object[])[0] ?? {})).toEqual(["job"]);
      pages.push(...(body["items"] as { job: string }[]).map((one) => one.job));
      pageToken = String(body["nextPageToken"]);
      if (pageToken === "") break;
    }
    expect(pages).toEqual(["22", "21", "24", "23"]);
  });

  test("includes an experiment until its last run has ended", async () => {
    const end = { cause: AllocationEndCause.EXITED, exits: [], message: "" };
    const position = await gateway.append("allocation-23.1#1", {
      type: "AllocationEnded",
      data: end,
    });
    expect(idsOf(await listed(`?pool=gpus&minPosition=${position}`))).toEqual([]);
    // An experiment with changed settings leaves the list too, although the settings are kept for its later runs.
    const later = await gateway.append("allocation-22.1#1", { type: "AllocationEnded", data: end });
    expect(idsOf(await listed(`?minPosition=${later}`))).toEqual(["21 behind 0", "24 behind 0"]);
  });

  test.each([
    [
      "filter=label%3Da",
      /^filter, column 1: jobs have no field "label"; the fields are .*, queue$/,
    ],
    [
      "filter=jobs_ahead%3D1",
      /^filter, column 1: jobs have no field "jobs_ahead"; the fields are job, pool,/,
    ],
    [
      "filter=priority%3Dhigh",
      /^filter, column 1: priority is compared with "high", which is not a number$/,
    ],
    ["orderBy=rank", /^order_by: jobs have no field "rank"/],
    ["fields=rank", /^items have no field "rank"/],
    ["pageToken=abc", /^invalid page_token$/],
  ])("with %s is refused in a sentence", async (query, sentence) => {
    const { status, body } = await gateway.call("GET", `/api/v1/jobs?${query}`);
    expect(status).toBe(400);
    expect(body["detail"]).toMatch(sentence);
  });
});

test("a job is explained with the reason of each waiting run", async () => {
  await using _scheduler = await scheduler();
  expect(await gateway.call("GET", "/api/v1/jobs/12/explanation")).toMatchObject({
    status: 200,
    body: { job, runs: [run] },
  });
});

test("a task is a job: it is listed, explained and moved by its id", async () => {
  const resources = { pool: "tasks", slots: 1, priority: 42, weight: 1, singleAgent: true };
  const of = { workspace: "research", owner: "ada", preemptible: false, delayMs: 0 };
  await gateway.append("task-t12", taskCreated(), requested(1, 0));
  await gateway.append("task-t13", taskCreated(), {
    type: "TaskEnded",
    data: { outcome: TaskOutcome.COMPLETED, reason: "", restarts: 0 },
  });
  const position = await gateway.append(
    "allocation-t12#1",
    { type: "AllocationQueued", data: { task: "t12", run: 1, job: "t12", resources, ...of } },
    { type: "WaitExplained", data: { code: WaitCode.QUOTA, detail: "the quota is used" } },
  );
  const list = await gateway.call("GET", `/api/v1/jobs?pool=tasks&minPosition=${position}`);
  expect(list.body["items"]).toMatchObject([{ job: "t12", runsWaiting: 1, owner: "ada" }]);
  const found = await gateway.call("GET", `/api/v1/jobs?filter=${encodeURIComponent("job = t12")}`);
  expect(found.body["items"]).toHaveLength(1);
  const explained = (task: string) => gateway.call("GET", `/api/v1/jobs/${task}/explanation`);
  expect((await explained("t12")).body).toMatchObject({
    old: true,
    runs: [{ run: "t12#1", reason: "quota", detail: "the quota is used" }],
  });
  const asked: object[] = [];
  await using _scheduler = await scheduler(asked);
  const move = { body: { anchor: "15", ahead: true } };
  expect((await gateway.call("POST", "/api/v1/jobs/t12/move", move)).status).toBe(200);
  expect(asked).toEqual([{ job: "t12", anchor: "15", ahead: true }]);
  const ended = await gateway.call("PATCH", "/api/v1/jobs/t13", { body: { priority: 1 } });
  expect(ended.body["detail"]).toBe("task t13 has ended: it is COMPLETED");
});

test("the explanation of an experiment without runs in the queue is an error with its state", async () => {
  await using _scheduler = await scheduler();
  const asked = async (experiment: string) => {
    const { status, body } = await gateway.call("GET", `/api/v1/jobs/${experiment}/explanation`);
    return [status, body["detail"]];
  };
  expect(await asked("13")).toEqual([
    404,
    "experiment 13 is paused, so none of its runs is in the queue",
  ]);
  expect(await asked("14")).toEqual([404, "experiment 14 has ended: it is COMPLETED"]);
  expect(await asked("99")).toEqual([404, "there is no experiment 99"]);
  expect(await asked("x")).toEqual([404, "there is no experiment x"]);
});

test("the explanation of a job shows the last recorded reasons as old while the scheduler is unavailable", async () => {
  await gateway.append(
    "trial-12.1",
    { ...trialCreated(1), data: { ...trialCreated(1).data, experiment: "12" } },
    requested(1, 0),
  );
  const quota = {
    code: WaitCode.QUOTA,
    detail: "its workspace holds all slots",
    limit: "research",
  };
  const asked = async () => gateway.call("GET", "/api/v1/jobs/12/explanation");
  expect((await asked()).status).toBe(503);
  const position = await gateway.append("allocation-12.1#1", {
    type: "WaitExplained",
    data: quota,
  });
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
  const { status, body } = await asked();
  expect({ status, body }).toMatchObject({
    status: 200,
    body: {
      old: true,
      runs: [{ run: "12.1#1", reason: "quota", detail: quota.detail, limit: "research" }],
    },
  });
  expect(body["job"]).toBeUndefined();
  await using _scheduler = await scheduler();
  expect((await asked()).body["old"]).toBeUndefined();
});

test("an update of a job sends only the changed settings, and 0 removes the limit of slots", async () => {
  const asked: object[] = [];
  await using _scheduler = await scheduler(asked);
  const update = (body: object) => gateway.call("PATCH", "/api/v1/jobs/12", { body });
  expect(await update({ priority: 10 })).toMatchObject({ status: 200, body: { position: "12" } });
  expect((await update({ weight: 2.5, maxSlots: 0 })).status).toBe(200);
  expect(asked).toEqual([
    { job: "12", priority: 10 },
    { job: "12", weight: 2.5, maxSlots: 0 },
  ]);
  expect(await update({})).toMatchObject({
    status: 400,
    body: { detail: "give a priority, a weight or max_slots" },
  });
  const ended = await gateway.call("PATCH", "/api/v1/jobs/14", { body: { priority: 1 } });
  expect(ended).toMatchObject({
    status: 409,
    body: { code: "experiment_ended", detail: "experiment 14 has ended: it is COMPLETED" },
  });
});

test("a job is moved relative to another one", async () => {
  const asked: object[] = [];
  await using _scheduler = await scheduler(asked);
  const move = (body: object) => gateway.call("POST", "/api/v1/jobs/12/move", { body });
  expect((await move({ anchor: "15", ahead: true })).status).toBe(200);
  expect(await move({ anchor: "13" })).toMatchObject({
    status: 409,
    body: { detail: "experiment 13 is paused, so none of its runs is in the queue" },
  });
  expect(await move({ anchor: "12" })).toMatchObject({ status: 400 });
  expect(asked).toEqual([
    { job: "12", anchor: "15", ahead: true },
    { job: "12", anchor: "13", ahead: false },
  ]);
});
