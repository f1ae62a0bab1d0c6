import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AnyEvent } from "@trainyard/contracts";
import { AllocationEndCause } from "@trainyard/contracts/events";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { created, requested, taskCreated, trialCreated } from "../../testing/example-events.ts";
import { addUser } from "../../testing/people.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let scratch: string;
let log: string;
let token: string;

const granted: AnyEvent = {
  type: "AllocationGranted",
  data: {
    placements: [{ agent: "rack", nodeRank: 0, slots: [], address: "" }],
    masterAddress: "",
    masterPort: 1,
    tokenKey: "1",
    folded: 0,
  },
};

/** The configuration of an experiment whose files are in an object store. */
const inStore = {
  checkpoint_storage: { type: "s3", bucket: "models", endpoint_url: "http://127.0.0.1:1" },
};

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "trainyard-boards-"));
  gateway = await startTestGateway();
  await gateway.append("experiment-1", created({}));
  await gateway.append("experiment-2", created({ config: inStore }));
  await gateway.append("experiment-3", created({}));
  for (const trial of ["1.1", "1.2", "2.1", "3.1"]) {
    await begin(trial);
  }
  const task = taskCreated({ kind: "tensorboard", sources: ["1.2", "2", "9", "1.7"] });
  await gateway.append("task-t1", task, requested(1, 0));
  const at = await gateway.append("allocation-t1#1", granted);
  token = await gateway.runToken("t1#1", at);
  await gateway.call("GET", `/api/v1/trials/3.1?minPosition=${at}`);
  log = String((await gateway.call("GET", "/api/v1/version")).body["log"]);
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

function begin(trial: string): Promise<number> {
  const [experiment = "", number] = trial.split(".");
  const { type, data } = trialCreated(Number(number));
  return gateway.append(`trial-${trial}`, { type, data: { ...data, experiment } }, requested(1, 0));
}

const call = (path: string, of = token) =>
  gateway.call("GET", `/api/v1/runs/t1%231/tensorboard${path}`, { token: of });

const folderOf = (trial: string): string =>
  join(gateway.checkpointDir, "tensorboard", log, "experiment", "1", "trial", trial);

async function allTrials(): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (let next = ""; ; ) {
    const { body } = await call(`?pageToken=${encodeURIComponent(next)}`);
    found.push(...(body["trials"] as readonly { trial: string }[]).map(({ trial }) => trial));
    next = String(body["nextPageToken"]);
    if (next === "") return found;
  }
}

test("the run of a TensorBoard lists its task's trials, with new ones of a chosen experiment, and no others", async () => {
  expect(await allTrials()).toEqual(["1.2", "2.1"]);
  const at = await begin("2.2");
  await gateway.call("GET", `/api/v1/trials/2.2?minPosition=${at}`);
  expect(await allTrials()).toEqual(["1.2", "2.1", "2.2"]);
});

test("the files of a trial in a directory have their sizes, and are read from an offset; nothing behind a link is", async () => {
  await mkdir(join(folderOf("1.2"), "metrics"), { recursive: true });
  await writeFile(join(folderOf("1.2"), "metrics", "events 1"), "abcdef");
  await writeFile(join(scratch, "secret"), "the key of the cluster");
  await symlink(join(scratch, "secret"), join(folderOf("1.2"), "linked"));
  const listed = await call("/1.2");
  expect(listed.body).toMatchObject({ files: [{ path: "metrics/events 1", bytes: 6 }] });
  const after = await call("/1.2?after=metrics%2Fevents%201");
  expect(after.body).toMatchObject({ files: [], problem: "" });
  const read = (path: string, offset: number) =>
    call(`/1.2/file?path=${encodeURIComponent(path)}&offset=${offset}`);
  expect((await read("metrics/events 1", 4)).body).toEqual({ text: "ef" });
  expect((await read("metrics/events 1", 6)).body).toEqual({ text: "" });
  for (const path of ["linked", "../1.1/events", "absent"]) {
    expect([path, (await read(path, 0)).status]).toEqual([path, 404]);
  }
});

