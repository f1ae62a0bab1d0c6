/** Tests of a gateway whose blobs are in an object store: all that reads or writes them, and stores that refuse. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { create } from "tar";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created } from "./testing/example-events.ts";
import { startTestGateway, type TestGateway } from "./testing/test-gateway.ts";

const denied = { accessKeyId: "denied", secretAccessKey: "secret" };
let gateway: TestGateway;
let service: AsyncDisposable;
let server: S3Server;
let scratch: string;
let code: string;

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
  gateway = await startTestGateway({
    TRAINYARD_BLOB_DIR: "",
    TRAINYARD_BLOB_STORAGE: "s3://code/team",
    TRAINYARD_BLOB_STORAGE_ENDPOINT: server.url,
    TRAINYARD_STORAGE_CREDENTIALS: credentials,
  });
  let number = 100;
  service = await gateway.serving("experiments", {
    CreateExperiment: async (request) => {
      const { paused: _paused, config = {}, parent, ...given } = request;
      number += 1;
      const stream = `experiment-${number}`;
      const made = created({ ...given, config, ...(parent && { parent }) });
      return { position: await gateway.append(stream, made), stream };
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

test("a store that refuses, and one without its bucket, are named to the person who submits", async () => {
  server.deny("s3:PutObject");
  const refused = await submit("refused");
  expect(refused).toMatchObject({ status: 500, body: { code: "storage_refused" } });
  expect(refused.body["detail"]).toMatch(/^s3:\/\/code\/team refuses to write submissions\/.*403/);
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
