/**
 * Tests that stored content is removed with the last experiment that names it. Here the log decides on creates, as in
 * production.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventOf, Plain } from "@trainyard/contracts";
import type { CreateExperiment } from "@trainyard/contracts/commands";
import { type Decider, pause } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import {
  type Aggregate,
  accepted,
  Executor,
  FoldCache,
  refusalOfContents,
} from "@trainyard/runtime";
import { create } from "tar";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { created, taskCreated } from "../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let gateway: TestGateway;
let scratch: string;
let number = 0;
const stack = new AsyncDisposableStack();

const decider: Decider<null, EventOf<"ExperimentCreated">, EventOf<"ExperimentCreated">> = {
  initial: null,
  decide: (_state, event) => [event],
  evolve: () => null,
};
const experiments: Aggregate<null, EventOf<"ExperimentCreated">, EventOf<"ExperimentCreated">> = {
  name: "created",
  category: "experiment",
  decider,
};

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "trainyard-contents-"));
  stack.defer(() => rm(scratch, { recursive: true, force: true }));
  gateway = stack.use(await startTestGateway());
  const executor = new Executor(gateway.log, new FoldCache(gateway.log));
  stack.use(
    await gateway.serving("experiments", {
      CreateExperiment: (request, { identity }) => createIn(executor, request, identity),
    }),
  );
});
afterAll(() => stack.disposeAsync());

async function createIn(
  executor: Executor,
  request: Plain<CreateExperiment>,
  identity: Parameters<Executor["execute"]>[0],
) {
  const { contextDigest, contextDeletions, configSourceDigest, contextBytes } = request;
  const { submissionDigest, submissionDeletions, config = {}, parent } = request;
  number += 1;
  const id = String(number);
  return accepted(
    await executor.execute(identity, async (work) => {
      const refused = await refusalOfContents(work, [
        { folder: "contexts", digest: contextDigest, deletions: contextDeletions },
        { folder: "submissions", digest: submissionDigest, deletions: submissionDeletions },
      ]);
      if (refused !== null) return refused;
      const about = { contextDigest, configSourceDigest, contextBytes, submissionDigest, config };
      await work.decide(experiments, id, created({ ...about, ...(parent && { parent }) }));
      return undefined;
    }),
  );
}

async function packed(text: string): Promise<string> {
  const cwd = await mkdtemp(join(scratch, "code-"));
  await writeFile(join(cwd, "train.py"), text);
  const file = join(cwd, "packed.tar.gz");
  await create({ cwd, file, gzip: true, portable: true }, ["train.py"]);
  return (await readFile(file)).toString("base64");
}

const config =
  "entrypoint: python3 train.py\nsearcher: {name: single, metric: loss, max_length: 4}\n";

async function submit(context: string, client = "yard"): Promise<string> {
  const body = { config, context, client };
  const answer = await gateway.call("POST", "/api/v1/experiments", { body });
  expect(answer).toMatchObject({ status: 200 });
  return (answer.body as { experiment: { id: string } }).experiment.id;
}

const codeOf = async (experiment: string) =>
  (await gateway.call("GET", `/api/v1/experiments/${experiment}/code`)).status;

const deleteForGood = (experiment: string) =>
  gateway.append(`experiment-${experiment}`, { type: "ExperimentDeleted", data: {} });

/** Repeats the check: the removal follows when the read model has applied the deletion. */
const eventually = (check: () => Promise<void>) =>
  vi.waitFor(check, { timeout: 25_000, interval: 50 });

/** Returns the files of a folder of the blob store. */
async function stored(folder: string): Promise<readonly string[]> {
  const path = join(gateway.blobDir, folder);
  return existsSync(path) ? await readdir(path) : [];
}

async function record(run: string, version: string) {
  const token = await gateway.runToken(run);
  const body = { python: "3.12", packages: { torch: version } };
  return gateway.call("POST", `/api/v1/runs/${encodeURIComponent(run)}/environment`, {
    body,
    token,
  });
}

