/** Tests of experiments that start from a checkpoint, and of checkpoints in the API. */
import { randomUUID } from "node:crypto";
import type { AnyEvent } from "@trainyard/contracts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created, requested, trialCreated } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
const [earlier, latest, gone] = [randomUUID(), randomUUID(), randomUUID()];
const uploaded = randomUUID();
const saved = randomUUID();

const declared = (step: number): AnyEvent => ({
  type: "CheckpointDeclared",
  data: { trial: "1.1", run: 1, step, format: "" },
});
const completed = (step: number): AnyEvent => ({
  type: "CheckpointCompleted",
  data: { manifestDigest: "d", files: 1, bytes: 1, trial: "1.1", run: 1, step },
});
const damaged: AnyEvent = {
  type: "CheckpointDamaged",
  data: {
    problems: [{ path: "w", kind: "missing", detail: "is missing" }],
    count: 2,
    by: "ada",
  },
};

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.append("experiment-1", created({ contextDigest: "c0de" }));
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.append(`checkpoint-${earlier}`, declared(1), completed(1));
  await gateway.append(`checkpoint-${latest}`, declared(2), completed(2));
  const of = { trial: "", run: 0, step: 0 };
  const folder: AnyEvent = {
    type: "CheckpointDeclared",
    data: { ...of, format: "", uploadedBy: "ada" },
  };
  const whole: AnyEvent = {
    type: "CheckpointCompleted",
    data: { ...of, manifestDigest: "d", files: 1, bytes: 1 },
  };
  await gateway.append(`checkpoint-${uploaded}`, folder, whole);
  const ofTask = { trial: "", task: "t1", run: 1, step: 1_000_001 };
  await gateway.append(
    `checkpoint-${saved}`,
    { type: "CheckpointDeclared", data: { ...ofTask, format: "trainyard-work/1" } },
    { type: "CheckpointCompleted", data: { ...ofTask, manifestDigest: "d", files: 1, bytes: 1 } },
  );
  const position = await gateway.append(`checkpoint-${gone}`, declared(3), completed(3), damaged);
  await gateway.call("GET", `/api/v1/trials/1.1?minPosition=${position}`);
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

const submit = (source: object) => {
  const searcher = { name: "single", metric: "loss", ...source };
  const config = `{name: x, entrypoint: a b, searcher: ${JSON.stringify(searcher)}, resources: {slots_per_trial: 0}}`;
  return gateway.call("POST", "/api/v1/experiments", { body: { config, validateOnly: true } });
};

describe("an experiment that starts from a checkpoint", () => {
  test.each([
    ["a checkpoint", { source_checkpoint_uuid: earlier }],
    ["the latest of a trial", { source_trial_id: "1.1" }],
    ["a folder that a person uploaded", { source_checkpoint_uuid: uploaded }],
    [
      "a checkpoint of the trial that it names",
      { source_trial_id: "1.1", source_checkpoint_uuid: latest },
    ],
  ])("by naming %s is accepted, without a warning", async (_, source) => {
    const { status, body } = await submit(source);
    expect([status, JSON.stringify(body)]).toEqual([200, expect.not.stringContaining("source_")]);
  });

  test("of another user in a directory gets a warning, and not from an object store", async () => {
    const [inFolder, inStore] = [randomUUID(), randomUUID()];
    const folder = { type: "directory", container_path: "/srv/checkpoints" };
    const store = { type: "s3", bucket: "models" };
    for (const [number, storage, checkpoint] of [
      [21, folder, inFolder],
      [22, store, inStore],
    ] as const) {
      const trial = `${number}.1`;
      const config = { ...created({}).data.config, checkpoint_storage: storage };
      await gateway.append(`experiment-${number}`, created({ config }));
      await gateway.append(`trial-${trial}`, trialCreated(1), requested(1, 0));
      const starts = [{ agent: "rack", nodeRank: 0, pid: 7, userId: 1_900_000_000 + number }];
      await gateway.append(`allocation-${trial}#1`, {
        type: "AllocationStarted",
        data: { starts },
      });
      const of = { trial, run: 1, step: 1 };
      const position = await gateway.append(
        `checkpoint-${checkpoint}`,
        { type: "CheckpointDeclared", data: { ...of, format: "" } },
        {
          type: "CheckpointCompleted",
          data: { ...of, manifestDigest: "d", files: 1, bytes: 1 },
        },
      );
      await gateway.call("GET", `/api/v1/trials/${trial}?minPosition=${position}`);
    }
    const { body } = await submit({ source_checkpoint_uuid: inFolder });
    expect(body["warnings"]).toEqual([
      expect.stringContaining(
        `${inFolder}, whose files belong to the user 1900000021 of experiment 21: runs of this experiment have another user`,
      ),
    ]);
    const { status, body: other } = await submit({ source_checkpoint_uuid: inStore });
    expect([status, other["warnings"] ?? []]).toEqual([200, []]);
  });

  test.each<[string, object, string]>([
    ["an unknown checkpoint", { source_checkpoint_uuid: randomUUID() }, "no such checkpoint"],
    ["an invalid UUID", { source_checkpoint_uuid: "../x" }, "no such checkpoint"],
    ["a damaged checkpoint", { source_checkpoint_uuid: gone }, "it is DAMAGED"],
    ["a save of a task", { source_checkpoint_uuid: saved }, "is of the folder of task t1"],
    ["an unknown trial", { source_trial_id: "9.9" }, "no such trial"],
    ["a number, as Determined's", { source_trial_id: 4 }, "write the trial's id in quotes"],
    [
      "a checkpoint of another trial than it names",
      { source_trial_id: "2.1", source_checkpoint_uuid: latest },
      "is of trial 1.1",
    ],
    [
      "a folder as a trial's checkpoint",
      { source_trial_id: "1.1", source_checkpoint_uuid: uploaded },
      "is of a folder that ada uploaded",
    ],
  ])("by naming %s is refused with the key", async (_, source, sentence) => {
    const { status, body } = await submit(source);
    expect([status, body["code"]]).toEqual([400, "invalid_config"]);
    expect(body["detail"]).toContain(sentence);
    expect(body["detail"]).toContain("searcher.source_");
  });
});

