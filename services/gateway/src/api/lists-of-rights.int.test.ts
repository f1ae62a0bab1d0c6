/** Lists, batches and answers that name objects of others, for a caller who sees one of two workspaces. */
import { WaitCode } from "@trainyard/contracts/events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { created, requested, taskCreated } from "../testing/example-events.ts";
import { addUser, type TestUser } from "../testing/people.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";
import { watching } from "../testing/watching.ts";

const words = { description: "", notes: "", labels: [] as string[], by: "user:x" };
const delays = { preemptible: true, delayMs: 0 };
const resources = { pool: "default", slots: 2, singleAgent: true, priority: 42, weight: 1 };
const checkpoints = [
  "aaaaaaaa-0000-4000-8000-000000000001",
  "aaaaaaaa-0000-4000-8000-000000000002",
];

let gateway: TestGateway;
let seer: TestUser;
let admin: TestUser;

beforeAll(async () => {
  gateway = await startTestGateway();
  for (const name of ["Seen", "Hidden"]) {
    await gateway.call("POST", "/api/v1/workspaces", { body: { name } });
  }
  for (const [number, workspace, parent] of [
    [1, "Hidden", null],
    [2, "Seen", { experiment: "1", position: "1" }],
    [3, "Seen", null],
  ] as const) {
    const owner = number === 3 ? "user:sam" : "user:x";
    const own = { name: `of ${workspace}`, workspace, owner, ...(parent && { parent }) };
    await gateway.append(`experiment-${number}`, created(own));
    const experiment = String(number);
    const trial = `${number}.1`;
    const run = { ...requested(1, 0).data, experiment, workspace, owner };
    await gateway.append(
      `trial-${trial}`,
      {
        type: "TrialCreated",
        data: {
          ...{ experiment, number: 1, seed: 1, warmStartCheckpoint: "", sourceTrial: "" },
          ...{ origin: "model", evidence: {} },
        },
      },
      { type: "RunRequested", data: run },
    );
    await gateway.append(`allocation-${trial}#1`, {
      type: "AllocationQueued",
      data: { task: trial, run: 1, job: experiment, resources, workspace, owner, ...delays },
    });
  }
  for (const [at, trial] of ["1.1", "2.1"].entries()) {
    const place = { trial, run: 1, step: 1 };
    await gateway.append(
      `checkpoint-${checkpoints[at]}`,
      { type: "CheckpointDeclared", data: { ...place, uploadedBy: "", format: "" } },
      {
        type: "CheckpointPinned",
        data: { holder: `model-version:of-hidden/1`, by: "user:x", reason: "" },
      },
    );
  }
  await gateway.append("task-t1", taskCreated({ workspace: "Hidden" }));
  await gateway.append("model-of-hidden", {
    type: "ModelCreated",
    data: { ...words, workspace: "Hidden" },
  });
  const position = await gateway.append("model-of-seen", {
    type: "ModelCreated",
    data: { ...words, workspace: "Seen" },
  });
  admin = await addUser(gateway, "ada", { role: "cluster-admin" });
  seer = await addUser(gateway, "sam", { role: "editor", workspace: "Seen" });
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
}, 60_000);

afterAll(() => gateway[Symbol.asyncDispose]());

const get = ({ token }: TestUser, path: string) =>
  gateway.call("GET", `/api/v1/${path}`, { token });
const post = ({ token }: TestUser, path: string, body: unknown) =>
  gateway.call("POST", `/api/v1/${path}`, { token, body });
const ids = (items: unknown, field: string) =>
  (items as readonly Record<string, unknown>[]).map((item) => item[field]);

