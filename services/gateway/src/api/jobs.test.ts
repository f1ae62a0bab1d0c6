import {
  ExplainJobSchema,
  GetJobsSchema,
  JobExplanationSchema,
  JobsSchema,
  MoveJobSchema,
  UpdateJobSchema,
} from "@trainyard/contracts/commands";
import { ExperimentOutcome, WaitCode } from "@trainyard/contracts/events";
import { reject } from "@trainyard/kernel";
import { AcceptedSchema, command } from "@trainyard/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created, requested, trialCreated } from "../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

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
  startsWhen: "a run of research ends",
};

/** Plays the scheduler, which has runs of experiment 12 alone. */
async function scheduler(asked: object[] = []): Promise<AsyncDisposable> {
  const absent = reject("not_found", "no run of the experiment waits or has a place");
  const ended = reject("experiment_ended", "experiment 14: the experiment has ended");
  const notWaiting = reject("not_waiting", "experiment 12: experiment 13 has no run that waits");
  return gateway.serving("scheduler", {
    GetJobs: command(GetJobsSchema, JobsSchema, async ({ pool }) => ({
      jobs: pool === "" || pool === job.pool ? [job] : [],
    })),
    ExplainJob: command(ExplainJobSchema, JobExplanationSchema, async (request) =>
      request.job === "12" ? { job, runs: [run] } : absent,
    ),
    UpdateJob: command(UpdateJobSchema, AcceptedSchema, async (request) => {
      asked.push(request);
      return request.job === "12" ? { position: 12, stream: "pool-default" } : ended;
    }),
    MoveJob: command(MoveJobSchema, AcceptedSchema, async (request) => {
      asked.push(request);
      return request.anchor === "13" ? notWaiting : { position: 13, stream: "pool-default" };
    }),
  });
}

test("jobs are listed in queue order, of one pool or of all", async () => {
  await using _scheduler = await scheduler();
  expect((await gateway.call("GET", "/api/v1/jobs")).body).toEqual({ items: [job] });
  expect((await gateway.call("GET", "/api/v1/jobs?pool=gpus")).body).toEqual({ items: [] });
});

test("a job is explained with the reason of each waiting run", async () => {
  await using _scheduler = await scheduler();
  expect(await gateway.call("GET", "/api/v1/jobs/12/explanation")).toMatchObject({
    status: 200,
    body: { job, runs: [run] },
  });
});

test("an experiment without runs in the queue is answered with its state", async () => {
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

test("without the scheduler the reasons that it recorded last are shown as old ones", async () => {
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

test("an update names only what it changes, and 0 removes the limit of slots", async () => {
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
