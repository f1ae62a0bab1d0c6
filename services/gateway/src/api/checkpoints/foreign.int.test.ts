import { randomUUID } from "node:crypto";
import type { AnyEvent } from "@trainyard/contracts";
import { TaskOutcome, TrialOutcome } from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created, requested, taskCreated, trialCreated } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

const uuids = (length: number) => Array.from({ length }, () => randomUUID());
const [own = "", ofSibling = "", ofOther = "", inConfig = ""] = uuids(4);
const [inHyperparameters = "", start = "", uploaded = "", saved = "", ofOtherTask = ""] = uuids(5);

let gateway: TestGateway;
let registry: AsyncDisposable;

const declared = (trial: string, task?: string): AnyEvent => ({
  type: "CheckpointDeclared",
  data: { trial, run: 1, step: 1, format: "", ...(task !== undefined && { task }) },
});
/** The makers that the calls of runs named to the registry. */
let makers: readonly object[] = [];
let formats: readonly string[] = [];
type Noted = { readonly trial: string; readonly run: number; readonly task?: string | undefined };
const noted = ({ trial, run, task }: Noted): void => {
  makers = [...makers, { trial, run, task }];
};

beforeAll(async () => {
  gateway = await startTestGateway();
  registry = await gateway.serving("registry", {
    PlanCheckpointDownload: async ({ checkpoint }) => ({
      ...{ checkpoint, path: "", store: "", manifest: [] },
    }),
    PlanFiles: async () => ({ files: [] }),
    DeclareCheckpoint: async (request) => {
      noted(request);
      formats = [...formats, request.format];
      return { checkpoint: request.checkpoint, path: "/c", store: "", position: 1 };
    },
    PlanUpload: async (request) => {
      noted(request);
      return { files: [] };
    },
    ReadAhead: async (request) => {
      noted(request);
      return { files: 1 };
    },
    CompleteCheckpoint: async (request) => {
      noted(request);
      return { position: 1, stream: "" };
    },
    FailCheckpoint: async (request) => {
      noted(request);
      return { position: 1, stream: "" };
    },
    ReportDamage: async () => ({ done: true, damaged: true }),
  });
  const config = { entrypoint: `python3 train.py --from ${inConfig}` };
  await gateway.append("experiment-1", created({ config }));
  const trial = trialCreated(1);
  await gateway.append(
    "trial-1.1",
    { ...trial, data: { ...trial.data, hyperparameters: { teacher: inHyperparameters } } },
    { ...requested(1, 0), data: { ...requested(1, 0).data, fromCheckpoint: start } },
  );
  const trials = [
    [own, "1.1"],
    [ofSibling, "1.2"],
    [uploaded, ""],
  ] as const;
  for (const [uuid, maker] of trials) await gateway.append(`checkpoint-${uuid}`, declared(maker));
  await gateway.append("task-t1", taskCreated(), requested(1, 0));
  await gateway.append(`checkpoint-${saved}`, declared("", "t1"));
  await gateway.append(`checkpoint-${ofOtherTask}`, declared("", "t2"));
  for (const uuid of [ofOther, inConfig, inHyperparameters, start]) {
    await gateway.append(`checkpoint-${uuid}`, declared("2.1"));
  }
});

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});

/** Returns the status of a download's plan, and of the plan of its files. */
async function planned(uuid: string, token?: string): Promise<readonly unknown[]> {
  const options = { token: token ?? (await gateway.runToken("1.1#1")) };
  const plan = await gateway.call("GET", `/api/v1/checkpoints/${uuid}/plan`, options);
  const body = { paths: ["weights"] };
  const path = `/api/v1/checkpoints/${uuid}/files`;
  const files = await gateway.call("POST", path, { ...options, body });
  return [plan.status, files.status, plan.body["code"]];
}

/** Returns the status and the code of the answer to run 1.1#1's report that a checkpoint is damaged. */
async function reported(uuid: string): Promise<readonly unknown[]> {
  const token = await gateway.runToken("1.1#1");
  const path = `/api/v1/runs/1.1%231/checkpoints/${uuid}/damaged`;
  const { status, body } = await gateway.call("POST", path, { token, body: { detail: "changed" } });
  return [status, body["code"]];
}

