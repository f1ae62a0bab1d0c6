/** Tests of the calls of tasks, with a simulated experiments service. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import {
  type CreateTask,
  LogLevel,
  LogSource,
  type QueryLines,
} from "@trainyard/contracts/commands";
import { TaskOutcome } from "@trainyard/contracts/events";
import { reject } from "@trainyard/kernel";
import { create } from "tar";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  agentStart,
  created,
  requested,
  taskCreated,
  trialCreated,
} from "../../testing/example-events.ts";
import { openStream, restOf } from "../../testing/streams.ts";
import { type CallAnswer, startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
const stack = new AsyncDisposableStack();
let asked: Plain<CreateTask>[] = [];
let queries: Plain<QueryLines>[] = [];
let number = 0;

const line = {
  trial: "t900",
  run: 1,
  cursor: "3",
  level: LogLevel.INFO,
  receivedAtMs: 9,
  line: {
    allocation: "t900#1",
    nodeRank: 0,
    sequence: 1,
    atMs: 7,
    source: LogSource.STDOUT,
    text: "hello",
    continued: false,
  },
};

beforeAll(async () => {
  gateway = stack.use(await startTestGateway());
  const data = {
    ...{ pool: "default", labels: {}, version: "1", address: "h" },
    slots: ["0", "1"].map((id) => ({ id, device: "cpu", uuid: "", memoryBytes: 0 })),
    ...agentStart,
  };
  await gateway.append("agent-rack", { type: "AgentJoined", data });
  stack.use(
    await gateway.serving("experiments", {
      CreateTask: async (request) => {
        asked.push(request);
        number += 1;
        const stream = `task-t${number}`;
        const { contextDeletions: _deletions, ...given } = request;
        return { position: await gateway.append(stream, taskCreated(given as object)), stream };
      },
      KillTask: async ({ task, reason }) => {
        const kill = { type: "TaskKillRequested", data: { reason } } as const;
        return { position: await gateway.append(`task-${task}`, kill), stream: `task-${task}` };
      },
      PauseTask: async ({ task, reason }) => {
        const paused = { type: "TaskPauseRequested", data: { reason } } as const;
        return { position: await gateway.append(`task-${task}`, paused), stream: `task-${task}` };
      },
      ResumeTask: async () => reject("nothing_saved", "task t901: nothing of its folder was saved"),
      DeleteTask: async ({ task }) => {
        if (task === "t901")
          return reject("task_not_ended", "task t901 has not ended: kill it first");
        const gone = { type: "TaskDeleted", data: {} } as const;
        return { position: await gateway.append(`task-${task}`, gone), stream: `task-${task}` };
      },
    }),
  );
  const full = ["the bucket full is not reachable"];
  stack.use(
    await gateway.serving("registry", {
      ProbeStorage: async ({ storage }) => ({ problems: storage?.["type"] === "s3" ? full : [] }),
    }),
  );
  stack.use(
    await gateway.serving("scheduler", {
      CheckPlace: async ({ resources }) =>
        (resources?.slots ?? 0) > 2
          ? { possible: false, key: "slots_per_trial", detail: "no agent has 9 slots" }
          : { possible: true, key: "", detail: "" },
    }),
  );
  stack.use(
    await gateway.serving("logs", {
      QueryLines: async (query) => {
        queries.push(query);
        return { lines: query.after === "3" ? [] : [line], more: false, next: "3" };
      },
    }),
  );
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  asked = [];
  queries = [];
});

const post = (body: object, token?: string): Promise<CallAnswer> =>
  gateway.call("POST", "/api/v1/tasks", { body, ...(token === undefined ? {} : { token }) });

const get = async (path: string) => {
  const { status, body } = await gateway.call("GET", `/api/v1/${path}`);
  expect([status, body["detail"]]).toEqual([200, undefined]);
  return body;
};

async function packed(text: string): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "trainyard-task-"));
  stack.defer(() => rm(cwd, { recursive: true, force: true }));
  await writeFile(join(cwd, "main.py"), text);
  await create({ cwd, file: join(cwd, "packed.tar.gz"), gzip: true, portable: true }, ["main.py"]);
  return (await readFile(join(cwd, "packed.tar.gz"))).toString("base64");
}

describe("a new task", () => {
  test("has the defaults, the words of its command and its stored folder", async () => {
    const config =
      "environment: {environment_variables: [API_TOKEN=hush], proxy_ports: [{proxy_port: 80}]}";
    const context = await packed("print(1)\n");
    const command = ["curl", "https://ada:hunter22@host/"];
    const { status, body } = await post({ kind: "command", config, command, context });
    expect([status, body["warnings"]]).toEqual([200, []]);
    expect(asked).toMatchObject([
      {
        kind: "command",
        owner: "user:local",
        workspace: "default",
        name: "curl https://ada:<masked>@host/",
        config: {
          entrypoint: command,
          max_restarts: 0,
          resources: { slots: 1, preemptible: false },
          environment: { environment_variables: { cpu: ["API_TOKEN=hush"] } },
        },
      },
    ]);
    expect(asked[0]?.contextDigest).toMatch(/^[0-9a-f]{64}$/);
    const { id } = body["task"] as { readonly id: string };
    const shown = await get(`tasks/${id}`);
    expect(JSON.stringify(shown)).not.toMatch(/hush|hunter22/);
    expect(shown).toMatchObject({ id, state: "QUEUED", ports: [{ port: 80, isTcp: false }] });
    for (const path of ["tasks", `events:list?object=task&id=${id}`]) {
      const answer = JSON.stringify(await get(path));
      expect(answer).toContain(id);
      expect(answer).not.toMatch(/hush|hunter22/);
    }
  });

  test("is only checked on request, and the answer has the warnings", async () => {
    const { status, body } = await post({
      kind: "shell",
      config: "{entrypoint: bash, ready_timeout: 5m}",
      validateOnly: true,
    });
    expect(status).toBe(200);
    expect(body["task"]).toBeUndefined();
    expect(body["warnings"]).toEqual([
      "entrypoint has no effect on a shell, whose terminals start a login shell",
      "ready_timeout has no effect on a shell",
    ]);
    expect(asked).toEqual([]);
  });

  test.each([
    [
      { kind: "jupyter" },
      'kind must be one of command, shell, notebook, tensorboard, not "jupyter"',
    ],
    [{ kind: "notebook", config: "idle_timeout: soon" }, /idle_timeout must be a time: /],
    [{ kind: "notebook", sources: ["1"] }, "sources: a notebook has no sources: a tensorboard has"],
    [{ kind: "tensorboard" }, /^sources: a tensorboard needs an experiment, such as 12, or a /],
    [{ kind: "tensorboard", sources: ["t4"] }, /^sources: "t4" is neither an experiment, such /],
    [{ kind: "tensorboard", sources: ["77.1"] }, "sources: there is no trial 77.1"],
    [
      { kind: "notebook", config: "checkpoint_storage: {type: s3, bucket: full}" },
      "checkpoint_storage: the bucket full is not reachable",
    ],
    [{ kind: "command" }, /entrypoint is missing/],
    [{ kind: "command", config: "entrypoint: a", command: ["b"] }, /leave out one of them$/],
    [
      { kind: "shell", overrides: ["resources.slots=9"] },
      "resources.slots cannot be satisfied: no agent has 9 slots",
    ],
    [
      { kind: "shell", config: "workspace: nowhere" },
      'workspace: there is no workspace "nowhere" that you may see: name one of yard workspace list, or create it with yard workspace create',
    ],
    [
      { kind: "shell", config: "environment: {environment_variables: ['A_TOKEN=<masked>']}" },
      /^values are masked: environment/,
    ],
    [
      { kind: "shell", context: Buffer.from("no tar").toString("base64") },
      /^the context is refused/,
    ],
  ])("is refused in a sentence: %j", async (body, sentence) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body["detail"]).toMatch(sentence);
    expect(asked).toEqual([]);
  });

  test("that keeps its work has the cluster's storage, and a TensorBoard has its sources", async () => {
    await gateway.append("experiment-60", created({}));
    const { data } = trialCreated(1);
    const trial = { type: "TrialCreated", data: { ...data, experiment: "60" } } as const;
    const at = await gateway.append("trial-60.1", trial);
    await get(`experiments/60?minPosition=${at}`);
    const sources = ["60.1", "60", "60"];
    const of = async (body: object) => (await post(body)).body["task"];
    expect(await of({ kind: "tensorboard", sources })).toMatchObject({
      ...{ kind: "tensorboard", name: "tensorboard 60.1 60", sources: ["60.1", "60"] },
      ...{ hasPage: true, keepsWork: false, slots: 0 },
    });
    expect(await of({ kind: "notebook" })).toMatchObject({
      ...{ kind: "notebook", name: "notebook", hasPage: true, keepsWork: true, sources: [] },
    });
    expect(asked.map(({ config }) => config?.["checkpoint_storage"])).toEqual([
      undefined,
      expect.objectContaining({ type: "directory" }),
    ]);
  });

  test("of the kind TensorBoard is in the workspace of its first source if it names none", async () => {
    await gateway.call("POST", "/api/v1/workspaces", { body: { name: "boards" } });
    const at = await gateway.append("experiment-61", created({ workspace: "boards" }));
    await get(`experiments/61?minPosition=${at}`);
    await post({ kind: "tensorboard", sources: ["61"] });
    await post({ kind: "tensorboard", sources: ["61"], workspace: "default" });
    await post({ kind: "notebook" });
    expect(asked.map(({ workspace }) => workspace)).toEqual(["boards", "default", "default"]);
  });

  test("is created once by requests with one idempotency key", async () => {
    const headers = { "idempotency-key": "one-task" };
    const create = () =>
      gateway.call("POST", "/api/v1/tasks", { body: { kind: "shell" }, headers });
    const [first, second] = [await create(), await create()];
    expect(second.body).toEqual(first.body);
    expect(asked).toHaveLength(1);
  });
});

describe("the list of tasks", () => {
  test("is filtered, sorted and counted, the newest first", async () => {
    await gateway.append("task-t800", taskCreated({ kind: "shell", name: "one", owner: "eve" }));
    const at = await gateway.append(
      "task-t801",
      taskCreated({ name: "two", owner: "eve", config: { resources: { slots: 4 } } }),
      requested(1, 0),
      { type: "RunStarted", data: { run: 1, allocation: "t801#1" } },
    );
    const listed = async (filter: string, more = "") => {
      const query = `filter=${encodeURIComponent(filter)}&minPosition=${at}${more}`;
      const { items, total } = await get(`tasks?${query}&count=true`);
      return [(items as { readonly id: string }[]).map(({ id }) => id), total];
    };
    await gateway.append("task-t802", taskCreated({ name: "board", sources: ["7421.3"] }));
    expect(await listed("owner = eve")).toEqual([["t801", "t800"], 2]);
    expect(await listed("owner = eve kind = shell")).toEqual([["t800"], 1]);
    expect(await listed("state = RUNNING")).toEqual([["t801"], 1]);
    await expect.poll(() => listed('"7421"')).toEqual([["t802"], 1]);
    expect(await listed("id = t800 or slots > 3")).toEqual([["t801", "t800"], 2]);
    expect(await listed("two")).toEqual([["t801"], 1]);
    expect((await listed("owner = eve", "&orderBy=slots"))[0]).toEqual(["t800", "t801"]);
    const { items } = await get("tasks?filter=id%20%3D%20t800&fields=id&fields=kind");
    expect(items).toEqual([{ id: "t800", kind: "shell" }]);
    const wrong = await gateway.call("GET", "/api/v1/tasks?filter=state%20%3D%20WAITING");
    expect(wrong.body["detail"]).toMatch(
      /state is compared with "WAITING", which is not one of QUEUED, STARTING, RUNNING, STOPPING/,
    );
  });
});

describe("a task", () => {
  const over = { outcome: TaskOutcome.FAILED, reason: "exit code 3", restarts: 0, exitCode: 3 };

  beforeAll(async () => {
    await gateway.append("task-t900", taskCreated(), { type: "TaskEnded", data: over });
    await gateway.append("task-t901", taskCreated());
    const at = await gateway.append("task-t902", taskCreated());
    await get(`tasks?minPosition=${at}`);
  });

  test("in ERROR is described with its last lines", async () => {
    expect(await get("tasks/t900")).toMatchObject({
      state: "ERROR",
      reason: "exit code 3",
      exitCode: 3,
      lastLogLines: ["hello"],
    });
    expect(queries).toMatchObject([{ task: "t900", tail: 20 }]);
  });

  test("has pages of lines with the filters of a trial's", async () => {
    const { items } = await get("tasks/t900/logs?run=1&source=stdout&contains=h&pageSize=5");
    expect(items).toMatchObject([{ text: "hello", run: 1, cursor: "3" }]);
    const { STDOUT: source } = LogSource;
    expect(queries).toMatchObject([{ task: "t900", run: 1, source, contains: "h", limit: 5 }]);
  });

  test("that has ended ends the stream of its lines", async () => {
    const bytes = await restOf(await openStream(gateway, "/api/v1/tasks/t900/logs:follow"));
    expect(bytes.toString()).toContain('"text":"hello"');
  });

  test("is killed with a reason, and deleted; one that runs is not deleted", async () => {
    const killed = await gateway.call("POST", "/api/v1/tasks/t902/kill", { body: {} });
    expect(killed.body["task"]).toMatchObject({ state: "STOPPING", reason: "killed by a user" });
    const refused = await gateway.call("DELETE", "/api/v1/tasks/t901");
    expect([refused.status, refused.body["detail"]]).toEqual([
      409,
      "task t901 has not ended: kill it first",
    ]);
    expect((await gateway.call("DELETE", "/api/v1/tasks/t902")).status).toBe(200);
    expect((await gateway.call("GET", "/api/v1/tasks/t902")).body["detail"]).toBe(
      "there is no task t902",
    );
  });

  test("is paused with a reason, and resumed if something was saved", async () => {
    const act = (verb: string) => gateway.call("POST", `/api/v1/tasks/t901/${verb}`, { body: {} });
    expect(await act("pause")).toMatchObject({ status: 200, body: { task: { id: "t901" } } });
    expect(JSON.stringify(await get("events:list?object=task&id=t901"))).toMatch(
      "paused by a user",
    );
    const detail = "task t901: nothing of its folder was saved";
    expect(await act("resume")).toMatchObject({ status: 409, body: { detail } });
  });

  test.each([
    ["GET", "tasks/t999"],
    ["GET", "tasks/12"],
    ["POST", "tasks/t999/kill"],
    ["POST", "tasks/t999/pause"],
    ["POST", "tasks/t999/resume"],
    ["DELETE", "tasks/t999"],
    ["GET", "tasks/t999/logs"],
    ["GET", "tasks/t999/logs:follow"],
  ])("that does not exist is refused in a sentence: %s %s", async (method, path) => {
    const { status, body } = await gateway.call(method, `/api/v1/${path}`, {
      ...(method === "POST" ? { body: {} } : {}),
    });
    expect([status, body["detail"]]).toEqual([404, expect.stringMatching(/^there is no task /)]);
  });
});