test("code, submission and packages are removed with the last experiment that names them", async () => {
  const context = await packed("print(1)\n");
  const [first, second] = [await submit(context), await submit(context)];
  expect([await stored("contexts"), await stored("submissions")].flat()).toHaveLength(2);
  for (const experiment of [first, second]) {
    expect(await record(`${experiment}.1#1`, "2.4")).toMatchObject({ status: 200 });
  }
  expect(await stored("environments")).toHaveLength(1);
  await deleteForGood(first);
  const other = await submit(await packed("print(2)\n"));
  await deleteForGood(other);
  // The removals follow the log in order, so those of the first experiment are done by then.
  await eventually(async () => expect(await stored("contexts")).toHaveLength(1));
  expect(await codeOf(second)).toBe(200);
  await deleteForGood(second);
  const folders = ["contexts", "submissions", "environments"];
  await eventually(async () => {
    expect((await Promise.all(folders.map(stored))).flat()).toEqual([]);
  });
});

test("the folder of a task is removed when the task is deleted, unless an experiment names it too", async () => {
  const context = await packed("print(8)\n");
  const experiment = await submit(context);
  const [file = ""] = await stored("contexts");
  const digest = file.split(".")[0] ?? "";
  const [task, other] = [taskCreated({ contextDigest: digest }), taskCreated()];
  await gateway.append("task-t1", task);
  await gateway.append("task-t2", other, { type: "TaskDeleted", data: {} });
  await deleteForGood(experiment);
  const second = await submit(await packed("print(9)\n"));
  await deleteForGood(second);
  await eventually(async () => expect(await stored("contexts")).toEqual([file]));
  await gateway.append("task-t1", { type: "TaskDeleted", data: {} });
  await eventually(async () => expect(await stored("contexts")).toEqual([]));
});

test("the codes and sessions of a task's pages are removed when the task is deleted", async () => {
  for (const columns of [
    "task_sessions (digest, task, port, token)",
    "task_codes (digest, task, port, token, expires_at)",
  ]) {
    const expiry = columns.includes("expires_at") ? ", now() + interval '1 h'" : "";
    for (const task of ["t31", "t32"]) {
      await gateway.sql(
        `insert into gateway.${columns} values ('${task}', '${task}', 0, 'k1'${expiry})`,
      );
    }
  }
  await gateway.append("task-t31", taskCreated(), { type: "TaskDeleted", data: {} });
  await eventually(async () => {
    const { rows } = await gateway.sql(
      "select task from gateway.task_sessions union all select task from gateway.task_codes",
    );
    expect(rows.map(({ task }) => task)).toEqual(["t32", "t32"]);
  });
});

test("a late report from a run of a deleted experiment is refused, and a rebuild restores no content", async () => {
  const experiment = await submit(await packed("print(3)\n"));
  await deleteForGood(experiment);
  await eventually(async () => expect(await stored("contexts")).toEqual([]));
  expect(await record(`${experiment}.1#1`, "9.9")).toMatchObject({
    status: 404,
    body: { code: "experiment_not_found" },
  });
  expect(await stored("environments")).toEqual([]);
  const rebuilt = await gateway.call("POST", "/api/v1/views/rebuild", {
    body: { service: "gateway", view: "documents" },
  });
  expect(rebuilt).toMatchObject({ status: 200 });
  const kept = await submit(await packed("print(4)\n"));
  await eventually(async () => {
    const { rows } = await gateway.sql("select to_regclass('gateway.documents__next') as next");
    expect(rows).toEqual([{ next: null }]);
  });
  const { rows } = await gateway.sql(
    "select distinct used_by from gateway.content_uses where used_by like 'experiment-%'",
  );
  expect(rows).toEqual([{ used_by: `experiment-${kept}` }]);
  expect(await codeOf(experiment)).toBe(404);
  expect(await stored("contexts")).toHaveLength(1);
});

