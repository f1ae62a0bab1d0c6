/** Tests of experiments that are deleted, undeleted, and deleted for good. The other services are simulated. */
import { randomUUID } from "node:crypto";
import { ExperimentOutcome } from "@trainyard/contracts/events";
import { reject } from "@trainyard/kernel";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { created, requested, searchStarted, trialCreated } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
const stack = new AsyncDisposableStack();
const checkpoint = randomUUID();
const graceEndMs = 1_790_000_000_000;
const ended = {
  type: "ExperimentEnded",
  data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
} as const;

/** The paths of all calls that read the experiment or its trial. */
const reads = [
  "experiments/1",
  "experiments/1/trials",
  "trials/1.1",
  "experiments/1/search/events?noFollow=true",
  "experiments/1/search/picture",
  "experiments/1/submission",
  "experiments/1/files",
  "experiments/1/checkpoints",
  "trials/1.1/checkpoints",
];

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  stack.use(
    await gateway.serving("experiments", {
      DeleteExperiment: async (request) => {
        const { experiment, reason } = request;
        const stream = `experiment-${experiment}`;
        if (experiment === "3") return reject("experiment_not_ended", "it has not ended");
        const event = {
          type: "ExperimentDeletionRequested",
          data: { graceEndMs, reason },
        } as const;
        return { position: await gateway.append(stream, event), stream };
      },
      UndeleteExperiment: async (request) => {
        const stream = `experiment-${request.experiment}`;
        const event = { type: "ExperimentDeletionUndone", data: {} } as const;
        return { position: await gateway.append(stream, event), stream };
      },
    }),
  );
  const held = [{ checkpoint, trial: "1.1", why: "model iris version 1 pinned it" }];
  stack.use(
    await gateway.serving("checkpoint-gc", {
      PreviewExperimentDeletion: async () => ({ checkpoints: 4, held }),
    }),
  );
  await gateway.append("experiment-1", created({ name: "iris" }));
  await gateway.append("search-1", searchStarted());
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  const [trial, run, step] = ["1.1", 1, 5];
  await gateway.append(
    `checkpoint-${checkpoint}`,
    { type: "CheckpointDeclared", data: { trial, run, step, format: "" } },
    {
      type: "CheckpointCompleted",
      data: { manifestDigest: "d", files: 1, bytes: 1, trial, run, step },
    },
  );
  await gateway.append("experiment-1", ended);
  const parent = { experiment: "1", position: "1" };
  await gateway.append("experiment-2", created({ parent }));
  await reach(await gateway.append("experiment-3", created({})));
});
afterAll(() => stack.disposeAsync());

async function reach(position: number): Promise<void> {
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
}

async function answers(): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const path of reads) {
    const { status, body } = await gateway.call("GET", `/api/v1/${path}`);
    const { position: _position, requestId: _request, ...rest } = body;
    found.push([path, status, status === 200 ? rest : ""]);
  }
  return found;
}

const listed = async (path = "experiments"): Promise<readonly string[]> => {
  const { body } = await gateway.call("GET", `/api/v1/${path}`);
  return ((body["items"] ?? []) as { id: string }[]).map(({ id }) => id);
};
const parentOfFork = async () =>
  (await gateway.call("GET", "/api/v1/experiments/2")).body["parent"];
const post = (path: string, body: object = {}) =>
  gateway.call("POST", `/api/v1/experiments/${path}`, { body });
const statuses = (found: readonly unknown[]) => found.map((one) => (one as unknown[])[1]);

test("a preview of a deletion names the checkpoints that stay, and changes nothing", async () => {
  const answer = await post("1/delete", { dryRun: true });
  expect(answer).toMatchObject({
    status: 200,
    body: { checkpoints: 4, kept: [{ checkpoint, trial: "1.1" }] },
  });
  expect(answer.body["graceEndMs"]).toBeUndefined();
  expect((await gateway.call("GET", "/api/v1/experiments/1")).status).toBe(200);
});

