import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { openLogDatabase } from "@trainyard/event-log/testing";
import { freePort } from "@trainyard/testing";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let [own, other]: readonly TestGateway[] = [];
let server: S3Server;
let scratch: string;
let folder: string;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  [own, other] = await Promise.all([startTestGateway(), startTestGateway()]);
}, 60_000);
afterAll(() => Promise.all([own, other].map(async (gateway) => gateway?.[Symbol.asyncDispose]())));

const databaseOf = (cluster: TestGateway | undefined) => ({
  TRAINYARD_POSTGRES_URL: cluster?.environment["TRAINYARD_POSTGRES_URL"] ?? "",
});

beforeEach(async () => {
  server = await S3Server.start({ buckets: ["code"] });
  scratch = await mkdtemp(join(tmpdir(), "trainyard-copied-"));
  folder = join(scratch, "blobs");
  environment = {
    ...databaseOf(own),
    TRAINYARD_BLOB_DIR: folder,
    TRAINYARD_BLOB_STORAGE: "s3://code/team",
    TRAINYARD_BLOB_STORAGE_ENDPOINT: server.url,
    AWS_ACCESS_KEY_ID: testUser.accessKeyId,
    AWS_SECRET_ACCESS_KEY: testUser.secretAccessKey,
  };
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

const digestOf = (content: string): string => createHash("sha256").update(content).digest("hex");

async function write(path: string, content: string): Promise<string> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
  return path;
}

const writeCode = (content: string, deletions = "") =>
  write(`contexts/${digestOf(content)}${deletions}.tar.gz`, content);

function begin(settings: Readonly<Record<string, string>> = {}, ...given: readonly string[]) {
  const main = join(import.meta.dirname, "../main.ts");
  const command = [
    main,
    "gateway",
    "copy-blobs",
    ...(given.length > 0 ? given : ["--from", folder]),
  ];
  const env = { ...process.env, ...environment, ...settings };
  return spawn(process.execPath, command, { env, stdio: ["ignore", "pipe", "pipe"] });
}

async function run(settings?: Readonly<Record<string, string>>, ...given: readonly string[]) {
  const child = begin(settings, ...given);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
  return { code: child.exitCode, out: out.trimEnd().split("\n"), err };
}

const marker = "team/.trainyard-storage";
const stored = (): readonly string[] =>
  [...(server.buckets.get("code")?.objects.keys() ?? [])]
    .filter((key) => key !== marker)
    .toSorted();

test("a folder is copied, only what is new is copied again, and what is no blob is named", async () => {
  const code = await writeCode("code");
  const again = await writeCode("deleted once", ".1");
  const config = await write(`submissions/${digestOf("{}")}.json`, "{}");
  await write(".incoming/half", "half");
  await write("notes.txt", "mine");
  const to = `s3://code/team at ${server.url}`;
  const first = await run();
  expect(first).toEqual({
    code: 0,
    err: "",
    out: [
      `3 files (18 bytes) copied to ${to}; 0 were there already`,
      "no file of Trainyard: notes.txt",
      "nothing is left to copy",
    ],
  });
  expect(stored()).toEqual([code, again, config].map((key) => `team/${key}`).toSorted());
  await writeCode("new");
  await unlink(join(folder, again));
  server.asked.length = 0;
  const second = await run();
  expect(second.out[0]).toBe(`1 files (3 bytes) copied to ${to}; 2 were there already`);
  expect(server.served.filter(({ key }) => key.startsWith("team/contexts")).length).toBeGreaterThan(
    0,
  );
  expect(stored()).toHaveLength(4);
});

test("a file with other content than its name says is not copied, and named", async () => {
  const damaged = `contexts/${digestOf("code")}.tar.gz`;
  await write(damaged, "c0de");
  await writeCode("good");
  const { code, out } = await run();
  expect(code).toBe(1);
  expect(out).toContain(
    `not copied: ${damaged}: the content of ${damaged} has SHA-256 ${digestOf("c0de")}, not ${digestOf("code")}`,
  );
  expect(out.at(-1)).toBe("1 files are left");
  expect(stored()).toHaveLength(1);
});

test("an object that was damaged in the store is replaced", async () => {
  const key = await writeCode("code");
  await run();
  const objects = server.buckets.get("code")?.objects;
  await writeCode("c0d3");
  await run();
  const [good, other] = [`team/${key}`, `team/contexts/${digestOf("c0d3")}.tar.gz`];
  const wrong = objects?.get(other);
  if (wrong !== undefined) objects?.set(good, wrong);
  expect((await run()).out[0]).toMatch(/^1 files \(4 bytes\) copied .*; 1 were there already$/);
});

test("a copy that was killed is continued", async () => {
  const keys = await Promise.all(Array.from({ length: 40 }, (_, index) => writeCode(`${index}`)));
  const child = begin();
  await vi.waitFor(() => expect(stored().length).toBeGreaterThan(5), {
    timeout: 20_000,
    interval: 1,
  });
  child.kill("SIGKILL");
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(out.at(-1)).toBe("nothing is left to copy");
  expect(stored().filter((key) => key.includes("contexts"))).toEqual(
    keys.map((key) => `team/${key}`).toSorted(),
  );
});

test("a copy marks the bucket for its cluster before the first file, and refuses that of another cluster", async () => {
  await writeCode("code");
  expect((await run()).code).toBe(0);
  expect(server.buckets.get("code")?.objects.has(marker)).toBe(true);
  const before = stored();
  await writeCode("theirs");
  const refused = await run(databaseOf(other));
  expect(refused).toMatchObject({ code: 1, out: [""] });
  expect(refused.err).toMatch(
    /^gateway: s3:\/\/code\/team refuses to store model code of this cluster: its object .trainyard-storage names another one, .*\n$/,
  );
  expect(refused.err.trim().split("\n")).toHaveLength(1);
  expect(stored()).toEqual(before);
  expect((await run()).out.at(-1)).toBe("nothing is left to copy");
});

test("a copy of a cluster without an event, and one without a database, are refused", async () => {
  await writeCode("code");
  await using database = await openLogDatabase();
  expect(await run({ TRAINYARD_POSTGRES_URL: database.url() })).toMatchObject({
    code: 1,
    err: "gateway: the log has no event yet\n",
  });
  const none = await run({ TRAINYARD_POSTGRES_URL: "" });
  expect(none).toMatchObject({ code: 2, err: expect.stringContaining("TRAINYARD_POSTGRES_URL") });
  expect(stored()).toEqual([]);
});

test("wrong arguments and settings, and a store that cannot be used, are one sentence", async () => {
  await writeCode("code");
  expect(await run({}, "--to", folder)).toMatchObject({
    code: 2,
    err: "gateway: usage: copy-blobs --from FOLDER, with TRAINYARD_BLOB_STORAGE\n",
  });
  expect(await run({ TRAINYARD_BLOB_STORAGE: "" })).toMatchObject({
    code: 2,
    err: "gateway: usage: copy-blobs --from FOLDER, with TRAINYARD_BLOB_STORAGE\n",
  });
  expect(await run({ TRAINYARD_BLOB_STORAGE: "s3://nowhere" })).toMatchObject({
    code: 1,
    err: "gateway: the bucket nowhere of s3://nowhere does not exist\n",
  });
  const away = `http://127.0.0.1:${await freePort()}`;
  const missing = await run({ TRAINYARD_BLOB_STORAGE_ENDPOINT: away });
  expect(missing).toMatchObject({ code: 1 });
  expect(missing.err).toMatch(/^gateway: s3:\/\/code\/team cannot write .* now: .*\n$/);
  expect(await run({}, "--from", join(scratch, "none"))).toMatchObject({
    code: 1,
    err: expect.stringContaining("ENOENT"),
  });
});