test("the code of a model version stays until the version is removed", async () => {
  const experiment = await submit(await packed("print(5)\n"));
  const trial = `${experiment}.1`;
  const checkpoint = "aaaaaaaa-0000-4000-8000-000000000001";
  const words = { description: "", notes: "", labels: [], by: "ada", metrics: {} };
  await gateway.append(
    "model-iris",
    {
      type: "ModelCreated",
      data: { description: "", notes: "", labels: [], by: "", workspace: "" },
    },
    {
      type: "VersionRegistered",
      data: { number: 1, semanticVersion: "", checkpoint, trial, run: 1, step: 1, ...words },
    },
  );
  await deleteForGood(experiment);
  const other = await submit(await packed("print(6)\n"));
  const before = await stored("contexts");
  await deleteForGood(other);
  await eventually(async () => expect(await stored("contexts")).toHaveLength(before.length - 1));
  const code = await gateway.call("GET", "/api/v1/models/iris/versions/1/code");
  expect(code.status).toBe(200);
  const removed = { number: 1, checkpoint, reason: "", by: "" };
  await gateway.append("model-iris", { type: "VersionRemoved", data: removed });
  await eventually(async () => expect(await stored("contexts")).toHaveLength(before.length - 2));
});

test("a fork keeps the code of its deleted parent, and shows its parent as deleted", async () => {
  // The parent's submission differs from the fork's, so it is removed with the parent.
  const parent = await submit(await packed("print(7)\n"), "yard of the parent");
  const path = `/api/v1/experiments/${parent}/fork`;
  const answer = await gateway.call("POST", path, { body: { overrides: ["name=fork"] } });
  expect(answer).toMatchObject({ status: 200 });
  const { id: fork } = (answer.body as { experiment: { id: string } }).experiment;
  const submissions = await stored("submissions");
  await deleteForGood(parent);
  await eventually(async () =>
    expect(await stored("submissions")).toHaveLength(submissions.length - 1),
  );
  expect(await codeOf(fork)).toBe(200);
  const shown = await gateway.call("GET", `/api/v1/experiments/${fork}`);
  expect(shown.body).toMatchObject({ parent: "deleted" });
});

test("an experiment keeps its code while two gateways create and delete experiments with the same code", async () => {
  const other = await gateway.startAnother();
  const context = await packed("print(8)\n");
  // Whether a file of code was removed and stored again.
  const again = async () =>
    (await stored("contexts")).some((name) => /^[0-9a-f]{64}\.[1-9]\.tar\.gz$/.test(name));
  let isOver = false;
  const creates = async (url: string) => {
    for (let round = 0; !isOver; round += 1) {
      const answer = await fetch(`${url}/api/v1/experiments`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${gateway.token}`,
          "content-type": "application/json",
        },
        body: JSON.stringify({ config, context, client: "yard" }),
      });
      expect([200, 503]).toContain(answer.status);
      if (answer.status === 503) continue;
      const { experiment } = (await answer.json()) as { experiment: { id: string } };
      // Every second experiment is read only after the removals of the others had time to run.
      if (round % 2 === 0) await pause(systemClock, 300);
      expect(await codeOf(experiment.id)).toBe(200);
      await deleteForGood(experiment.id);
      // During this pause the code is sometimes named by no experiment, and is removed.
      await pause(systemClock, Math.random() * 1_000);
    }
  };
  const both = Promise.all([creates(gateway.url), creates(other)]).finally(() => {
    isOver = true;
  });
  await Promise.race([both, eventually(async () => expect(await again()).toBe(true))]);
  isOver = true;
  await both;
  expect(await codeOf(await submit(context))).toBe(200);
});

test("no content is removed while deletions are held, and a removal whose last event the log does not have begins again", async () => {
  const hold = "hold-deletions";
  const rewind = { position: 1, event: "lost", noticedBy: "relay", detail: "the log went back" };
  await gateway.append(hold, { type: "DeletionsHeld", data: rewind });
  const before = await stored("contexts");
  const experiment = await submit(await packed("print(9)\n"));
  const files = await stored("contexts");
  expect(files).toHaveLength(before.length + 1);
  await deleteForGood(experiment);
  await pause(systemClock, 1_000, new AbortController().signal);
  expect(await stored("contexts")).toEqual(files);
  const head = await gateway.log.head();
  const cursor = `insert into gateway.purged (position, event) values ($1, 'lost')
    on conflict (one) do update set position = excluded.position, event = excluded.event`;
  await gateway.sql(cursor, [head]);
  await gateway.append(hold, { type: "DeletionsReleased", data: { by: "ada", reason: "" } });
  await eventually(async () => expect(await stored("contexts")).toEqual(before));
});