test("a deleted experiment is hidden from every read, and an undo restores each of them", async () => {
  const before = await answers();
  expect(statuses(before)).toEqual(reads.map(() => 200));
  expect(await listed()).toEqual(["3", "2", "1"]);
  const deleted = await post("1/delete", { reason: "a mistake" });
  expect(deleted).toMatchObject({ status: 200, body: { graceEndMs, checkpoints: 4 } });
  expect(statuses(await answers())).toEqual(reads.map(() => 404));
  expect(await listed()).toEqual(["3", "2"]);
  expect(await parentOfFork()).toBe("deleted");
  expect(await post("1/fork")).toMatchObject({ status: 404 });
  const source = {
    config: `entrypoint: x
searcher: {name: single, metric: loss, source_checkpoint_uuid: ${checkpoint}}`,
  };
  const refused = await gateway.call("POST", "/api/v1/experiments", { body: source });
  expect(refused).toMatchObject({ status: 400, body: { code: "invalid_config" } });
  expect(String(refused.body["detail"])).toContain("experiment 1 is deleted");
  const { body } = await gateway.call("GET", "/api/v1/experiments:deleted");
  expect(body["items"]).toMatchObject([
    { id: "1", name: "iris", owner: "local", reason: "a mistake", graceEndMs },
  ]);
  const back = await post("1/undelete");
  expect(back).toMatchObject({ status: 200, body: { experiment: { id: "1", name: "iris" } } });
  expect(await answers()).toEqual(before);
  expect(await listed()).toEqual(["3", "2", "1"]);
  expect(await listed("experiments:deleted")).toEqual([]);
  expect(await parentOfFork()).toBe("1");
});

test("the deletion of an experiment that has not ended is refused with experiment_not_ended", async () => {
  expect(await post("3/delete")).toMatchObject({
    status: 409,
    body: { code: "experiment_not_ended" },
  });
  expect(await post("x/delete")).toMatchObject({ status: 404 });
});

test("an experiment is gone after the grace, also after late events and a rebuild of the read model", async () => {
  const grace = { graceEndMs, reason: "" };
  await gateway.append("experiment-1", { type: "ExperimentDeletionRequested", data: grace });
  await reach(await gateway.append("experiment-1", { type: "ExperimentDeleted", data: {} }));
  expect(statuses(await answers())).toEqual(reads.map(() => 404));
  const rows = async () =>
    (
      await gateway.sql(
        "select kind, id from gateway.documents where id like '1.%' or parent = '1' or (kind, id) = ('experiment', '1')",
      )
    ).rows;
  // The checkpoint that a model version needs stays.
  await expect.poll(rows).toEqual([{ kind: "checkpoint", id: checkpoint }]);
  await gateway.append("trial-1.1", { type: "RunStarted", data: { run: 1, allocation: "1.1#1" } });
  await gateway.append("measurement-1.1", {
    type: "ValidationReported",
    data: { trial: "1.1", run: 1, step: 3, scalars: { loss: 1 }, reportKey: "k", nonNumeric: [] },
  });
  const last = await gateway.append("trial-1.1", {
    type: "TrialCheckpointed",
    data: { checkpoint, run: 1, step: 5 },
  });
  await reach(last);
  expect(statuses(await answers())).toEqual(reads.map(() => 404));
  const rebuilt = await gateway.call("POST", "/api/v1/views/rebuild", {
    body: { service: "gateway", view: "documents" },
  });
  expect(rebuilt.status).toBe(200);
  await vi.waitFor(
    async () => {
      const { body } = await gateway.call("GET", "/api/v1/views");
      const views = body["items"] as { service: string; caughtUp?: boolean; building?: unknown }[];
      expect(views.find(({ service }) => service === "gateway")).toMatchObject({ caughtUp: true });
      expect(await rows()).toEqual([{ kind: "checkpoint", id: checkpoint }]);
    },
    { timeout: 60_000 },
  );
  expect(statuses(await answers())).toEqual(reads.map(() => 404));
  expect(await parentOfFork()).toBe("deleted");
  expect(await listed()).toEqual(["3", "2"]);
});
