/**
 * Tests checkpoints in S3 and Google Cloud Storage from a user's view: training that never waits, restarts from the
 * store, downloads, deletions. The last test searches for the credentials everywhere.
 */
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openS3Store } from "@trainyard/blob/s3";
import { systemClock } from "@trainyard/kernel/system-clock";
import { clusterStatus } from "@trainyard/local-cluster";
import { GcsServer } from "@trainyard/testing/gcs";
import { S3Server } from "@trainyard/testing/s3";
import pg from "pg";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";

const testUser = { accessKeyId: "platform", secretAccessKey: "the-secret-of-the-platform-in-s3" };
let server: S3Server;
let gcs: GcsServer;
let world: World;

beforeAll(async () => {
  server = await S3Server.start({ buckets: ["models"], users: [testUser] });
  gcs = await GcsServer.start({ buckets: ["models"] });
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = testUser;
  const file = join(mkdtempSync(join(tmpdir(), "ty-storage-")), "credentials.json");
  const text = JSON.stringify({ s3: { access_key_id, secret_access_key }, gcs: gcs.account });
  writeFileSync(file, text, { mode: 0o600 });
  process.env["TRAINYARD_STORAGE_CREDENTIALS"] = file;
  process.env["TRAINYARD_STORAGE_ENDPOINTS"] = server.url;
  process.env["TRAINYARD_BLOB_STORAGE"] = "s3://models/code";
  process.env["TRAINYARD_BLOB_STORAGE_ENDPOINT"] = server.url;
  world = await World.start({
    agents: 2,
    slots: 2,
    python: true,
    storage: { address: "gs://models/team/b", endpoint: gcs.url },
  });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await gcs[Symbol.asyncDispose]();
});

const configOf = (steps: number) => `
name: stored
entrypoint: python3 train.py
hyperparameters: { lr: 0.5 }
searcher: { name: single, metric: loss }
max_restarts: 0
checkpoint_storage: { type: s3, bucket: models, prefix: team/a, endpoint_url: "${server.url}" }
environment: { environment_variables: ["STEPS=${steps}", "STEP_SECONDS=0.1"] }
`;

const checkpointsOf = async (experiment: string) =>
  (await world.client.call("listCheckpoints", { experiment })).items;

test("a trial that is paused and activated continues from its checkpoint in S3, which a person downloads", async () => {
  const id = await world.submit(configOf(60), world.code("steps"));
  await world.untilTrials(id, ([trial]) => (trial?.stepsCompleted ?? 0) >= 6);
  await world.client.call("pauseExperiment", { experiment: id });
  await world.untilTrials(id, ([trial]) => trial?.runs[0]?.state === "ENDED");
  await eventually("it is paused with a complete checkpoint", async () => {
    return (await checkpointsOf(id)).some(({ state }) => state === "COMPLETED");
  });
  await world.client.call("activateExperiment", { experiment: id });
  const state = await world.end(id);
  const out = await world.logs(`${id}.1`);
  expect(state, out).toBe("COMPLETED");
  const marks = out.match(/(starts|stops) at \d+/g) ?? [];
  expect(marks[0]).toBe("starts at 0");
  expect(marks[2]).toBe(marks[1]?.replace("stops", "starts"));
  const kept = (await checkpointsOf(id)).find(({ state }) => state === "COMPLETED")?.uuid ?? "";
  const downloaded = await world.yard("checkpoint", "download", kept, "copy");
  expect(downloaded, downloaded.err).toMatchObject({ code: 0 });
});

