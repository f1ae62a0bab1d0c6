/** Checkpoints in S3, used as its users do: training that never waits, restarts from the store, downloads, deletions. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openS3Store } from "@trainyard/blob/s3";
import { systemClock } from "@trainyard/kernel/system-clock";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";

let server: S3Server;
let world: World;

beforeAll(async () => {
  server = await S3Server.start({ buckets: ["models"] });
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = testUser;
  const file = join(mkdtempSync(join(tmpdir(), "ty-storage-")), "credentials.json");
  const text = JSON.stringify({ s3: { access_key_id, secret_access_key } });
  writeFileSync(file, text, { mode: 0o600 });
  process.env["TRAINYARD_STORAGE_CREDENTIALS"] = file;
  process.env["TRAINYARD_STORAGE_ENDPOINTS"] = server.url;
  world = await World.start({ agents: 2, slots: 2 });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
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

type Listed = {
  readonly items: readonly {
    readonly uuid: string;
    readonly state: string;
    readonly stepsCompleted: number;
  }[];
};

test("a trial that is paused and activated goes on from its checkpoint in S3, which a person downloads", async () => {
  const id = await world.submit(configOf(60), world.code("steps"));
  await world.untilTrials(id, ([trial]) => (trial?.stepsCompleted ?? 0) >= 6);
  expect((await world.yard("e", "pause", id)).code).toBe(0);
  await eventually("it is paused with a complete checkpoint", async () => {
    const { items } = (await world.json("checkpoint", "list", id)) as Listed;
    return items.some(({ state }) => state === "COMPLETED");
  });
  expect((await world.yard("e", "activate", id)).code).toBe(0);
  const waited = await world.yard("e", "wait", id);
  const { out } = await world.yard("trial", "logs", `${id}.1`);
  expect(waited, out).toMatchObject({ code: 0 });
  const marks = out.match(/(starts|stops) at \d+/g) ?? [];
  expect(marks[0]).toBe("starts at 0");
  expect(marks[2]).toBe(marks[1]?.replace("stops", "starts"));
  const { items } = (await world.json("checkpoint", "list", id)) as Listed;
  const kept = items.find(({ state }) => state === "COMPLETED")?.uuid ?? "";
  const downloaded = await world.yard("checkpoint", "download", kept, "copy");
  expect(downloaded, downloaded.err).toMatchObject({ code: 0 });
});

test("a trial on two agents stores one checkpoint of all ranks' files in S3, and each host reads them all", async () => {
  const wide = configOf(1)
    .replace("python3 train.py", "python3 -m trainyard.launch.torch train.py")
    .replace("max_restarts", "resources: { slots_per_trial: 4 }\nmax_restarts");
  const id = await world.submit(wide, world.code("shards"));
  const waited = await world.yard("e", "wait", id);
  const { out } = await world.yard("trial", "logs", `${id}.1`);
  expect(waited, out).toMatchObject({ code: 0 });
  expect(out.match(/rank \d of host \d has read all 4/g)?.toSorted()).toEqual(
    [0, 1, 2, 3].map((rank) => `rank ${rank} of host ${rank >> 1} has read all 4`),
  );
  const { items } = (await world.json("checkpoint", "list", id)) as Listed;
  const [kept] = items.filter(({ state }) => state === "COMPLETED");
  const verified = await world.yard("checkpoint", "verify", kept?.uuid ?? "");
  expect(verified, verified.err).toMatchObject({ code: 0 });
});

test("an object that another program replaced is found by verify, and refused afterwards", async () => {
  const id = await world.submit(configOf(6), world.code("steps"));
  expect((await world.yard("e", "wait", id)).code).toBe(0);
  let uuid = "";
  await eventually("its last checkpoint is complete", async () => {
    const { items } = (await world.json("checkpoint", "list", id)) as Listed;
    const last = items.find(({ stepsCompleted }) => stepsCompleted === 6);
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

test("a bucket that does not exist, and credentials in a configuration, are refused at submit", async () => {
  const code = world.code("steps");
  const absent = configOf(6).replace("bucket: models", "bucket: absent");
  const refused = await world.yard("e", "create", world.write("absent.yaml", absent), code);
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.err).toContain("the bucket absent");
  const elsewhere = configOf(6).replace(server.url, "http://169.254.169.254");
  const unnamed = await world.yard("e", "create", world.write("elsewhere.yaml", elsewhere), code);
  expect(unnamed).toMatchObject({ code: 2 });
  expect(unnamed.err).toContain("TRAINYARD_STORAGE_ENDPOINTS");
  const open = configOf(6).replace("bucket: models", "bucket: models, secret_key: hidden");
  const told = await world.yard("e", "create", world.write("open.yaml", open), code);
  expect(told.err).toContain("does not belong into a configuration");
  expect(told.err).not.toContain("hidden");
});