test("a run reads checkpoints of its experiment and those that its configuration, its hyperparameters or its start name, and no others", async () => {
  for (const uuid of [own, ofSibling, inConfig, inHyperparameters, start]) {
    expect(await planned(uuid)).toEqual([200, 200, undefined]);
  }
  await gateway.append("task-t1", taskCreated(), requested(1, 0));
  await gateway.append(`checkpoint-${saved}`, declared("", "t1"));
  await gateway.append(`checkpoint-${ofOtherTask}`, declared("", "t2"));
  for (const uuid of [ofOther, uploaded]) {
    expect(await planned(uuid)).toEqual([403, 403, "not_your_checkpoint"]);
    expect(await planned(uuid, gateway.token)).toEqual([200, 200, undefined]);
  }
});

test("a run reports the damage of checkpoints that it may read, and of no others", async () => {
  for (const uuid of [own, ofSibling, start])
    expect(await reported(uuid)).toEqual([200, undefined]);
  await gateway.append("task-t1", taskCreated(), requested(1, 0));
  await gateway.append(`checkpoint-${saved}`, declared("", "t1"));
  await gateway.append(`checkpoint-${ofOtherTask}`, declared("", "t2"));
  for (const uuid of [ofOther, uploaded]) {
    expect(await reported(uuid)).toEqual([403, "not_your_checkpoint"]);
  }
});

test("after the end of its trial, a run's token learns what is stored of its own checkpoints, and reads none", async () => {
  const outcome = TrialOutcome.COMPLETED;
  await gateway.append("trial-1.1", {
    type: "TrialEnded",
    data: { outcome, reason: "", restarts: 0 },
  });
  await expect.poll(() => planned(ofSibling)).toEqual([403, 403, "trial_ended"]);
  expect(await planned(start)).toEqual([403, 403, "trial_ended"]);
  expect(await planned(own)).toEqual([200, 403, undefined]);
  // The trial is continued.
  await gateway.append("trial-1.1", requested(2, 0));
  await expect.poll(() => planned(ofSibling)).toEqual([200, 200, undefined]);
});