test("a checkpoint that the store does not take is shown with its trial and its agent, which is neither drained nor removed before it is stored", async () => {
  const agents = async () => (await world.client.call("listAgents", {})).items;
  await eventually("the checkpoints of the test before are stored", async () =>
    (await agents()).every(({ undelivered }) => undelivered === undefined),
  );
  const failure = { kind: "status", status: 503, code: "SlowDown" } as const;
  server.failures.add({ failure, key: "state.json", times: Number.POSITIVE_INFINITY });
  const id = await world.submit(configOf(3), world.code("steps"));
  expect(await world.end(id)).toBe("COMPLETED");
  const trial = () => world.client.call("getTrial", { trial: `${id}.1` });
  expect((await trial()).undelivered).toMatchObject({ checkpoints: 1 });
  const described = await world.yard("trial", "describe", `${id}.1`);
  expect(described.out).toMatch(/^not stored yet +1 checkpoint, \d+ bytes$/m);
  const name = (await trial()).runs[0]?.placements[0]?.agent ?? "";
  const agent = async () => (await agents()).find((one) => one.name === name);
  await world.client.call("drainAgent", { name });
  await eventually("the agent shows the checkpoint", async () => {
    return (await agent())?.undelivered?.runs.join() === `${id}.1#1`;
  });
  const removed = await world.yard("agent", "remove", name);
  expect(removed.code).not.toBe(0);
  expect(removed.err).toContain(`(${id}.1#1) not stored yet`);
  expect((await agent())?.disabled?.state).toBe("DRAINING");
  server.failures.clear();
  await eventually("it is drained", async () => (await agent())?.disabled?.state === "DRAINED");
  expect((await checkpointsOf(id)).map(({ state }) => state)).toEqual(["COMPLETED"]);
  expect((await trial()).undelivered).toBeUndefined();
  await world.client.call("enableAgent", { name });
});

test("a trial on two agents stores one checkpoint of all ranks' files in S3, and each host reads them all", async () => {
  const wide = configOf(1)
    .replace("python3 train.py", "python3 -m trainyard.launch.torch train.py")
    .replace("max_restarts", "resources: { slots_per_trial: 4 }\nmax_restarts");
  const id = await world.submit(wide, world.code("shards"));
  const state = await world.end(id);
  const out = await world.logs(`${id}.1`);
  expect(state, out).toBe("COMPLETED");
  expect(out.match(/rank \d of host \d has read all 4/g)?.toSorted()).toEqual(
    [0, 1, 2, 3].map((rank) => `rank ${rank} of host ${rank >> 1} has read all 4`),
  );
  const [kept] = (await checkpointsOf(id)).filter(({ state }) => state === "COMPLETED");
  const verified = await world.yard("checkpoint", "verify", kept?.uuid ?? "");
  expect(verified, verified.err).toMatchObject({ code: 0 });
});

test("weights in several pieces go to Google Cloud Storage over broken connections, are restored, verified, downloaded and deleted", async () => {
  gcs.failures.add({ failure: { kind: "reset" }, operation: "UploadChunk", key: "weights" });
  gcs.failures.add({ failure: { kind: "lost_answer" }, operation: "UploadChunk", key: "weights" });
  gcs.failures.add({ failure: { kind: "status", status: 503, code: "backendError" } });
  // The cluster's own storage, which experiments without a storage use.
  const config = configOf(0).replace(/checkpoint_storage: .*/, "");
  const id = await world.submit(config, world.code("weights"));
  let uuid = "";
  const complete = async (step: number) => {
    const found = (await checkpointsOf(id)).find(({ stepsCompleted }) => stepsCompleted === step);
    uuid = found?.uuid ?? "";
    return found?.state === "COMPLETED";
  };
  await eventually("its first checkpoint is complete", () => complete(1));
  await world.client.call("pauseExperiment", { experiment: id });
  await world.untilTrials(id, ([trial]) => trial?.runs[0]?.state === "ENDED");
  await world.client.call("activateExperiment", { experiment: id });
  const state = await world.end(id);
  const out = await world.logs(`${id}.1`);
  expect(state, out).toBe("COMPLETED");
  expect(out).toContain("restored step 1 with the same weights");
  await eventually("its second checkpoint is complete", () => complete(2));
  // On a busy machine, reading the weights may take longer than a call's timeout.
  const verified = async () => (await world.yard("checkpoint", "verify", uuid)).code === 0;
  await eventually("it is verified", verified);
  const downloaded = await world.yard("checkpoint", "download", uuid, "from-gcs");
  expect(downloaded, downloaded.err).toMatchObject({ code: 0 });
  const objects = () => [...(gcs.buckets.get("models")?.objects.keys() ?? [])];
  expect(objects()).toContain(`team/b/${uuid}/weights`);
  expect(objects().filter((name) => name.includes(".trainyard-uploads"))).toEqual([]);
  const why = ["--reason", "too large"];
  const deleted = await world.yard("checkpoint", "delete", uuid, "--glob", "weights", ...why);
  expect(deleted, deleted.err).toMatchObject({ code: 0 });
  await eventually("its weights are gone, and nothing else", async () => {
    const left = objects().filter((name) => name.includes(uuid));
    return left.length > 0 && !left.some((name) => name.endsWith("/weights"));
  });
});

