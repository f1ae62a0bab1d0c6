/** The rest of an upload, with the SDK's program, planned requests, and a strict S3 server. */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { checkpointKey, type FileDigests, type ObjectStore } from "@trainyard/blob";
import { openS3Store } from "@trainyard/blob/s3";
import { systemClock } from "@trainyard/kernel/system-clock";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { ownVariables } from "../testing/agent-config.ts";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { uploadCheckpoint } from "./checkpoint-upload.ts";

vi.setConfig({ testTimeout: 60_000 });
afterAll(removeFolders);

const checkpoint = "00000000-0000-4000-8000-00000000000f";
const host = {
  sdkPath: join(import.meta.dirname, "../../../../libs/sdk-python/src"),
  inherited: ownVariables(),
};

let s3: S3Server;
let store: ObjectStore;
let platform: Server;
/** A refusal of the platform instead of a plan; null for a plan. */
let refusal: { readonly status: number; readonly body: object } | null;
let plans: number;

type Asked = { readonly path: string; readonly bytes: number; readonly sha256: string };

/** Plans files of one part, as the registry does. */
async function planOf({ path, bytes, sha256 }: Asked) {
  const parts: FileDigests["parts"] = [{ sha256 }];
  const digests = { bytes, sha256, parts, md5: "", crc32c: "" };
  const planned = await store.planUpload(checkpointKey(checkpoint, path), digests);
  return { path, parts: planned.parts };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  plans += 1;
  const { files } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { files: Asked[] };
  const { status, body } = refusal ?? {
    status: 200,
    body: { files: await Promise.all(files.map(planOf)) },
  };
  const kind = status < 300 ? "application/json" : "application/problem+json";
  response.writeHead(status, { "content-type": kind }).end(JSON.stringify(body));
}

async function openStore(options: { readonly keepsChecksums?: boolean } = {}): Promise<void> {
  s3 = await S3Server.start({ buckets: ["models"], ...options });
  const endpoint = { endpoint: s3.url, credentials: testUser, clock: systemClock };
  store = openS3Store({ bucket: "models", prefix: "team", ...endpoint });
}

beforeEach(async () => {
  await openStore();
  refusal = null;
  plans = 0;
  platform = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => platform.listen(0, "127.0.0.1", resolve));
});

afterEach(async () => {
  platform.closeAllConnections();
  platform.close();
  await store[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

const sha256Of = (content: Uint8Array): string =>
  createHash("sha256").update(content).digest("hex");

/** Makes a sealed folder with these files, and the order to send it. */
function orderOf(files: Readonly<Record<string, Buffer>>) {
  const folder = newFolder();
  const manifest = Object.entries(files).map(([path, content]) => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), content);
    return { path, bytes: content.length, sha256: sha256Of(content) };
  });
  const { port } = platform.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return { url, token: "token", run: "1.1#1", checkpoint, folder, manifest };
}

const send = (order: ReturnType<typeof orderOf>, silenceMs?: number) =>
  uploadCheckpoint(order, host, null, new AbortController().signal, silenceMs);
const puts = () => s3.served.filter(({ operation }) => operation === "PutObject");

test("every file is stored as it was sealed, and the manifest has the checksums that the store compares", async () => {
  const files = { model: randomBytes(3_000_000), "a/b": Buffer.from("b"), empty: Buffer.alloc(0) };
  const order = orderOf(files);
  const end = await send(order);
  expect(end).toMatchObject({ kind: "sent", manifest: order.manifest });
  for (const [path, content] of Object.entries(files)) {
    expect(await store.head(checkpointKey(checkpoint, path))).toMatchObject({
      bytes: content.length,
      checksum: { kind: "sha256", value: createHash("sha256").update(content).digest("base64") },
    });
  }
});

test("content that the store has already is not sent again", async () => {
  const order = orderOf({ a: Buffer.from("1"), b: Buffer.from("2") });
  await store.put(checkpointKey(checkpoint, "a"), Buffer.from("1"));
  const before = puts().length;
  expect(await send(order)).toMatchObject({ kind: "sent" });
  expect(puts().slice(before)).toMatchObject([{ key: `team/${checkpoint}/b`, status: 200 }]);
});

test("a store that keeps no checksum is sent each file once", async () => {
  await s3[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  await openStore({ keepsChecksums: false });
  expect(await send(orderOf({ a: Buffer.from("1"), b: Buffer.from("2") }))).toMatchObject({
    kind: "sent",
  });
  expect(puts()).toHaveLength(2);
});

test("an unavailable platform is retried later, and its refusal is final", async () => {
  const order = orderOf({ a: Buffer.from("1") });
  refusal = { status: 503, body: { detail: "it restarts" } };
  expect(await send(order)).toMatchObject({ kind: "later", why: "it restarts" });
  refusal = { status: 429, body: { code: "rate_limited", detail: "try again in 1 s" } };
  expect(await send(order)).toMatchObject({ kind: "later", why: "try again in 1 s" });
  refusal = { status: 404, body: { code: "run_not_found", detail: "the log went back" } };
  expect(await send(order)).toMatchObject({ kind: "later", why: "the log went back" });
  refusal = { status: 409, body: { code: "run_superseded", detail: "run 2 was requested" } };
  expect(await send(order)).toEqual({ kind: "refused", why: "run 2 was requested" });
  refusal = null;
  expect(await send({ ...order, url: "http://127.0.0.1:9" })).toMatchObject({ kind: "later" });
});

test("files that an attempt has read are not read by the next one, which sends only those that the store lacks", async () => {
  const order = orderOf({ a: Buffer.from("1"), b: Buffer.from("2") });
  await store.put(checkpointKey(checkpoint, "a"), Buffer.from("1"));
  refusal = { status: 503, body: { detail: "it restarts" } };
  const end = await send(order);
  const manifest = "manifest" in end ? (end.manifest ?? []) : [];
  expect(manifest).toMatchObject(order.manifest);
  refusal = null;
  // The store has the file, so its present content is not read.
  writeFileSync(join(order.folder, "a"), "x");
  const next = { ...order, manifest, digested: true };
  const sent = await uploadCheckpoint(next, host, null, new AbortController().signal);
  expect(sent).toEqual({ kind: "sent", manifest });
});

test("a file that differs from its manifest is refused by name", async () => {
  const order = orderOf({ weights: Buffer.from("good") });
  writeFileSync(join(order.folder, "weights"), "evil");
  const end = await send(order);
  expect(end).toMatchObject({ kind: "refused", why: expect.stringContaining("weights") });
  expect(plans).toBe(0);
});

test("an upload without progress is ended and left to a later attempt", async () => {
  const order = orderOf({ a: Buffer.from("1") });
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  const end = await send({ ...order, url: `http://127.0.0.1:${port}` }, 2_000);
  silent.closeAllConnections();
  silent.close();
  expect(end).toEqual({
    kind: "later",
    why: `the upload of checkpoint ${checkpoint} made no progress for 2 s`,
  });
});

test("the end of the agent ends the upload and leaves it to the next agent", async () => {
  const order = orderOf({ a: Buffer.from("1") });
  const stop = new AbortController();
  const sending = uploadCheckpoint(order, host, null, stop.signal);
  stop.abort();
  expect(await sending).toMatchObject({ kind: "later" });
});
