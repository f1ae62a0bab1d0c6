/** Tests of a gateway whose blobs are in an object store: all that reads or writes them, and stores that refuse. */
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { create } from "tar";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";
import { copyFolder } from "./spaces/copy-blobs.ts";
import { created } from "./testing/example-events.ts";
import { startTestGateway, type TestGateway } from "./testing/test-gateway.ts";

const denied = { accessKeyId: "denied", secretAccessKey: "secret" };
let gateway: TestGateway;
let service: AsyncDisposable;
let server: S3Server;
let scratch: string;
let code: string;
let variables: Readonly<Record<string, string>>;
const made: string[] = [];

beforeAll(async () => {
  server = await S3Server.start({ buckets: ["code"], users: [testUser, denied] });
  scratch = await mkdtemp(join(tmpdir(), "trainyard-stored-"));
  await writeFile(join(scratch, "train.py"), "print(1)\n");
  const file = join(scratch, "packed.tar.gz");
  await create({ cwd: scratch, file, gzip: true, portable: true }, ["train.py"]);
  code = (await readFile(file)).toString("base64");
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = testUser;
  const credentials = join(scratch, "credentials.json");
  const text = JSON.stringify({ s3: { access_key_id, secret_access_key } });
  await writeFile(credentials, text, { mode: 0o600 });
  variables = {
    TRAINYARD_BLOB_DIR: "",
    TRAINYARD_BLOB_STORAGE: "s3://code/team",
    TRAINYARD_BLOB_STORAGE_ENDPOINT: server.url,
    TRAINYARD_STORAGE_CREDENTIALS: credentials,
  };
  gateway = await startTestGateway(variables);
  let number = 100;
  service = await gateway.serving("experiments", {
    CreateExperiment: async (request) => {
      const { paused: _paused, config = {}, parent, ...given } = request;
      number += 1;
      const stream = `experiment-${number}`;
      made.push(`${number}`);
      const event = created({ ...given, config, ...(parent && { parent }) });
      return { position: await gateway.append(stream, event), stream };
    },
  });
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

const config = `name: iris
entrypoint: python3 train.py
searcher: {name: single, metric: loss, max_time: 4}
`;

const submit = (name: string) =>
  gateway.call("POST", "/api/v1/experiments", {
    body: { config: config.replace("iris", name), context: code },
  });

const stored = (folder: string): readonly string[] =>
  [...(server.buckets.get("code")?.objects.keys() ?? [])].filter((key) =>
    key.startsWith(`team/${folder}/`),
  );

async function submitted(name: string): Promise<string> {
  const answer = await submit(name);
  expect(answer).toMatchObject({ status: 200 });
  return (answer.body as { experiment: { id: string } }).experiment.id;
}

test("code and submission of an experiment are stored in the bucket, shown, downloaded and forked", async () => {
  const id = await submitted("first");
  expect(stored("contexts")).toHaveLength(1);
  expect(stored("submissions")).toHaveLength(1);
  const { body } = await gateway.call("GET", `/api/v1/experiments/${id}/submission`);
  expect(body).toMatchObject({
    experiment: id,
    record: { configText: config.replace("iris", "first") },
  });
  const download = await fetch(`${gateway.url}/api/v1/experiments/${id}/code`, {
    headers: { authorization: `Bearer ${gateway.token}` },
  });
  expect(Buffer.from(await download.arrayBuffer()).toString("base64")).toBe(code);
  const files = await gateway.call("GET", `/api/v1/experiments/${id}/files`);
  expect(JSON.stringify(files.body)).toContain("train.py");
  const fork = await gateway.call("POST", `/api/v1/experiments/${id}/fork`, { body: {} });
  expect(fork).toMatchObject({ status: 200 });
  const [forked] = [(fork.body as { experiment: { id: string } }).experiment.id];
  const diff = await gateway.call("GET", `/api/v1/experiments/${id}/diff/${forked}`);
  expect(diff).toMatchObject({ status: 200 });
});

test("code and submission are deleted from the bucket with the last experiment that names them", async () => {
  expect(stored("contexts")).toHaveLength(1);
  for (const experiment of made) {
    await gateway.append(`experiment-${experiment}`, { type: "ExperimentDeleted", data: {} });
  }
  const left = () => [...stored("contexts"), ...stored("submissions")];
  await vi.waitFor(() => expect(left()).toEqual([]), { timeout: 25_000, interval: 50 });
});

test("a store that refuses, and one without its bucket, are named to the person who submits", async () => {
  server.deny("s3:PutObject");
  const refused = await submit("refused");
  expect(refused).toMatchObject({ status: 500, body: { code: "storage_refused" } });
  expect(refused.body["detail"]).toMatch(/^s3:\/\/code\/team refuses to write contexts\/.*403/);
  server.allow("s3:PutObject");
  const bucket = server.buckets.get("code");
  server.buckets.delete("code");
  expect(await submit("nowhere")).toMatchObject({
    status: 500,
    body: { detail: "the bucket code of s3://code/team does not exist" },
  });
  if (bucket !== undefined) server.buckets.set("code", bucket);
  await submitted("again");
});

test("a store that is away is a 503 that names it", async () => {
  await server.away();
  const away = await submit("away");
  expect(away).toMatchObject({ status: 503 });
  expect(away.body["detail"]).toMatch(/^s3:\/\/code\/team cannot look at .* now: /);
  await server.listen();
});

test("a gateway whose bucket does not exist starts, answers what needs no bucket, and is not ready with the reason", async () => {
  const wrong = { ...variables, TRAINYARD_BLOB_STORAGE: "s3://nowhere" };
  await using another = await startTestGateway(wrong);
  expect((await another.call("GET", "/api/v1/experiments")).status).toBe(200);
  const answer = await fetch(`${another.url}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([
    503,
    expect.stringContaining(
      `the storage of model code s3://nowhere at ${server.url} has not answered yet (the bucket nowhere of s3://nowhere does not exist`,
    ),
  ]);
});

