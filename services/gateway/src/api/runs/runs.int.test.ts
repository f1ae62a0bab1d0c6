import type { AnyEvent } from "@trainyard/contracts";
import { AllocationEndCause, StopMode, StopWhy, TaskOutcome } from "@trainyard/contracts/events";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  created,
  requested,
  searchStarted,
  taskCreated,
  trialCreated,
} from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const granted: AnyEvent = {
  type: "AllocationGranted",
  data: {
    placements: [{ agent: "rack", nodeRank: 0, slots: ["0"], address: "" }],
    masterAddress: "",
    masterPort: 1,
    tokenKey: "1",
    folded: 0,
  },
};

const stop = (why: StopWhy): AnyEvent => ({
  type: "AllocationStopRequested",
  data: { mode: StopMode.GRACEFUL, why, graceMs: 60_000 },
});

/** Asks for the signals of a trial's first run, with the run's token. */
async function signals(trial: string, grant: number, waitMs: number): Promise<object> {
  const id = encodeURIComponent(`${trial}#1`);
  const token = await gateway.runToken(`${trial}#1`, grant);
  const path = `/api/v1/runs/${id}/signals?waitMs=${waitMs}`;
  return (await gateway.call("GET", path, { token })).body;
}

async function run(trial: string): Promise<number> {
  await gateway.append(`trial-${trial}`, trialCreated(1), requested(1, 0));
  return gateway.append(`allocation-${trial}#1`, granted);
}

test.each([
  ["1.1", StopWhy.DRAIN, "drain"],
  ["1.2", StopWhy.PREEMPTED, "preempted"],
  ["1.3", StopWhy.TIME_LIMIT, "time_limit"],
])("run %s receives the stop that the scheduler requests (%i)", async (trial, why, name) => {
  const grant = await run(trial);
  expect(await signals(trial, grant, 0)).toEqual({ stop: false, why: "" });
  await gateway.append(`allocation-${trial}#1`, stop(why));
  expect(await signals(trial, grant, 20_000)).toEqual({ stop: true, why: name });
});

test("a task's run receives the stops of its task and of the scheduler, also after its end", async () => {
  await gateway.append("task-t1", taskCreated(), requested(1, 0));
  const grant = await gateway.append("allocation-t1#1", granted);
  expect(await signals("t1", grant, 0)).toEqual({ stop: false, why: "" });
  const waiting = signals("t1", grant, 20_000);
  await gateway.append("allocation-t1#1", stop(StopWhy.PREEMPTED));
  expect(await waiting).toEqual({ stop: true, why: "preempted" });
  const data = { run: 1, mode: StopMode.KILL, why: StopWhy.KILL, graceMs: 0 };
  const outcome = { outcome: TaskOutcome.KILLED, reason: "", restarts: 0 };
  const ended = await gateway.append(
    "task-t1",
    { type: "RunStopRequested", data },
    { type: "TaskEnded", data: outcome },
  );
  expect(await signals("t1", ended, 0)).toEqual({ stop: true, why: "kill" });
});

test("a task's run makes no other call without its owner's rights", async () => {
  const at = await gateway.append("allocation-t9#1", granted);
  const token = await gateway.runToken("t9#1", at);
  const body = { python: "3", packages: {} };
  const calls = [
    ["POST", "/api/v1/runs/t9%231/environment", body],
    ["GET", "/api/v1/checkpoints/aaaaaaaa-0000-4000-8000-000000000001"],
    ["GET", "/api/v1/experiments"],
    ["GET", "/api/v1/tasks/t9"],
    ["GET", "/api/v1/runs/t8%231/signals"],
  ] as const;
  for (const [method, path, sent] of calls) {
    const answer = await gateway.call(method, path, { token, ...(sent && { body: sent }) });
    expect([path, answer.status]).toEqual([path, 403]);
  }
  expect((await gateway.call("POST", calls[0][1], { token, body })).body["detail"]).toBe(
    "t9 is a task: its run may not make this call",
  );
});

test("the run of a notebook calls for its owner, as its task, until its run has ended", async () => {
  const tokenId = gateway.token.split("_")[1] ?? "";
  const task = taskCreated({ kind: "notebook", owner: "eva", tokenId });
  await gateway.append("task-t7", task, requested(1, 0));
  const token = await gateway.runToken("t7#1", await gateway.append("allocation-t7#1", granted));
  const listed = () => gateway.call("GET", "/api/v1/experiments", { token });
  expect(await listed()).toMatchObject({ status: 200 });
  const path = "/api/v1/workspaces";
  const body = { name: "from-the-notebook" };
  const made = await gateway.call("POST", path, { token, body });
  expect(made.body["workspace"]).toMatchObject({ createdBy: "task:t7" });
  const [event] = await gateway.log.readAll(Number(made.body["position"]) - 1, 1);
  expect(event?.meta.authid).toBe("task:t7");
  const headers = { authorization: `Bearer ${token}` };
  const follow = `${gateway.url}/api/v1/experiments/1/search/events`;
  await gateway.append("experiment-1", created({}));
  const at = await gateway.append("search-1", searchStarted());
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${at}`);
  const stream = await fetch(follow, { headers });
  expect(stream.status).toBe(200);
  const end = { cause: AllocationEndCause.EXITED, exits: [], message: "" };
  await gateway.append("allocation-t7#1", { type: "AllocationEnded", data: end });
  const sinceMs = performance.now();
  await vi.waitFor(async () => {
    expect(await listed()).toMatchObject({ status: 403, body: { code: "run_ended" } });
  }, 10_000);
  await stream.text().catch(() => {});
  expect(performance.now() - sinceMs).toBeLessThan(2_000);
});

test("a run that waits for signals receives the scheduler's stop when it comes", async () => {
  const grant = await run("1.4");
  const waiting = signals("1.4", grant, 20_000);
  await gateway.append("allocation-1.4#1", stop(StopWhy.DRAIN));
  expect(await waiting).toEqual({ stop: true, why: "drain" });
});

test("a run with two stops receives the one of its trial", async () => {
  await run("1.5");
  await gateway.append("allocation-1.5#1", stop(StopWhy.DRAIN));
  const canceled = await gateway.append("trial-1.5", {
    type: "RunStopRequested",
    data: { run: 1, mode: StopMode.GRACEFUL, why: StopWhy.CANCEL, graceMs: 0 },
  });
  // The gateway reads up to this position before it answers.
  expect(await signals("1.5", canceled, 0)).toEqual({ stop: true, why: "cancel" });
});

test("a run whose stop is withdrawn receives none, or the one that the scheduler requested", async () => {
  await run("1.6");
  const pause = { run: 1, mode: StopMode.GRACEFUL, why: StopWhy.PAUSE, graceMs: 0 };
  await gateway.append("trial-1.6", { type: "RunStopRequested", data: pause });
  await gateway.append("allocation-1.6#1", stop(StopWhy.TIME_LIMIT), stop(StopWhy.PAUSE));
  await gateway.append("trial-1.6", { type: "RunStopWithdrawn", data: { run: 1 } });
  const withdrawn: AnyEvent = {
    type: "AllocationStopWithdrawn",
    data: { remains: StopWhy.TIME_LIMIT },
  };
  const limited = await gateway.append("allocation-1.6#1", withdrawn);
  expect(await signals("1.6", limited, 0)).toEqual({ stop: true, why: "time_limit" });
  const none = { type: "AllocationStopWithdrawn", data: {} } as const;
  const continued = await gateway.append("allocation-1.6#1", none);
  expect(await signals("1.6", continued, 0)).toEqual({ stop: false, why: "" });
});