test("the files of a trial in an object store are read by planned requests", async () => {
  const request = { method: "GET", url: "http://127.0.0.1:1/a", headers: {}, validMs: 60_000 };
  const planned = { path: "a", bytes: 9, changedAtMs: 7, request };
  await using _registry = await gateway.serving("registry", {
    PlanTensorBoardDownload: async ({ after }) => ({ files: after === "" ? [planned] : [] }),
  });
  expect((await call("/2.1")).body).toMatchObject({ files: [planned] });
  expect((await call("/2.1?after=a")).body).toMatchObject({ files: [] });
  expect((await call("/2.1/file?path=a")).status).toBe(404);
});

test("a trial that the task does not name, another run, a person and another kind of task are refused", async () => {
  await mkdir(dirname(join(folderOf("1.1"), "events")), { recursive: true });
  await writeFile(join(folderOf("1.1"), "events"), "x");
  for (const path of ["/1.1", "/3.1", "/1.1/file?path=events", "/t1", "/9.1"]) {
    const answer = await call(path);
    expect([path, answer.body["code"]]).toEqual([
      path,
      path === "/9.1" ? "trial_not_found" : "not_your_trial",
    ]);
  }
  await gateway.append("task-t2", taskCreated({ kind: "notebook" }), requested(1, 0));
  const at = await gateway.append("allocation-t2#1", granted);
  const other = await gateway.runToken("t2#1", at);
  expect((await call("", other)).body).toMatchObject({ code: "not_your_run" });
  const own = await gateway.call("GET", "/api/v1/runs/t2%231/tensorboard", { token: other });
  expect(own.body).toMatchObject({ code: "not_a_tensorboard" });
  expect((await call("", gateway.token)).body).toMatchObject({ code: "not_a_tensorboard" });
  for (const path of ["/api/v1/trials/1.2", "/api/v1/trials/1.2/tensorboard", "/api/v1/tokens"]) {
    expect([path, (await gateway.call("GET", path, { token })).status]).toEqual([path, 403]);
  }
});

test("a TensorBoard's token reads no files after the end of its run", async () => {
  const data = { cause: AllocationEndCause.EXITED, exits: [], message: "" };
  await gateway.append("allocation-t1#1", { type: "AllocationEnded", data });
  await vi.waitFor(async () => {
    expect((await call("/1.2")).body).toMatchObject({ code: "run_ended" });
  }, 2_000);
});

// The cluster has users from here on.
test("a TensorBoard shows what its owner sees at the moment", async () => {
  await addUser(gateway, "cy", { role: "viewer", workspace: "default" });
  await addUser(gateway, "bo");
  const boardOf = async (task: string, owner: string) => {
    const about = { kind: "tensorboard", owner, tokenId: "", sources: ["1.2", "2"] } as const;
    await gateway.append(`task-${task}`, taskCreated(about), requested(1, 0));
    const at = await gateway.append(`allocation-${task}#1`, granted);
    const own = await gateway.runToken(`${task}#1`, at);
    return (path: string) =>
      gateway.call("GET", `/api/v1/runs/${task}%231/tensorboard${path}`, { token: own });
  };
  const shown = await boardOf("t7", "user:cy");
  expect((await shown("")).body).toMatchObject({ trials: [{ trial: "1.2" }] });
  expect((await shown("/1.2")).status).toBe(200);
  const hidden = await boardOf("t8", "user:bo");
  expect((await hidden("")).body).toMatchObject({ trials: [], nextPageToken: "1:" });
  for (const path of ["/1.2", "/1.2/file?path=metrics%2Fevents%201"]) {
    expect(await hidden(path)).toMatchObject({ status: 403, body: { code: "not_your_trial" } });
  }
});