describe("a list", () => {
  test("has, and counts, the rows of the caller's workspaces", async () => {
    for (const [path, field, own] of [
      ["experiments", "id", ["3", "2"]],
      ["models", "name", ["of-seen"]],
      ["tasks", "id", []],
      ["workspaces", "name", ["Seen"]],
      ["jobs", "job", ["2", "3"]],
    ] as const) {
      const { body } = await get(seer, `${path}?count=true`);
      expect([path, ids(body["items"], field)]).toEqual([path, own]);
      expect([path, body["total"]]).toEqual([path, own.length]);
    }
    expect((await get(admin, "experiments?count=true")).body["total"]).toBe(3);
  });

  test("a page token of another caller shows nothing beyond the caller's rows", async () => {
    const { body } = await get(admin, "experiments?pageSize=1&orderBy=id+desc");
    const token = String(body["nextPageToken"]);
    const rest = await get(seer, `experiments?pageSize=5&orderBy=id+desc&pageToken=${token}`);
    expect(ids(rest.body["items"], "id")).toEqual(["2"]);
  });

  test("a hidden workspace in the filter selects what an unknown one selects", async () => {
    const hidden = await get(seer, "experiments?workspace=hidden&count=true");
    const none = await get(seer, "experiments?workspace=unknown&count=true");
    expect({ ...hidden.body, position: "" }).toEqual({ ...none.body, position: "" });
  });

  test("places in the queue count the jobs of all", async () => {
    const { body } = await get(seer, "jobs");
    expect(ids(body["items"], "jobsAhead")).toEqual([1, 2]);
  });
});

describe("an answer", () => {
  test("a hidden parent reads as a deleted one", async () => {
    expect((await get(seer, "experiments/2")).body["parent"]).toBe("deleted");
    expect((await get(admin, "experiments/2")).body["parent"]).toBe("1");
  });

  test("a short id of a checkpoint is looked up among the caller's", async () => {
    const found = await get(seer, "checkpoints/aaaaaaaa");
    expect(found.body).toMatchObject({ uuid: checkpoints[1], pins: [] });
    expect((await get(admin, "checkpoints/aaaaaaaa")).body["code"]).toBe("ambiguous_checkpoint");
    expect((await get(admin, `checkpoints/${checkpoints[1]}`)).body["pins"]).toHaveLength(1);
  });

  test("a hidden run that holds slots reads as slots of another workspace", async () => {
    await gateway.append("trial-1.1", {
      type: "RunStarted",
      data: { run: 1, allocation: "1.1#1" },
    });
    await using _scheduler = await gateway.serving("scheduler", {
      ExplainJob: async () => ({
        runs: [
          {
            ...{ run: "2.1#1", queuedAtMs: 1, placements: [], reason: "preempting", limit: "" },
            ...{ ahead: 0, preemptions: 0, blockers: ["1.1#1", "3.1#1"] },
            detail: "1.1#1, 3.1#1 stop to make room for the run",
            startsWhen: "when 1.1#1 has ended",
          },
        ],
      }),
    });
    const { body } = await get(seer, "jobs/2/explanation");
    expect(body["runs"]).toMatchObject([
      {
        blockers: ["another workspace, 0 slots", "3.1#1"],
        detail: "a run of another workspace, 3.1#1 stop to make room for the run",
        startsWhen: "when a run of another workspace has ended",
      },
    ]);
  });

  test("sentences do not name what the caller may not see", async () => {
    const keptBy = [
      "run 1.1#1 starts from it",
      "trials of experiment 1 begin from it",
      "trial 2.1 continues from it",
      "task t1 continues from it",
      "model-version:of-hidden/1 uses it",
    ];
    await using _gc = await gateway.serving("checkpoint-gc", {
      ExplainRetention: async () => ({
        more: false,
        verdicts: [
          {
            ...{ checkpoint: checkpoints[1] ?? "", trial: "2.1", step: 1, state: "kept" },
            ...{ keeps: true, keptBy, competitors: [], referencesChecked: [] },
            ...{ by: "", reason: "", waits: "" },
          },
        ],
      }),
    });
    const path = `checkpoints/${checkpoints[1]}/retention`;
    expect((await get(seer, path)).body["keptBy"]).toEqual([
      "a run of another workspace starts from it",
      "trials of an experiment of another workspace begin from it",
      "trial 2.1 continues from it",
      "a task of another workspace continues from it",
      "a model version of another workspace uses it",
    ]);
    expect((await get(admin, path)).body["keptBy"]).toEqual(keptBy);
    const position = await gateway.append("allocation-2.1#1", {
      type: "WaitExplained",
      data: { code: WaitCode.RESERVED, detail: "the free slots are reserved for 1.1#1" },
    });
    const trials = await get(seer, `experiments/2/trials?minPosition=${position}`);
    const waitsFor = "the free slots are reserved for a run of another workspace";
    expect(trials.body["items"]).toMatchObject([{ runs: [{ waitsFor }] }]);
  });

  test("pools have no quotas of hidden workspaces, and agents no hidden runs", async () => {
    const quotas = ["Seen", "Hidden"].map((workspace) => ({ workspace, slots: 1, borrow: false }));
    await using _scheduler = await gateway.serving("scheduler", {
      GetPools: async () => ({
        pools: [
          {
            ...{ pool: "default", policy: "priority", agentsKnown: 0, agentsPresent: 0, slots: 0 },
            ...{ slotsFree: 0, runsWaiting: 0, runsPlaced: 0, slotsReserved: 0, setAside: "" },
            settings: { quotas },
            quotas: quotas.map(({ workspace }) => ({ workspace, slots: 1, used: 0, borrowed: 0 })),
            reservedFor: "1.1#1",
          },
        ],
      }),
    });
    const { body } = await get(seer, "pools/default");
    expect(body).toMatchObject({
      reservedFor: "another workspace",
      quotas: [{ workspace: "Seen" }],
      settings: { quotas: [{ workspace: "Seen" }] },
    });
    expect((await get(admin, "pools/default")).body).toMatchObject({ reservedFor: "1.1#1" });
  });
});