describe("the run of a task", () => {
  const store = async (call: string, body: object, run = "t1#1") => {
    const path = `/api/v1/runs/${encodeURIComponent(run)}/checkpoints${call}`;
    const token = await gateway.runToken("t1#1");
    const { status, body: answer } = await gateway.call("POST", path, { token, body });
    return [status, answer["code"]];
  };
  const calls = [
    ["", { checkpoint: saved, stepsCompleted: 1_000_001 }],
    [`/${saved}/ahead`, { paths: ["small.tar"] }],
    [`/${saved}/upload`, { files: [] }],
    [`/${saved}/complete`, { manifest: [] }],
    [`/${saved}/fail`, { reason: "the disk is full" }],
  ] as const;

  test("stores saves of its task, and of no other", async () => {
    makers = [];
    formats = [];
    for (const [call, body] of calls) expect(await store(call, body)).toEqual([200, undefined]);
    expect(formats).toEqual(["trainyard-work/1"]);
    expect(makers).toEqual(calls.map(() => ({ trial: "", run: 1, task: "t1" })));
    for (const run of ["t2#1", "t1#2", "1.1#1"]) {
      expect(await store(...calls[0], run)).toEqual([403, "not_your_run"]);
    }
    const asUser = { token: await gateway.runToken("t1#1"), body: { checkpoint: randomUUID() } };
    expect(await gateway.call("POST", "/api/v1/checkpoints", asUser)).toMatchObject({
      status: 403,
      body: { code: "not_for_runs" },
    });
  });

  test("reads the saves of its task, and no other checkpoint", async () => {
    const token = await gateway.runToken("t1#1");
    expect(await planned(saved, token)).toEqual([200, 200, undefined]);
    for (const uuid of [ofOtherTask, own, ofOther, uploaded]) {
      expect(await planned(uuid, token)).toEqual([403, 403, "not_your_checkpoint"]);
    }
    expect(await planned(saved)).toEqual([403, 403, "not_your_checkpoint"]);
  });

  test("has its saves listed, shown and explained for people, apart from those of experiments", async () => {
    const page = await gateway.call("GET", "/api/v1/tasks/t1/checkpoints");
    const { items } = page.body as { readonly items: readonly object[] };
    expect(items).toMatchObject([{ uuid: saved, task: "t1", trial: "", experiment: "" }]);
    const shown = await gateway.call("GET", `/api/v1/checkpoints/${saved}`);
    expect(shown.body).toMatchObject({ task: "t1", run: 1, state: "ACTIVE" });
    const ofExperiment = await gateway.call("GET", "/api/v1/experiments/1/checkpoints");
    expect(JSON.stringify(ofExperiment.body)).not.toContain(saved);
    const unknown = await gateway.call("GET", "/api/v1/tasks/t900/checkpoints");
    expect([unknown.status, unknown.body["code"]]).toEqual([404, "task_not_found"]);
  });

  test("reads other checkpoints and uploads folders for its owner, and reads no save of another task", async () => {
    const tokenId = gateway.token.split("_")[1] ?? "";
    await gateway.append("task-t3", taskCreated({ kind: "notebook", tokenId }), requested(1, 0));
    const token = await gateway.runToken("t3#1");
    for (const uuid of [own, ofOther, uploaded]) {
      expect(await planned(uuid, token)).toEqual([200, 200, undefined]);
    }
    for (const uuid of [saved, ofOtherTask]) {
      expect(await planned(uuid, token)).toEqual([403, 403, "not_your_checkpoint"]);
      for (const [method, call] of [
        ["GET", "/archive"],
        ["POST", "/pin"],
        ["POST", "/delete"],
      ] as const) {
        const path = `/api/v1/checkpoints/${uuid}${call}`;
        const answer = await gateway.call(method, path, {
          token,
          ...(method === "POST" && { body: {} }),
        });
        expect([call, answer.body["code"]]).toEqual([call, "not_your_checkpoint"]);
      }
    }
    makers = [];
    const body = { checkpoint: randomUUID() };
    const declaring = await gateway.call("POST", "/api/v1/checkpoints", { token, body });
    expect([declaring.status, makers]).toEqual([200, [{ trial: "", run: 0 }]]);
  });

  test("delivers what it left after the end of its task, and reads no file until the task is resumed", async () => {
    const token = await gateway.runToken("t1#1");
    const data = { outcome: TaskOutcome.PAUSED, reason: "", restarts: 0 };
    await gateway.append("task-t1", { type: "TaskEnded", data });
    await expect.poll(() => planned(saved, token)).toEqual([200, 403, undefined]);
    const [declare, ahead, ...others] = calls;
    expect(await store(...ahead)).toEqual([403, "task_ended"]);
    for (const [call, body] of [declare, ...others]) {
      expect(await store(call, body)).toEqual([200, undefined]);
    }
    await gateway.append("task-t1", { type: "TaskResumed", data: {} }, requested(2, 0));
    await expect.poll(() => planned(saved, token)).toEqual([200, 200, undefined]);
  });
});

test("every call of a run that the log has lost is answered 410, and 503 while the log ends before its grant", async () => {
  const granted = await gateway.append("trial-1.3", trialCreated(3), requested(1, 0));
  const token = await gateway.runToken("1.3#1", granted);
  const path = "/api/v1/runs/1.3%231/signals";
  expect(await gateway.call("GET", path, { token })).toMatchObject({ status: 200 });
  await gateway.sql("alter table log.events disable trigger user");
  await gateway.sql("update log.events set id = $1 where position = $2", [newEventId(), granted]);
  await expect
    .poll(() => gateway.call("GET", path, { token }), { timeout: 20_000 })
    .toMatchObject({ status: 410, body: { code: "history_lost" } });
  expect(await planned(own, token)).toEqual([410, 410, "history_lost"]);
  await gateway.sql("delete from log.events where position = $1", [granted]);
  expect(await gateway.call("GET", path, { token })).toMatchObject({
    status: 503,
    body: { code: "unavailable" },
  });
});
