/** Tests of the commands about storages, with a simulated registry and a folder in place of the mount. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  markStorage,
  readStorageMarker,
  storageMarkerName,
  writeStorageMarker,
} from "@trainyard/blob";
import { programFile } from "@trainyard/kernel/program-file";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { storageFindings } from "./cluster-doctor.ts";

const main = programFile(join(import.meta.dirname, "..", "main.ts"));
const first = "00000000-0000-4000-8000-00000000000a";
const lost = "00000000-0000-4000-8000-00000000000b";
const log = "00000000-0000-7000-8000-000000000001";
const event = "00000000-0000-7000-8000-000000000007";
const owner = { log, witnessPosition: "7", witnessEvent: event };
const mark = { log, witness: { position: 7, id: event } };
const checkpoint = "00000000-0000-4000-8000-000000000001";

let root: string;
let server: Server;
let items: object[];
let adopted: object[];
let hold: object;
let released: object[];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "storage-"));
  [items, adopted, released] = [[], [], []];
  hold = {};
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(answerOf(request.method ?? "", request.url ?? "", body)));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  rmSync(root, { recursive: true });
});

function answerOf(method: string, url: string, body: string): object {
  if (url.includes("/storages:hold")) return hold;
  if (url.includes("/storages:release")) {
    released.push(JSON.parse(body) as object);
    return { position: "8" };
  }
  if (method === "GET") return { items, owner };
  adopted.push(JSON.parse(body) as object);
  return { position: "7", checkpoints: 3, storageId: first };
}

const entry = (storageId: string, more: object = {}) => ({
  root,
  storageId,
  countsAs: storageId,
  checkpoints: 3,
  condemned: 1,
  leftOver: 2,
  examples: [checkpoint],
  ...more,
});

async function yard(...args: readonly string[]) {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { PATH, TY_TEST_RUN } = process.env;
  const env = { PATH, TY_TEST_RUN, TRAINYARD_URL: url, TRAINYARD_TOKEN: "t" };
  const child = spawn(process.execPath, [main, "storage", ...args], { env });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, out, err };
}

test("storage list marks the storages whose id is unknown, and says what to do about it", async () => {
  items = [entry(""), entry(first)];
  const { code, out, err } = await yard("list");
  expect(code).toBe(0);
  expect(out).toMatch(/ROOT +STORAGE +COUNTS AS +CHECKPOINTS +TO DELETE +LEFT OVER +HELD/);
  expect(out).toContain("not declared");
  expect(out).toContain(first);
  expect(err).toContain(`the storage of 5 checkpoints under ${root} is unknown`);
  expect(err).toContain(`yard storage adopt ${root}`);
});

test("storage adopt marks a storage that could not be marked before, and prints its id", async () => {
  items = [entry("")];
  mkdirSync(join(root, checkpoint));
  const dry = await yard("adopt", root, "--dry-run");
  expect([dry.code, dry.out]).toEqual([0, expect.stringContaining("3 checkpoints would count")]);
  expect([adopted, readdirSync(root)]).toEqual([[], [checkpoint]]);
  const done = await yard("adopt", root);
  expect([done.code, done.out]).toEqual([0, expect.stringContaining("1 of the 1")]);
  const seen = await readStorageMarker(root);
  expect(adopted).toEqual([{ root, storageId: seen.kind === "marked" ? seen.id : "" }]);
});

test("storage adopt uses the id of an existing marker, and replaces no id without --replace", async () => {
  items = [entry(""), entry(lost)];
  mkdirSync(join(root, checkpoint));
  await markStorage(root, first);
  const { err } = await yard("adopt", root);
  expect(err).toContain(`run this with --replace ${lost}`);
  await yard("adopt", root, "--replace", lost);
  expect(adopted).toEqual([
    { root, storageId: first },
    { root, storageId: first, replacedIds: [lost] },
  ]);
});

test("storage adopt says that all checkpoints of the storage are counted as stored there already", async () => {
  items = [entry(first)];
  await markStorage(root, first);
  const { code, out } = await yard("adopt", root);
  expect([code, out]).toEqual([0, expect.stringContaining("all counted as stored there already")]);
});

test.each([
  ["deleted", () => {}],
  ["damaged", () => writeFileSync(join(root, storageMarkerName), "")],
])("storage adopt writes a %s marker again with the id of the checkpoints", async (_, spoil) => {
  items = [entry(first)];
  mkdirSync(join(root, checkpoint));
  spoil();
  expect((await yard("adopt", root)).code).toBe(0);
  expect(await readStorageMarker(root)).toEqual({ kind: "marked", id: first, owner: mark });
});

test("storage adopt takes over a directory whose marker names another cluster, and keeps its id", async () => {
  items = [entry(first, { held: `${root} belongs to another cluster` })];
  mkdirSync(join(root, checkpoint));
  const another = { log: lost, witness: { position: 3, id: lost } };
  await writeStorageMarker(root, { id: first, owner: another });
  const listed = await yard("list");
  expect(listed.out).toContain("yes");
  expect(listed.err).toContain(`nothing is removed or replaced in ${root}: ${root} belongs to`);
  expect((await yard("adopt", root)).code).toBe(0);
  expect(await readStorageMarker(root)).toEqual({ kind: "marked", id: first, owner: mark });
});

test("storage adopt --id writes the id of the checkpoints over a marker that somebody made", async () => {
  items = [entry(first)];
  mkdirSync(join(root, checkpoint));
  await markStorage(root, lost);
  expect((await yard("adopt", root, "--id", first)).code).toBe(0);
  expect(await readStorageMarker(root)).toEqual({ kind: "marked", id: first, owner: mark });
  expect(adopted).toEqual([{ root, storageId: first, replacedIds: [lost] }]);
});

test("storage adopt lets the platform write the marker of a bucket", async () => {
  const address = "s3://models/team at https://minio.internal";
  items = [entry(first, { root: address })];
  const { code, out } = await yard("adopt", address);
  expect([code, out]).toEqual([0, expect.stringContaining(`${address} is storage ${first}: 3`)]);
  expect(adopted).toEqual([{ root: address }]);
});

test("storage adopt asks for --id if the path has had several storages", async () => {
  items = [entry(first), entry(lost)];
  mkdirSync(join(root, checkpoint));
  const { code, err } = await yard("adopt", root);
  expect([code, err]).toEqual([2, expect.stringContaining("Say with --id")]);
  expect((await yard("adopt", root, "--id", lost)).code).toBe(0);
  expect(await readStorageMarker(root)).toEqual({ kind: "marked", id: lost, owner: mark });
});

test("storage adopt refuses an empty mount point, and leaves it unmarked", async () => {
  items = [entry("")];
  const { code, err } = await yard("adopt", root);
  expect([code, err]).toEqual([1, expect.stringContaining("is their storage mounted here?")]);
  expect([adopted, readdirSync(root)]).toEqual([[], []]);
});

test.each([
  [
    "a path that no checkpoint was declared under",
    ["/elsewhere"],
    "No checkpoint was declared under /elsewhere",
  ],
  ["an id that is none", [".", "--id", "x"], "--id takes the id of a storage"],
  ["an id that no checkpoint has", [".", "--replace", lost], "was written to a storage"],
])("storage adopt with %s is refused in a sentence", async (_, args, sentence) => {
  items = [entry("")];
  const [path = "", ...rest] = args;
  const { code, err } = await yard("adopt", path === "." ? root : path, ...rest);
  expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
  expect(adopted).toEqual([]);
});

describe("after the log went back", () => {
  const unfinished = { checkpoint, trial: "4.2", run: 1, step: 70, state: "void", sinceMs: 1 };
  const held = {
    hold: {
      sinceMs: Date.parse("2026-11-29T10:00:00Z"),
      position: "58",
      event: "lost",
      noticedBy: "relay",
      detail: "the log went back: relay had event lost at position 58",
    },
    items: [{ ...unfinished, place: `/shared/${checkpoint}` }],
    nextPageToken: "",
  };
  const sentence = "deletions are held since 2026-11-29 10:00:00: the log went back";

  test("storage list says that deletions are held, and by what", async () => {
    items = [entry(first)];
    expect((await yard("list")).err).not.toContain("held");
    hold = held;
    const { code, err } = await yard("list");
    expect([code, err]).toEqual([0, expect.stringContaining(sentence)]);
    expect(err).toContain("yard storage release");
  });

  test("storage release lists what was never completed, and releases nothing without a yes", async () => {
    [items, hold] = [[entry(first)], held];
    const dry = await yard("release", "--dry-run");
    expect([dry.code, dry.out]).toEqual([0, expect.stringContaining(sentence)]);
    expect(dry.out).toMatch(
      new RegExp(`${checkpoint} +4\\.2 +70 +abandoned +1970-01-01 00:00:00 +/shared/${checkpoint}`),
    );
    expect(dry.out).toContain("1 checkpoint is deleted once its grace is over");
    // A program without a terminal is not asked.
    const { code, err } = await yard("release");
    expect([code, err]).toEqual([2, expect.stringContaining("Pass --yes")]);
    expect(released).toEqual([]);
    expect((await yard("release", "--yes", "--reason", "compared")).code).toBe(0);
    expect(released).toEqual([{ reason: "compared" }]);
  });

  test("storage release without a hold changes nothing", async () => {
    const { code, err } = await yard("release", "--yes");
    expect([code, err]).toEqual([0, expect.stringContaining("no deletions are held")]);
    expect(released).toEqual([]);
  });
});

test("the doctor names held storages, and a marker that a run can replace", async () => {
  items = [entry(first, { held: "it belongs to another cluster" })];
  await markStorage(root, first);
  const access = { api: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: "t" };
  const detail = `nothing is removed or replaced in ${root}: it belongs to another cluster`;
  expect(await storageFindings(access)).toEqual([{ check: "storages", state: "problem", detail }]);
  items = [entry(first)];
  expect(await storageFindings(access)).toMatchObject([{ state: "ok" }]);
  chmodSync(root, 0o1777);
  expect(await storageFindings(access)).toMatchObject([{ state: "ok" }]);
  // Only root can give a file away.
  if (process.getuid?.() !== 0) return;
  chownSync(join(root, storageMarkerName), 61_234, 61_234);
  expect(await storageFindings(access)).toMatchObject([
    { state: "problem", detail: expect.stringContaining("the user 61234 of a run") },
  ]);
});