test("a comparison names no hidden experiment: its sources are gone as those of a missing one", async () => {
  await using _metrics = await gateway.serving("metrics", {
    CountMetricNames: async () => ({ counts: [] }),
  });
  const position = await gateway.append("allocation-2.1#1", {
    type: "WaitExplained",
    data: { code: WaitCode.RESERVED, detail: "the free slots are reserved for 1.1#1" },
  });
  await get(seer, `experiments/2/trials?minPosition=${position}`);
  type Answer = Readonly<Record<string, unknown>>;
  const compare = async (hidden: string, user = seer): Promise<Answer> => {
    const sources = [`${hidden}.1`, `${hidden}.best`, `${hidden}.all`, "2.1", "3.1"];
    const query = sources.map((source) => `sources=${source}`).join("&");
    return { ...(await get(user, `trials:compare?${query}`)).body, position: "" };
  };
  const seen = await compare("1");
  const text = JSON.stringify(seen);
  expect(ids(seen["experiments"], "id")).toEqual(["2", "3"]);
  expect(ids(seen["trials"], "id")).toEqual(["2.1", "3.1"]);
  expect(text).toContain("reserved for a run of another workspace");
  expect(text).not.toMatch(/of Hidden|1\.1#1/);
  const ofNone = text.replaceAll(/"1\.(1|best|all)"/g, '"9.$1"').replaceAll("ment 1", "ment 9");
  expect(JSON.parse(ofNone)).toEqual(await compare("9"));
  expect(ids((await compare("1", admin))["experiments"], "id")).toEqual(["1", "2", "3"]);
});

test("a frame of Watch names no hidden parent and no hidden run", async () => {
  const topics = [{ kind: "experiments" }, { kind: "trials", experiment: "2" }];
  const seen: unknown[] = [];
  for await (const { frame } of watching({ url: gateway.url, token: seer.token }, { topics })) {
    if (frame["opened"] !== undefined) {
      await gateway.append("experiment-2", { type: "ExperimentPaused", data: {} });
      await gateway.append("allocation-2.1#1", {
        type: "WaitExplained",
        data: { code: WaitCode.RESERVED, detail: "the slots are reserved for 1.1#1" },
      });
    }
    if (frame["change"] !== undefined) seen.push(frame["change"]);
    if (JSON.stringify(seen).includes("reserved for")) break;
  }
  const text = JSON.stringify(seen);
  expect(text).toContain('"parent":"deleted"');
  expect(text).toContain("the slots are reserved for a run of another workspace");
  expect(text).not.toContain('"1.1#1');
});

describe("a batch", () => {
  test("hidden experiments are items like missing ones, and the service gets the permitted only", async () => {
    const asked: (readonly string[])[] = [];
    await using _experiments = await gateway.serving("experiments", {
      ActOnExperiments: async ({ experiments }) => {
        asked.push(experiments);
        const items = experiments.map((experiment) => {
          return { experiment, changed: true, code: "", detail: "" };
        });
        return { position: 0, items };
      },
    });
    const batch = { experiments: ["1", "9", "2", "3"], verb: "pause" };
    const { body } = await post(seer, "experiments:act", batch);
    const refused = { outcome: "refused", code: "experiment_not_found" };
    const detail = "the experiment does not exist";
    expect(body["items"]).toMatchObject([
      { experiment: "1", ...refused, detail },
      { experiment: "9", ...refused, detail },
      { experiment: "2", outcome: "refused", code: "not_allowed" },
      { experiment: "3", outcome: "changed" },
    ]);
    expect(asked).toEqual([["3"]]);
  });
});

describe("a creation", () => {
  const config = (workspace: string, more = "") =>
    `entrypoint: x\nsearcher: {name: single, metric: loss, max_time: 4${more}}\nworkspace: ${workspace}\n`;
  const check = async (text: string) => {
    const { body } = await post(seer, "experiments", { config: text, validateOnly: true });
    return JSON.stringify(body);
  };

  test("a hidden workspace is answered as an unknown one", async () => {
    const hidden = await check(config("hidden"));
    expect(hidden).toContain("workspace_not_found");
    expect(hidden.replaceAll("hidden", "nowhere")).toBe(await check(config("nowhere")));
  });

  test("a hidden source is answered as one that does not exist", async () => {
    for (const [hidden, none] of [
      [', source_trial_id: "1.1"', ', source_trial_id: "9.1"'],
      [
        `, source_checkpoint_uuid: ${checkpoints[0]}`,
        `, source_checkpoint_uuid: ${checkpoints[0]?.replace("aaaa", "bbbb")}`,
      ],
    ] as const) {
      const answer = await check(config("seen", hidden));
      expect(answer).toContain("and there is no such");
      const gone = await check(config("seen", none));
      expect(answer.replaceAll(/bbbb|aaaa|[19]\.1/g, "?")).toBe(
        gone.replaceAll(/bbbb|aaaa|[19]\.1/g, "?"),
      );
    }
    const board = { kind: "tensorboard", workspace: "seen", validateOnly: true };
    const named = await post(seer, "tasks", { ...board, sources: ["1"] });
    const missing = await post(seer, "tasks", { ...board, sources: ["9"] });
    expect([named.status, named.body["detail"]]).toEqual([
      400,
      "sources: there is no experiment 1",
    ]);
    expect(missing.body["detail"]).toBe("sources: there is no experiment 9");
  });

  test("a name that is taken in a hidden workspace is said to be taken", async () => {
    const body = { checkpoint: checkpoints[1], createModel: true };
    const taken = await post(seer, "models/of-hidden/versions", body);
    expect(taken).toMatchObject({ status: 409, body: { code: "model_exists" } });
    const hidden = await post(seer, "models/of-hidden/versions", { ...body, createModel: false });
    expect(hidden).toMatchObject({ status: 404, body: { code: "model_not_found" } });
  });

  test("the creator of a workspace is its admin", async () => {
    const maker = await addUser(gateway, "wil", { role: "workspace-creator" });
    expect((await post(maker, "workspaces", { name: "Wils" })).status).toBe(200);
    expect(ids((await get(maker, "workspaces")).body["items"], "name")).toEqual(["Wils"]);
    const archived = await post(maker, "workspaces/wils/archive", { reason: "" });
    expect(archived.status).toBe(200);
    expect((await get(seer, "workspaces/Wils")).status).toBe(404);
  });
});