test("a damaged checkpoint is shown as DAMAGED, with the first bad file and the code of its training", async () => {
  const { body } = await gateway.call("GET", `/api/v1/checkpoints/${gone}`);
  expect(body).toMatchObject({
    state: "DAMAGED",
    reason: 'the file "w" is missing, and 1 more problems',
    codeDigest: "c0de",
  });
});

test("pins are shown with person and reason until they are removed", async () => {
  const pin = (reason: string): AnyEvent => ({
    type: "CheckpointPinned",
    data: { by: "ada", holder: "", reason },
  });
  await gateway.append(`checkpoint-${gone}`, pin("first"));
  const second = await gateway.append(`checkpoint-${gone}`, pin("second"));
  const listed = async (position: number) =>
    (await gateway.call("GET", `/api/v1/trials/1.1/checkpoints?minPosition=${position}`)).body;
  const text = JSON.stringify(await listed(second));
  expect(text).toContain('"reason":"second"');
  expect(text).not.toContain('"reason":"first"');
  const data = { by: "bob", holder: "ada" };
  const last = await gateway.append(`checkpoint-${gone}`, { type: "CheckpointUnpinned", data });
  expect(JSON.stringify(await listed(last))).not.toContain("second");
});

describe("the beginning of a checkpoint's id", () => {
  const [one, twin, other] = [
    "abcdef01-0000-4000-8000-000000000001",
    "abcdef01-1000-4000-8000-000000000002",
    "abcdef02-0000-4000-8000-000000000003",
  ];
  const named: unknown[] = [];
  let services: AsyncDisposable[] = [];

  beforeAll(async () => {
    for (const id of [one, twin]) await gateway.append(`checkpoint-${id}`, declared(4), damaged);
    const position = await gateway.append(`checkpoint-${other}`, declared(5), completed(5));
    await gateway.call("GET", `/api/v1/trials/1.1?minPosition=${position}`);
    const asked = (name: string) => async (request: { readonly checkpoint: string }) => {
      named.push([name, request.checkpoint]);
      return { position: 0, stream: "", number: 1, graceEndMs: 0 };
    };
    services = [
      await gateway.serving("registry", {
        PinCheckpoint: asked("pin"),
        UnpinCheckpoint: asked("unpin"),
        PlanCheckpointDownload: async ({ checkpoint }) => {
          named.push(["plan", checkpoint]);
          return { checkpoint, path: "/c", store: "", manifest: [] };
        },
      }),
      await gateway.serving("checkpoint-gc", { DeleteCheckpoint: asked("delete") }),
    ];
  });
  afterAll(async () => {
    for (const service of services) await service[Symbol.asyncDispose]();
  });

  const call = (verb: string, text: string) => {
    const post = verb === "" ? {} : { body: { reason: "why" } };
    const path = `/api/v1/checkpoints/${text}${verb === "" ? "" : `/${verb}`}`;
    return gateway.call(verb === "" ? "GET" : "POST", path, post);
  };

  test("names the checkpoint from eight digits on, in every call of people and in a configuration", async () => {
    for (const text of ["abcdef02", "abcdef02-0000-4"]) {
      expect(await call("", text)).toMatchObject({ status: 200, body: { uuid: other } });
    }
    for (const verb of ["pin", "unpin", "delete"])
      expect((await call(verb, "abcdef02")).status).toBe(200);
    expect(named).toEqual([
      ["plan", other],
      ["plan", other],
      ["pin", other],
      ["unpin", other],
      ["delete", other],
    ]);
    expect((await submit({ source_checkpoint_uuid: "abcdef02" })).status).toBe(200);
    const { body } = await submit({ source_checkpoint_uuid: "abcdef01-0" });
    expect(body["detail"]).toContain(`is ${one}, which cannot be started from`);
  });

  test("is refused in one sentence if several checkpoints have it", async () => {
    const detail = "the ids of several checkpoints begin with abcdef01: give more of the id";
    const refusal = { status: 400, body: { code: "ambiguous_checkpoint", detail } };
    for (const verb of ["", "pin", "delete"]) {
      expect(await call(verb, "abcdef01")).toMatchObject(refusal);
    }
    expect(await submit({ source_checkpoint_uuid: "abcdef01" })).toMatchObject(refusal);
    expect(await call("", "abcdef01-1")).toMatchObject({ status: 200, body: { uuid: twin } });
  });

  test("is not found with less than eight digits, or if no checkpoint has it", async () => {
    for (const text of ["abcdef0", "abcdef03", "abcdef02-0000-5", "ABCDEF02", "abcdef0%25"]) {
      expect((await call("", text)).status).toBe(404);
    }
  });
});
