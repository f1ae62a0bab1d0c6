import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@trainyard/kernel/system-clock";
import {
  type GcsAccount,
  GcsServer,
  type GcsServerOptions,
  newAccount,
} from "@trainyard/testing/gcs";
import { freePort, SilentServer } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { objectStoreContract } from "../contract.ts";
import { contentOf, digestsOf, leftOf, listAll, readAll, upload } from "../contract/opened.ts";
import { breakOffPlanned, sendPlanned } from "../contract/send-planned.ts";
import type { ObjectStore } from "../port.ts";
import { probeObjectStore } from "../probe.ts";
import type { GcsStoreOptions } from "./options.ts";
import { openGcsStore } from "./store.ts";

const partBytes = 10_000;
const [account, powerless] = [newAccount("tester"), newAccount("powerless")];

const credentialsOf = ({ client_email, private_key }: GcsAccount) => ({
  clientEmail: client_email,
  privateKey: private_key,
});

function openAt(
  server: { readonly url: string },
  options: Partial<GcsStoreOptions> = {},
): ObjectStore {
  return openGcsStore({
    bucket: "bucket",
    prefix: "/some/prefix/",
    endpoint: server.url,
    credentials: credentialsOf(account),
    clock: systemClock,
    partBytes,
    ...options,
  });
}

function startServer(options: Partial<GcsServerOptions> = {}): Promise<GcsServer> {
  return GcsServer.start({
    buckets: ["bucket"],
    accounts: [account, powerless],
    limits: { chunkBytes: 1_000, listedMax: 10, rewrittenBytesMax: 15_000 },
    ...options,
  });
}

type Opened = AsyncDisposable & { readonly server: GcsServer; readonly store: ObjectStore };