test("a gateway that moves from a folder to a bucket shows what was stored before", async () => {
  await using moved = await startTestGateway();
  const content = Buffer.from(code, "base64");
  const contextDigest = createHash("sha256").update(content).digest("hex");
  await mkdir(join(moved.blobDir, "contexts"));
  await writeFile(join(moved.blobDir, "contexts", `${contextDigest}.tar.gz`), content);
  const about = { contextDigest, contextBytes: content.length };
  const position = await moved.append("experiment-1", created(about));
  const environment = {
    ...moved.environment,
    ...variables,
    TRAINYARD_BLOB_STORAGE: "s3://code/moved",
  };
  const deps = { environment, clock: systemClock, say: () => {} };
  expect(await copyFolder(moved.blobDir, deps)).toBe(true);
  await rm(moved.blobDir, { recursive: true });
  const bus = moved.hub.connect("gateway");
  const logger = createLogger("gateway", "silent");
  await using another = await createService(parseConfig(environment), { bus, logger });
  await another.start();
  const shown = await fetch(
    `${another.address()}/api/v1/experiments/1/files?minPosition=${position}`,
    { headers: { authorization: `Bearer ${moved.token}` } },
  );
  expect(await shown.text()).toContain("train.py");
});

test("a second cluster with the same bucket stores and deletes nothing there, and says so; a gateway of the first one does", async () => {
  const mine = Buffer.from(code, "base64");
  const about = {
    contextDigest: createHash("sha256").update(mine).digest("hex"),
    contextBytes: mine.length,
  };
  // The pause after a silence of the store is over.
  await vi.waitFor(() => submitted("ours"), { timeout: 25_000, interval: 50 });
  expect(stored("contexts")).toHaveLength(1);
  await using second = await startTestGateway(variables);
  await second.append("experiment-1", created(about));
  await second.append("experiment-1", { type: "ExperimentDeleted", data: {} });
  const why = /^s3:\/\/code\/team refuses to store model code of this cluster: .*another one/;
  const refused = await second.call("POST", "/api/v1/experiments", {
    body: { config: config.replace("iris", "ours"), context: code },
  });
  expect(refused).toMatchObject({ status: 500, body: { code: "storage_refused" } });
  expect(refused.body["detail"]).toMatch(why);
  await vi.waitFor(
    async () => {
      const answer = await fetch(`${second.url}/readyz`);
      expect([answer.status, await answer.text()]).toEqual([
        503,
        expect.stringContaining("choose another bucket or prefix, or delete this object"),
      ]);
    },
    { timeout: 25_000, interval: 50 },
  );
  expect(stored("contexts")).toHaveLength(1);
  await using replica = await createService(parseConfig({ ...gateway.environment, ...variables }), {
    bus: gateway.hub.connect("gateway"),
    logger: createLogger("gateway", "silent"),
  });
  await replica.start();
  expect((await fetch(`${replica.address()}/readyz`)).status).toBe(200);
});