test("a local folder becomes a model version in Google Cloud Storage, is exported, and is kept while anything needs it", async () => {
  world.write("own/x:y", "odd");
  world.write("own/deep/weights.bin", "w".repeat(100_000));
  const own = join(world.folder, "own");
  const registered = await world.yard("model", "register-folder", "own", own, "--create");
  expect(registered, registered.err).toMatchObject({ code: 0 });
  expect(registered.out).toContain("is version 1 of own");
  const again = await world.yard("model", "register-folder", "own", own);
  expect(again.out).toContain("is version 1 of own");
  const version = (await world.json("model", "describe", "own", "1")) as {
    readonly checkpoint: string;
    readonly uploadedBy: string;
  };
  expect(version.uploadedBy).toBe("local");
  const exported = await world.yard("model", "export", "own", "latest", "own-export");
  expect(exported, exported.err).toMatchObject({ code: 0 });
  const out = join(world.folder, "own-export");
  expect(readFileSync(join(out, "checkpoint", "x:y"), "utf8")).toBe("odd");
  expect(readdirSync(out).toSorted()).toEqual([
    "README.md",
    "checkpoint",
    "checkpoint.json",
    "version.json",
  ]);
  const { checkpoint } = version;
  const why = ["--reason", "not needed"];
  const held = await world.yard("checkpoint", "delete", checkpoint, ...why);
  expect(held.err).toContain("version 1 of model own uses it");
  expect((await world.yard("model", "remove-version", "own", "1", ...why)).code).toBe(0);
  expect((await world.yard("checkpoint", "delete", checkpoint, ...why)).code).toBe(0);
  const refused = await world.yard("model", "register", "own", checkpoint);
  expect(refused.err).toContain("yard checkpoint undelete");
});

test("an object that another program replaced is detected by verify, and refused afterwards", async () => {
  const id = await world.submit(configOf(6), world.code("steps"));
  expect(await world.end(id)).toBe("COMPLETED");
  let uuid = "";
  await eventually("its last checkpoint is complete", async () => {
    const last = (await checkpointsOf(id)).find(({ stepsCompleted }) => stepsCompleted === 6);
    uuid = last?.uuid ?? "";
    return last?.state === "COMPLETED";
  });
  const whole = await world.yard("checkpoint", "verify", uuid);
  expect(whole, whole.err).toMatchObject({ code: 0 });
  await using store = openS3Store({
    bucket: "models",
    prefix: "team/a",
    endpoint: server.url,
    credentials: testUser,
    clock: systemClock,
  });
  await store.put(`${uuid}/state.json`, Buffer.from("another content"));
  const verified = await world.yard("checkpoint", "verify", uuid);
  expect(verified.code).not.toBe(0);
  expect(verified.out + verified.err).toContain("state.json");
  const downloaded = await world.yard("checkpoint", "download", uuid, "damaged");
  expect(downloaded.code).not.toBe(0);
  expect(downloaded.err).toContain("state.json");
});