async function opened(
  ofServer: Partial<GcsServerOptions> = {},
  ofStore: Partial<GcsStoreOptions> = {},
): Promise<Opened> {
  const server = await startServer(ofServer);
  const store = openAt(server, ofStore);
  return {
    server,
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const rights = [
  "storage.objects.create",
  "storage.objects.delete",
  "storage.objects.get",
  "storage.objects.list",
] as const;

describe("gcs", () => {
  objectStoreContract(async () => {
    let aheadMs = 0;
    const server = await startServer({ nowMs: () => Date.now() + aheadMs });
    for (const action of rights) server.deny(action, powerless);
    // A token that the account signs itself is valid for an hour by the account's clock.
    const ahead = {
      clock: { ...systemClock, nowMs: () => Date.now() + aheadMs },
      planSeconds: 600,
    };
    const stores = {
      store: openAt(server, ahead),
      another: openAt(server, ahead),
      refused: openAt(server, { credentials: credentialsOf(powerless) }),
      away: openAt({ url: `http://127.0.0.1:${await freePort()}` }, { attemptsMax: 1 }),
      nowhere: openAt(server, { bucket: "no-such-bucket" }),
    };
    return {
      ...stores,
      send: sendPlanned,
      breakOff: breakOffPlanned,
      wait: (ms) => {
        aheadMs += ms;
      },
      async [Symbol.asyncDispose]() {
        for (const store of Object.values(stores)) await store[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  });
});

const sent = { send: sendPlanned, breakOff: breakOffPlanned };

describe("gcs adapter", () => {
  test("an object has the MD5 of its bytes after every kind of upload, and its session is deleted", async () => {
    await using at = await opened();
    for (const bytes of [100, 2 * partBytes + 1]) {
      const file = await upload({ ...at, ...sent }, "a/file", contentOf(bytes));
      const head = await at.store.finishUpload("a/file", file);
      expect(head).toEqual({ bytes, checksum: { kind: "md5", value: file.md5 } });
    }
    const names = [...(at.server.buckets.get("bucket")?.objects.keys() ?? [])];
    expect(names).toEqual(["some/prefix/a/file"]);
  });

  test("objects are encrypted with the named key, whichever request creates them", async () => {
    const kmsKey = "projects/p/locations/l/keyRings/r/cryptoKeys/k";
    await using at = await opened({}, { kmsKey });
    await at.store.put("put", Buffer.from("x"));
    for (const [key, bytes] of [
      ["single", 100],
      ["session", 2 * partBytes + 1],
    ] as const) {
      await at.store.finishUpload(key, await upload({ ...at, ...sent }, key, contentOf(bytes)));
    }
    await at.store.copy("session", "copy");
    const objects = [...(at.server.buckets.get("bucket")?.objects.values() ?? [])];
    expect(objects.map((object) => object.kmsKey)).toEqual([kmsKey, kmsKey, kmsKey, kmsKey]);
    await using plain = openAt(at.server);
    await plain.put("plain", Buffer.from("x"));
    const object = at.server.buckets.get("bucket")?.objects.get("some/prefix/plain");
    expect(object?.kmsKey).toBeNull();
  });

  test("upload sessions are stored beside the files and appear in no listing", async () => {
    await using at = await opened();
    await upload({ ...at, ...sent }, "a/file", contentOf(2 * partBytes), 1);
    expect(await listAll(at.store, "")).toEqual([]);
    expect(at.server.buckets.get("bucket")?.objects.size).toBe(1);
    await at.store.abortUploads("a/");
    expect(at.server.buckets.get("bucket")?.objects.size).toBe(0);
  });

  test("the store refuses a request with another size, digest or header than the platform signed", async () => {
    await using at = await opened();
    const content = contentOf(100);
    const [part] = (await at.store.planUpload("a", digestsOf(content, partBytes))).parts;
    if (part === undefined) throw new Error("nothing was planned");
    const { request } = part;
    const trials: readonly Readonly<Record<string, string>>[] = [
      { ...request.headers, "content-length": "99" },
      { ...request.headers, "content-md5": Buffer.alloc(16).toString("base64") },
      { ...request.headers, "x-goog-acl": "public-read" },
      { ...request.headers, "x-goog-content-length-range": "0,1000" },
      { "content-length": "100" },
    ];
    for (const headers of trials) {
      const bytes = Number(headers["content-length"]);
      const { status } = await sendPlanned({ ...request, headers }, content.subarray(0, bytes));
      expect([400, 403]).toContain(status);
    }
    const other = { ...request, url: request.url.replace("/a?", "/b?") };
    expect((await sendPlanned(other, content)).status).toBe(403);
    expect((await sendPlanned({ ...request, method: "GET" }, content)).status).toBe(403);
    expect(at.server.buckets.get("bucket")?.objects.size).toBe(0);
    expect((await sendPlanned(request, content)).status).toBe(200);
  });

  test("a session accepts only the announced content, and the next plan begins a new session", async () => {
    await using at = await opened();
    const content = contentOf(2 * partBytes + 5);
    const file = digestsOf(content, partBytes);
    const [part] = (await at.store.planUpload("a", file)).parts;
    if (part === undefined) throw new Error("nothing was planned");
    const answer = await sendPlanned(part.request, contentOf(content.length, 2));
    expect(answer.status).toBe(400);
    expect(String(answer.content)).toContain("doesn't match calculated");
    expect(await at.store.head("a")).toBeNull();
    expect(leftOf(await at.store.planUpload("a", file))).toBe(content.length);
    await upload({ ...at, ...sent }, "a", content);
    expect(await readAll(at.store, "a")).toEqual(content);
  });

  test("a stored session whose address is not the store's is ignored", async () => {
    await using at = await opened();
    const file = digestsOf(contentOf(2 * partBytes), partBytes);
    await at.store.planUpload("a", file);
    const objects = at.server.buckets.get("bucket")?.objects;
    const name =
      [...(objects?.keys() ?? [])].find((one) => one.endsWith(".trainyard-uploads/a")) ?? "";
    const kept = objects?.get(name);
    if (kept === undefined) throw new Error("no session is kept");
    // No server listens at this address: a request would fail.
    const address = "http://127.0.0.1:9/upload/storage/v1/b/bucket/o?x=1";
    const forged = Buffer.from(JSON.stringify({ ...file, address }));
    const pieces = [{ file: null, bytes: forged.length, kept: forged }];
    objects?.set(name, { ...kept, pieces, bytes: forged.length });
    const [part] = (await at.store.planUpload("a", file)).parts;
    expect(part?.request.url).toContain(at.server.url);
  });

  test("a session that the store has forgotten is replaced", async () => {
    await using at = await opened();
    const content = contentOf(2 * partBytes);
    await upload({ ...at, ...sent }, "a", content, 1);
    at.server.buckets.get("bucket")?.sessions.clear();
    const file = digestsOf(content, partBytes);
    expect(leftOf(await at.store.planUpload("a", file))).toBe(content.length);
    await at.store.finishUpload("a", await upload({ ...at, ...sent }, "a", content));
    expect(await readAll(at.store, "a")).toEqual(content);
  });

  test("concurrent planners agree on one session", async () => {
    await using at = await opened();
    const content = contentOf(3 * partBytes);
    const file = digestsOf(content, partBytes);
    const plans = await Promise.all(
      Array.from({ length: 6 }, () => at.store.planUpload("a", file)),
    );
    const urls = new Set(plans.map(({ parts: [part] }) => part?.request.url));
    expect(urls.size).toBe(1);
    const sessions = [...(at.server.buckets.get("bucket")?.sessions.values() ?? [])];
    expect(sessions.filter(({ state }) => state === "open")).toHaveLength(1);
  });

  test("a file without an MD5 is not planned: no signature could bind its content", async () => {
    await using at = await opened();
    const file = { ...digestsOf(contentOf(10), partBytes), md5: "" };
    await expect(at.store.planUpload("a", file)).rejects.toMatchObject({ code: "wrong_digests" });
  });

  test("the probe finds no problem, reports a checksum, and deletes its object", async () => {
    await using at = await opened();
    expect(await probeObjectStore(at.store)).toEqual({ problems: [], keepsChecksums: true });
    expect(at.server.buckets.get("bucket")?.objects.size).toBe(0);
  });

  test.each([
    ["storage.objects.create", ["write", "upload in parts"]],
    ["storage.objects.get", ["read", "upload in parts"]],
    ["storage.objects.list", ["list", "upload in parts"]],
    ["storage.objects.delete", ["upload in parts", "delete"]],
  ] as const)("the probe names the missing permission %s", async (action, actions) => {
    await using at = await opened();
    at.server.deny(action, account);
    const { problems } = await probeObjectStore(at.store);
    expect(problems.map((problem) => problem.action)).toEqual(actions);
    for (const { detail } of problems) expect(detail).toContain(action);
  });
});

describe("failing gcs", () => {
  test.each([
    { kind: "status", status: 503, code: "backendError" } as const,
    { kind: "status", status: 429, code: "rateLimitExceeded" } as const,
    { kind: "status", status: 403, code: "rateLimitExceeded" } as const,
    { kind: "reset" } as const,
    { kind: "lost_answer" } as const,
  ])("a call that fails twice with $kind $status succeeds", async (failure) => {
    await using at = await opened();
    at.server.failures.add({ failure, times: 2 });
    expect(await at.store.put("a", Buffer.from("x"))).toBe(true);
    at.server.failures.add({ failure, times: 2 });
    expect(await at.store.head("a")).toMatchObject({ bytes: 1 });
    at.server.failures.add({ failure, times: 2 });
    expect(String(await readAll(at.store, "a"))).toBe("x");
  });

  test("a store that always throttles, or never responds, is reported as unavailable", async () => {
    await using at = await opened({}, { attemptsMax: 2 });
    const failure = { kind: "status", status: 503, code: "backendError" } as const;
    at.server.failures.add({ failure, times: 2 });
    await expect(at.store.put("a", Buffer.from("x"))).rejects.toThrow(
      /^gs:\/\/bucket\/some\/prefix cannot write a now: 503 backendError/,
    );
    await using silent = await SilentServer.start();
    await using quiet = openAt(silent, { attemptsMax: 2, silenceMs: 200 });
    for (const call of [() => quiet.head("a"), () => quiet.open("a")]) {
      await expect(call()).rejects.toMatchObject({ code: "storage_away" });
      await expect(call()).rejects.toThrow("it does not answer");
    }
  });

  test("a session that starts without an address is a Fault, and no session object is stored", async () => {
    const kept: string[] = [];
    const server = createServer((request, response) => {
      const asked = new URL(request.url ?? "", "http://x").searchParams.get("uploadType");
      if (asked === "media") kept.push(request.url ?? "");
      response.writeHead(request.method === "POST" ? 200 : 404).end('{"generation":"1"}');
      request.resume();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    try {
      await using store = openAt({ url: `http://127.0.0.1:${port}` });
      const file = digestsOf(contentOf(2 * partBytes), partBytes);
      const planned = store.planUpload("a", file, { absent: true });
      await expect(planned).rejects.toMatchObject({ code: "storage_away", retry: "later" });
      await expect(planned).rejects.toThrow("cannot begin an upload of a now: its answer has no");
      expect(kept).toEqual([]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test("content that breaks off is a Fault, not the end of the object", async () => {
    await using at = await opened();
    await at.store.put("a", contentOf(100_000));
    const failure = { kind: "truncated", afterBytes: 70_000 } as const;
    at.server.failures.add({ failure, operation: "GetObject" });
    await expect(readAll(at.store, "a")).rejects.toMatchObject({ code: "storage_away" });
    expect(await readAll(at.store, "a")).toEqual(contentOf(100_000));
  });

  test("a permission revoked between two requests is a Fault that names it, and no object counts as absent", async () => {
    await using at = await opened();
    await at.store.put("a", Buffer.from("x"));
    at.server.deny("storage.objects.get", account);
    await expect(at.store.head("a")).rejects.toThrow(/refuses to look at a: .*storage.objects.get/);
    await expect(at.store.open("a")).rejects.toMatchObject({ code: "storage_refused" });
    at.server.deny("storage.objects.delete", account);
    await expect(at.store.delete(["a", "b"])).rejects.toThrow(/storage.objects.delete/);
    at.server.allow("storage.objects.get", account);
    at.server.deny("storage.objects.list", account);
    await expect(at.store.head("absent")).rejects.toMatchObject({ code: "storage_refused" });
  });

  test("credentials of an unknown account or with a wrong key are refused with a readable message", async () => {
    await using at = await opened();
    const wrong = [
      newAccount("unknown"),
      { ...newAccount("x"), client_email: account.client_email },
    ];
    for (const one of wrong) {
      await using store = openAt(at.server, { credentials: credentialsOf(one) });
      const asked = store.head("a");
      await expect(asked).rejects.toMatchObject({ code: "storage_refused" });
      await expect(asked).rejects.toThrow("the credentials are wrong");
    }
  });
});
