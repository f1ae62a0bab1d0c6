import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { type ObjectStore, openDirectoryBlobStore } from "@trainyard/blob";
import { openS3Store } from "@trainyard/blob/s3";
import { systemClock } from "@trainyard/kernel/system-clock";
import { encodeRequest } from "@trainyard/runtime";
import { S3Server } from "@trainyard/testing/s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestRegistry } from "./testing/test-registry.ts";

let registry: TestRegistry;

beforeAll(async () => {
  registry = await TestRegistry.start();
});
afterAll(() => registry[Symbol.asyncDispose]());

const rejectedAs = (code: string) => ({ kind: "rejected", rejection: { rejected: code } });

describe("model code", () => {
  const code = "packed code";
  const digest = createHash("sha256").update(code).digest("hex");
  const ask = (asked: string) =>
    registry.stage.ask("registry", "PlanContextDownload", { digest: asked });

  beforeAll(async () => {
    const blobs = await openDirectoryBlobStore(join(registry.folder, "blobs"), systemClock);
    async function* content() {
      yield Buffer.from(code);
    }
    await blobs.put(`contexts/${digest}.tar.gz`, content(), digest);
  });

  test("is fetched at the planned address", async () => {
    const plan = await ask(digest);
    if (plan.kind !== "ok") throw new Error("no plan");
    const response = await fetch(plan.reply.url);
    expect([response.status, await response.text()]).toEqual([200, code]);
    expect(response.headers.get("content-length")).toBe(String(code.length));
  });

  test("that was deleted and stored again has another address, and the old file is not fetched", async () => {
    const again = createHash("sha256").update("again").digest("hex");
    const stream = `content-contexts.${again}`;
    await registry.stage.tell(
      stream,
      { type: "ContentDeletionStarted", data: {} },
      { type: "ContentDeleted", data: {} },
    );
    const blobs = await openDirectoryBlobStore(join(registry.folder, "blobs"), systemClock);
    const stored = async (key: string) => {
      await blobs.put(key, Readable.from([Buffer.from("again")]), again);
    };
    await stored(`contexts/${again}.tar.gz`);
    expect(await ask(again)).toMatchObject(rejectedAs("context_not_found"));
    await stored(`contexts/${again}.1.tar.gz`);
    const plan = await ask(again);
    if (plan.kind !== "ok") throw new Error("no plan");
    expect(await (await fetch(plan.reply.url)).text()).toBe("again");
  });

  test("is served at no other address", async () => {
    const plan = await ask(digest);
    if (plan.kind !== "ok") throw new Error("no plan");
    const statusOf = async (change: (url: URL) => void) => {
      const url = new URL(plan.reply.url);
      change(url);
      return (await fetch(url)).status;
    };
    expect(await statusOf((url) => url.searchParams.delete("signature"))).toBe(403);
    expect(await statusOf((url) => url.searchParams.set("expires", "9999999999999"))).toBe(403);
    expect(await statusOf((url) => (url.pathname = `/contexts/${"0".repeat(64)}.tar.gz`))).toBe(
      403,
    );
    expect(await statusOf((url) => (url.pathname = "/contexts/../../etc/passwd"))).toBe(404);
  });

  test.each(["0".repeat(64), "../x", ""])("%j is unknown", async (unknown) => {
    expect(await ask(unknown)).toMatchObject(rejectedAs("context_not_found"));
  });
});

describe("model code in an object store", () => {
  const code = Buffer.from("packed code");
  const digest = createHash("sha256").update(code).digest("hex");
  const key = `contexts/${digest}.tar.gz`;
  const credentials = { accessKeyId: "testkey", secretAccessKey: "testsecret" };
  let server: S3Server;
  let store: ObjectStore;
  let stored: TestRegistry;
  let folder: string;
  let aheadMs = 0;
  const ask = (asked: string) =>
    stored.stage.ask("registry", "PlanContextDownload", { digest: asked });

  beforeAll(async () => {
    server = await S3Server.start({ buckets: ["code"], nowMs: () => Date.now() + aheadMs });
    folder = await mkdtemp(join(tmpdir(), "trainyard-code-"));
    const file = join(folder, "credentials.json");
    const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = credentials;
    await writeFile(file, JSON.stringify({ s3: { access_key_id, secret_access_key } }), {
      mode: 0o600,
    });
    stored = await TestRegistry.start({
      TRAINYARD_BLOB_DIR: "",
      TRAINYARD_BLOB_STORAGE: "s3://code/team",
      TRAINYARD_BLOB_STORAGE_ENDPOINT: server.url,
      TRAINYARD_STORAGE_CREDENTIALS: file,
    });
    const { url: endpoint } = server;
    const place = { bucket: "code", prefix: "team", endpoint, credentials, clock: systemClock };
    store = openS3Store(place);
    await store.put(key, code);
  });
  afterAll(async () => {
    await stored[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  test("is read at a signed address of the store, which expires within minutes", async () => {
    const plan = await ask(digest);
    if (plan.kind !== "ok") throw new Error("no plan");
    const url = new URL(plan.reply.url);
    expect(url.origin).toBe(server.url);
    expect(Number(url.searchParams.get("X-Amz-Expires"))).toBe(300);
    const response = await fetch(url);
    expect([response.status, Buffer.from(await response.arrayBuffer())]).toEqual([200, code]);
    url.searchParams.set("X-Amz-Expires", "3000");
    expect((await fetch(url)).status).toBe(403);
  });

  test("that is not there is unknown", async () => {
    expect(await ask("0".repeat(64))).toMatchObject(rejectedAs("context_not_found"));
  });

  test("is not read at an address that has expired; the next plan has another one", async () => {
    const plan = await ask(digest);
    if (plan.kind !== "ok") throw new Error("no plan");
    aheadMs = 301_000;
    expect((await fetch(plan.reply.url)).status).toBe(403);
    const next = await ask(digest);
    if (next.kind !== "ok") throw new Error("no plan");
    expect((await fetch(next.reply.url)).status).toBe(200);
    aheadMs = 0;
  });

  test("is read although the registry's clock is an hour ahead or behind", async () => {
    for (const hours of [-1, 1]) {
      aheadMs = hours * 3_600_000;
      const plan = await ask(digest);
      if (plan.kind !== "ok") throw new Error("no plan");
      expect((await fetch(plan.reply.url)).status).toBe(200);
    }
    aheadMs = 0;
    await ask(digest);
  });

  /** Returns why the agent has to wait. */
  const whyNot = async (): Promise<string> => {
    const headers = { commitId: randomUUID(), authid: "agent:a1", traceparent: "" };
    const body = encodeRequest("registry", "PlanContextDownload", { digest });
    const request = { headers: { ...headers, correlationid: "" }, body };
    const bus = stored.stage.hub.connect("agent-a1");
    const reply = await bus.request("registry", "PlanContextDownload", request, 20_000);
    return reply.kind === "unavailable" ? reply.detail : reply.kind;
  };

  test("waits for a store that refuses, with the reason", async () => {
    server.deny("s3:GetObject");
    expect(await whyNot()).toMatch(/^s3:\/\/code\/team refuses to look at contexts\/.*: the cred/);
    server.allow("s3:GetObject");
    expect(await ask(digest)).toMatchObject({ kind: "ok" });
  });

  test("waits for a bucket that does not exist, with the reason", async () => {
    const bucket = server.buckets.get("code");
    server.buckets.delete("code");
    expect(await whyNot()).toBe("the bucket code of s3://code/team does not exist");
    if (bucket !== undefined) server.buckets.set("code", bucket);
  });
});