test("code of trials, forks and commands is in the bucket, where agents read it, and is shown and downloaded", async () => {
  const folder = world.code("steps");
  const id = await world.submit(configOf(1), folder);
  expect(await world.end(id)).toBe("COMPLETED");
  const { codeDigest } = await world.client.call("getSubmission", { experiment: id });
  const key = `code/contexts/${codeDigest}.tar.gz`;
  const reads = () =>
    server.served.filter((one) => one.key === key && one.operation === "GetObject").length;
  for (const folder of ["contexts", "submissions", "environments"]) {
    const keys = [...(server.buckets.get("models")?.objects.keys() ?? [])];
    expect(keys.some((one) => one.startsWith(`code/${folder}/`))).toBe(true);
  }
  expect(readdirSync(join(world.home, "blobs"))).toEqual([]);
  const shown = await world.client.call("getCodeFile", { experiment: id, path: "train.py" });
  expect(shown.text).toBe(readFileSync(join(world.folder, folder, "train.py"), "utf8"));
  const downloaded = await world.yard("experiment", "download", id, "code-copy");
  expect(downloaded, downloaded.err).toMatchObject({ code: 0 });
  const forked = await world.client.call("forkExperiment", { experiment: id });
  expect(await world.end(forked.experiment?.id ?? "")).toBe("COMPLETED");
  const before = reads();
  world.write("tool/say.py", "print('said from the bucket')");
  const context = ["--context", join(world.folder, "tool"), "--set", "resources.slots=0"];
  const said = await world.yard("cmd", "run", "-f", ...context, "--", "python3", "say.py");
  expect(said, said.err).toMatchObject({
    code: 0,
    out: expect.stringContaining("from the bucket"),
  });
  expect(before).toBeGreaterThan(0);
  const tools = server.served.filter(
    (one) =>
      one.operation === "GetObject" && one.key.startsWith("code/contexts/") && one.key !== key,
  );
  expect(tools.length).toBeGreaterThan(0);
});

test("a bucket of code that refuses is named to the person who submits, and in the log of a trial that waits for its code", async () => {
  const code = world.code("steps");
  world.write("code-steps/other.py", `# ${Date.now()}`);
  // Checkpoints go to the other store.
  const text = configOf(1).replace("checkpoint_storage", "#");
  const config = world.write("refused.yaml", text);
  server.deny("s3:PutObject", testUser);
  const refused = await world.yard("e", "create", config, code);
  server.allow("s3:PutObject", testUser);
  expect(refused.code).not.toBe(0);
  expect(refused.err).toMatch(
    /s3:\/\/models\/code refuses to write contexts\/.*403 \(AccessDenied/,
  );
  const id = await world.submitPaused(text, code);
  server.deny("s3:GetObject", testUser);
  await world.client.call("activateExperiment", { experiment: id });
  await world.untilTrials(id, ([trial]) => trial !== undefined);
  await eventually("the trial's log says why it waits", async () =>
    /the model code cannot be fetched: s3:\/\/models\/code refuses to look at contexts/.test(
      await world.logs(`${id}.1`),
    ),
  );
  server.allow("s3:GetObject", testUser);
  expect(await world.end(id)).toBe("COMPLETED");
});

test("TensorBoard files go to the bucket that the configuration names for them, and can be copied from there", async () => {
  const boards = `{ type: s3, bucket: models, prefix: boards, endpoint_url: "${server.url}" }`;
  const config = configOf(0)
    .replace("{ lr: 0.5 }", "{ sampled: true }")
    .replace("max_restarts: 0", "max_restarts: 1")
    .concat(`tensorboard_storage: ${boards}\n`);
  const id = await world.submit(config, world.code("profiled"));
  const state = await world.end(id);
  const out = await world.logs(`${id}.1`);
  expect(state, out).toBe("COMPLETED");
  const inBucket = () => [...(server.buckets.get("models")?.objects.keys() ?? [])];
  const { log } = await world.client.call("getVersion", {});
  const below = `boards/tensorboard/${log}/experiment/${id}/trial/${id}.1/`;
  await eventually("the files of both runs are sent", async () => {
    return inBucket().filter((key) => key.startsWith(`${below}metrics/`)).length === 2;
  });
  const here = await world.yard("trial", "tensorboard", `${id}.1`);
  expect(here).toMatchObject({ code: 1, err: expect.stringContaining("in an object store") });
  const copied = await world.yard("trial", "tensorboard", `${id}.1`, "boards-copied");
  expect(copied, copied.err).toMatchObject({ code: 0 });
  const files = readdirSync(join(world.folder, "boards-copied", "metrics"));
  expect(files.map((name) => `${below}metrics/${name}`).toSorted()).toEqual(
    inBucket()
      .filter((key) => key.startsWith(below))
      .toSorted(),
  );
  expect(
    inBucket().filter((key) => key.startsWith(`team/a/tensorboard/${log}/experiment/${id}/`)),
  ).toEqual([]);
});

test("a bucket that does not exist, and credentials in a configuration, are refused at submit", async () => {
  const code = world.code("steps");
  const absent = configOf(6).replace("bucket: models", "bucket: absent");
  const refused = await world.yard("e", "create", world.write("absent.yaml", absent), code);
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.err).toContain("the bucket absent");
  const google = absent.replace("type: s3", "type: gcs").replace(/, endpoint_url: [^ ]*/, "");
  const noBucket = await world.yard("e", "create", world.write("google.yaml", google), code);
  expect(noBucket).toMatchObject({ code: 2 });
  expect(noBucket.err).toContain("the bucket absent of gs://absent/team/a");
  const elsewhere = configOf(6).replace(server.url, "http://169.254.169.254");
  const unnamed = await world.yard("e", "create", world.write("elsewhere.yaml", elsewhere), code);
  expect(unnamed).toMatchObject({ code: 2 });
  expect(unnamed.err).toContain("TRAINYARD_STORAGE_ENDPOINTS");
  const boards = `${configOf(6)}tensorboard_storage: { type: gcs, bucket: absent }\n`;
  const noBoards = await world.yard("e", "create", world.write("boards.yaml", boards), code);
  expect(noBoards).toMatchObject({ code: 2 });
  expect(noBoards.err).toContain("tensorboard_storage: the bucket absent");
  const open = configOf(6).replace("bucket: models", "bucket: models, secret_key: hidden");
  const told = await world.yard("e", "create", world.write("open.yaml", open), code);
  expect(told.err).toContain("does not belong into a configuration");
  expect(told.err).not.toContain("hidden");
});

test("no credential of a store is in a table, an event, a log, a launch or the environment of training", async () => {
  const lines = gcs.account.private_key.split("\n").filter((line) => line.length === 64);
  const secrets = [testUser.secretAccessKey, ...lines];
  const found: string[] = [];
  let read = 0;
  let sawEnvironment = false;
  const look = (where: string, text: string): void => {
    read += text.length;
    sawEnvironment ||= where.startsWith("logs.") && text.includes("TRAINYARD_RUN");
    if (secrets.some((secret) => text.includes(secret))) found.push(where);
  };
  for (const entry of readdirSync(world.folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    // The pages of the database are read as tables below.
    if (entry.isFile() && !/postgres.*\/(base|pg_wal|global)\//.test(path)) {
      look(path, readFileSync(path, "latin1"));
    }
  }
  const pool = new pg.Pool({
    connectionString: (await clusterStatus(world.home))?.postgresUrl ?? "",
    max: 1,
  });
  try {
    const named = `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
    const { rows: tables } = await pool.query<{ name: string }>(named);
    for (const { name } of tables) {
      const { rows } = await pool.query<{ line: string }>(`select t::text as line from ${name} t`);
      for (const { line } of rows) {
        look(name, line);
        for (const [, hex = ""] of line.matchAll(/\\\\?x([0-9a-f]{64,})/g)) {
          look(name, Buffer.from(hex, "hex").toString("latin1"));
        }
      }
    }
    expect(tables.length).toBeGreaterThan(20);
  } finally {
    await pool.end();
  }
  expect(found).toEqual([]);
  expect(read).toBeGreaterThan(1_000_000);
  // Training has written its environment to its log, where the check would have found a secret.
  expect(sawEnvironment).toBe(true);
});
