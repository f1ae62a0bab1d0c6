import { systemClock } from "@trainyard/kernel/system-clock";
import { S3Server, type S3ServerOptions } from "@trainyard/testing/s3";
import { freePort } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { objectStoreContract } from "../contract.ts";
import { contentOf, digestsOf, readAll, upload } from "../contract/opened.ts";
import type { ObjectStore } from "../port.ts";
import { sendPlanned } from "../contract/send-planned.ts";
import type { S3StoreOptions } from "./options.ts";
import { openS3Store } from "./store.ts";

const partBytes = 10_000;
const credentials = { accessKeyId: "testkey", secretAccessKey: "testsecret" };
const powerless = { accessKeyId: "powerless", secretAccessKey: "none" };

function openAt(server: Pick<S3Server, "url">, options: Partial<S3StoreOptions> = {}): ObjectStore {
  return openS3Store({
    bucket: "bucket",
    prefix: "/some/prefix/",
    endpoint: server.url,
    credentials,
    clock: systemClock,
    partBytes,
    ...options,
  });
}

function startServer(options: Partial<S3ServerOptions> = {}): Promise<S3Server> {
  return S3Server.start({
    buckets: ["bucket"],
    users: [credentials, powerless],
    limits: { partBytesMin: partBytes, listedMax: 10, copyBytesMax: 1_000_000 },
    ...options,
  });
}

type Opened = AsyncDisposable & { readonly server: S3Server; readonly store: ObjectStore };

async function opened(
  ofServer: Partial<S3ServerOptions> = {},
  ofStore: Partial<S3StoreOptions> = {},
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

describe("s3", () => {
  objectStoreContract(async () => {
    let aheadMs = 0;
    const server = await startServer({ nowMs: () => Date.now() + aheadMs });
    for (const action of [
      "s3:AbortMultipartUpload",
      "s3:DeleteObject",
      "s3:GetObject",
      "s3:ListBucket",
      "s3:ListBucketMultipartUploads",
      "s3:ListMultipartUploadParts",
      "s3:PutObject",
    ] as const) {
      server.deny(action, powerless);
    }
    const stores = {
      store: openAt(server),
      another: openAt(server),
      refused: openAt(server, { credentials: powerless }),
      away: openAt({ url: `http://127.0.0.1:${await freePort()}` }, { attemptsMax: 1 }),
      nowhere: openAt(server, { bucket: "no-such-bucket" }),
    };
    return {
      ...stores,
      send: sendPlanned,
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

const sent = { send: sendPlanned };
const operationsOf = (server: S3Server): readonly string[] =>
  server.served.map(({ operation }) => operation);

describe("s3 adapter", () => {
  test("a single upload has the SHA-256 of its bytes, a multipart upload the SHA-256 of its parts' digests", async () => {
    await using at = await opened();
    const whole = digestsOf(contentOf(100), partBytes);
    await upload({ ...at, ...sent }, "whole", contentOf(100));
    const value = Buffer.from(whole.sha256, "hex").toString("base64");
    expect((await at.store.finishUpload("whole", whole)).checksum).toEqual({
      kind: "sha256",
      value,
    });
    const content = contentOf(2 * partBytes + 1);
    const head = await at.store.finishUpload(
      "parts",
      await upload({ ...at, ...sent }, "parts", content),
    );
    expect(head.checksum).toMatchObject({ kind: "sha256-parts", parts: 3 });
  });

  test("the store refuses a part with another size, digest or header than the platform signed", async () => {
    await using at = await opened();
    const content = contentOf(100);
    const [part] = (await at.store.planUpload("a", digestsOf(content, partBytes))).parts;
    if (part === undefined) throw new Error("nothing was planned");
    const { request } = part;
    const trials: readonly Readonly<Record<string, string>>[] = [
      { ...request.headers, "content-length": "99" },
      { ...request.headers, "x-amz-checksum-sha256": Buffer.alloc(32).toString("base64") },
      { ...request.headers, "x-amz-acl": "public-read" },
      { "content-length": "100" },
    ];
    for (const headers of trials) {
      const bytes = Number(headers["content-length"]);
      const { status } = await sendPlanned({ ...request, headers }, content.subarray(0, bytes));
      expect(status).toBe(403);
    }
    expect((await sendPlanned({ ...request, method: "GET" }, content)).status).toBe(403);
    expect(
      (await sendPlanned({ ...request, url: request.url.replace("/a?", "/b?") }, content)).status,
    ).toBe(403);
    expect((await sendPlanned(request, content)).status).toBe(200);
  });

  test.each([
    { encryption: { kind: "s3" } as const, header: "AES256" },
    { encryption: { kind: "kms", keyId: "arn:key/1" } as const, header: "aws:kms" },
  ])("every created object is encrypted with $header", async ({ encryption, header }) => {
    await using at = await opened({}, { encryption });
    const content = contentOf(2 * partBytes);
    await at.store.put("put", Buffer.from("x"));
    await at.store.finishUpload(
      "single",
      await upload({ ...at, ...sent }, "single", contentOf(10)),
    );
    await at.store.finishUpload("parts", await upload({ ...at, ...sent }, "parts", content));
    await at.store.copy("put", "copy");
    const objects = [...(at.server.buckets.get("bucket")?.objects.values() ?? [])];
    expect(objects).toHaveLength(4);
    for (const { headers, key } of objects) {
      expect(headers["x-amz-server-side-encryption"], key).toBe(header);
    }
  });

  test("an object above the limit of one copy request is copied in parts and counts as uploaded", async () => {
    await using at = await opened({}, { copyBytesMax: 15_000 });
    const content = contentOf(3 * partBytes + 1);
    const file = await upload({ ...at, ...sent }, "from", content);
    await at.store.finishUpload("from", file);
    expect(await at.store.copy("from", "to")).toMatchObject({ kind: "copied" });
    expect(operationsOf(at.server).filter((one) => one === "UploadPartCopy")).toHaveLength(4);
    expect((await at.store.planUpload("to", file)).parts).toEqual([]);
    expect(await readAll(at.store, "to")).toEqual(content);
  });

  test("a copy of a known size takes one request, and its comparison takes none", async () => {
    await using at = await opened();
    const file = await upload({ ...at, ...sent }, "from", contentOf(10));
    const before = operationsOf(at.server).length;
    const copied = await at.store.copy("from", "to", 10);
    const head = copied.kind === "copied" ? copied.head : null;
    expect(head).toMatchObject({ bytes: 10, checksum: { kind: "sha256" } });
    const options = head === null ? {} : { there: head };
    expect((await at.store.planUpload("to", file, options)).parts).toEqual([]);
    expect(operationsOf(at.server).slice(before)).toEqual(["CopyObject"]);
  });

  test("a store that ignores checksums keeps none, and a part counts as stored if its size is right", async () => {
    await using at = await opened({ keepsChecksums: false });
    const content = contentOf(2 * partBytes + 1);
    const file = await upload({ ...at, ...sent }, "a", content, 1);
    expect((await at.store.planUpload("a", file)).parts).toHaveLength(2);
    await upload({ ...at, ...sent }, "a", content);
    expect(await at.store.finishUpload("a", file)).toEqual({
      bytes: content.length,
      checksum: null,
    });
    expect((await at.store.planUpload("a", file)).parts).toHaveLength(3);
  });

  test("a plan for an object that is known to be absent sends no request to look for it", async () => {
    await using at = await opened();
    const plan = await at.store.planUpload("a", digestsOf(contentOf(1), partBytes), {
      absent: true,
    });
    expect(plan.parts).toHaveLength(1);
    // This HEAD request reads the store's clock.
    expect(at.server.served.map(({ operation }) => operation)).toEqual(["HeadBucket"]);
  });

  test("a bucket can be the first label of the host", async () => {
    await using at = await opened();
    const store = openAt(
      { url: at.server.url.replace("127.0.0.1", "localhost") },
      { pathStyle: false },
    );
    const { url } = await store.planDownload("a");
    expect(url).toMatch(/^http:\/\/bucket\.localhost:\d+\/some\/prefix\/a\?/);
    await at.store.put("a", Buffer.from("x"));
    const headers = { host: new URL(url).host };
    const planned = {
      method: "GET",
      url: url.replace("bucket.localhost", "127.0.0.1"),
      headers,
    } as const;
    const answer = await sendPlanned(
      { ...planned, accepted: [200], expiresAtMs: 0 },
      Buffer.alloc(0),
    );
    expect(Buffer.from(answer.content).toString()).toBe("x");
  });

  test("credentials with a session token work, and a plan expires with them", async () => {
    const temporary = { ...credentials, sessionToken: "token" };
    await using at = await opened({ users: [temporary] }, { credentials: temporary });
    await at.store.put("a", Buffer.from("x"));
    const planned = await at.store.planDownload("a");
    expect((await sendPlanned(planned, Buffer.alloc(0))).status).toBe(200);
    await using ending = openAt(at.server, {
      credentials: { ...temporary, expiration: new Date(Date.now() + 600_000) },
    });
    const { expiresAtMs } = await ending.planDownload("a");
    expect(expiresAtMs).toBeLessThanOrEqual(Date.now() + 600_000);
  });
});

describe("failing s3", () => {
  test.each([
    { kind: "status", status: 503, code: "SlowDown" } as const,
    { kind: "status", status: 500, code: "InternalError" } as const,
    { kind: "reset" } as const,
    { kind: "lost_answer" } as const,
  ])("a call that fails twice with $kind $code succeeds", async (failure) => {
    await using at = await opened();
    at.server.failures.add({ failure, times: 2 });
    expect(await at.store.put("a", Buffer.from("x"))).toBe(true);
    at.server.failures.add({ failure, times: 2 });
    expect(await at.store.head("a")).toMatchObject({ bytes: 1 });
  });

  test("a store that always throttles is reported as unavailable, with the reason", async () => {
    await using at = await opened({}, { attemptsMax: 2 });
    const failure = { kind: "status", status: 503, code: "SlowDown" } as const;
    at.server.failures.add({ failure, times: 100 });
    await expect(at.store.head("a")).rejects.toMatchObject({
      code: "storage_away",
      retry: "later",
    });
    await expect(at.store.put("a", Buffer.from("x"))).rejects.toThrow(
      /^s3:\/\/bucket\/some\/prefix cannot write a now: SlowDown/,
    );
  });

  test("a store that never responds is reported as unavailable", async () => {
    await using at = await opened({}, { attemptsMax: 1, silenceMs: 200 });
    at.server.failures.add({ failure: { kind: "slow", ms: 60_000 } });
    await expect(at.store.head("a")).rejects.toMatchObject({ code: "storage_away" });
  });

  test("content that breaks off is a Fault, not the end of the object", async () => {
    await using at = await opened();
    await at.store.put("a", contentOf(100_000));
    at.server.failures.add({
      failure: { kind: "truncated", afterBytes: 70_000 },
      operation: "GetObject",
    });
    await expect(readAll(at.store, "a")).rejects.toMatchObject({
      code: "storage_away",
      retry: "later",
    });
    expect(await readAll(at.store, "a")).toEqual(contentOf(100_000));
  });

  test("a completion with a lost answer, or an error in a response of status 200, counts as completed", async () => {
    for (const kind of ["lost_answer", "late_error"] as const) {
      await using at = await opened();
      const content = contentOf(partBytes + 1);
      const file = await upload({ ...at, ...sent }, "a", content);
      const failure = { kind, code: "InternalError" };
      at.server.failures.add({ failure, operation: "CompleteMultipartUpload" });
      expect((await at.store.finishUpload("a", file)).bytes).toBe(content.length);
      expect(await readAll(at.store, "a")).toEqual(content);
    }
  });

  test("concurrent planners agree on one upload, and the other upload is aborted", async () => {
    await using at = await opened();
    const content = contentOf(4 * partBytes);
    const file = digestsOf(content, partBytes);
    const plans = await Promise.all(
      Array.from({ length: 6 }, () => at.store.planUpload("a", file)),
    );
    expect(plans.every(({ parts }) => parts.length === 4)).toBe(true);
    const bucket = at.server.buckets.get("bucket");
    const [oldest, ...others] = [...(bucket?.uploads.values() ?? [])].toSorted(
      (a, b) => a.initiatedMs - b.initiatedMs || (a.id < b.id ? -1 : 1),
    );
    expect(others.length).toBeGreaterThan(0);
    const again = await at.store.planUpload("a", file);
    const { searchParams } = new URL(again.parts[0]?.request.url ?? "");
    expect(searchParams.get("uploadId")).toBe(oldest?.id);
    await upload({ ...at, ...sent }, "a", content);
    await at.store.finishUpload("a", file);
    expect(bucket?.uploads.size).toBe(0);
    expect(await readAll(at.store, "a")).toEqual(content);
  });

  test("a clock that is wrong by an hour is corrected", async () => {
    await using at = await opened({ nowMs: () => Date.now() - 3_600_000 });
    expect(await at.store.put("a", Buffer.from("x"))).toBe(true);
    const planned = await at.store.planDownload("a");
    expect((await sendPlanned(planned, Buffer.alloc(0))).status).toBe(200);
  });

  test("a plan is signed with the store's time even if the process sends no other request", async () => {
    let aheadMs = 7_200_000;
    let passedMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs };
    await using at = await opened({ nowMs: () => Date.now() + aheadMs }, { clock });
    await at.store.put("a", Buffer.from("x"));
    await using other = openAt(at.server, { clock });
    const isTaken = async (): Promise<boolean> => {
      const planned = await other.planDownload("a");
      return (await sendPlanned(planned, Buffer.alloc(0))).status === 200;
    };
    expect(await isTaken()).toBe(true);
    aheadMs *= 2;
    expect(await isTaken()).toBe(false);
    passedMs = 10_000;
    expect(await isTaken()).toBe(true);
  });

  test("a permission revoked between two requests is a Fault that names it, and no object counts as absent", async () => {
    await using at = await opened();
    await at.store.put("a", Buffer.from("x"));
    at.server.deny("s3:GetObject", credentials);
    const refused = { code: "storage_refused" };
    await expect(at.store.head("a")).rejects.toMatchObject(refused);
    await expect(at.store.head("a")).rejects.toThrow(/or have no right to do so \(s3:GetObject/);
    await expect(at.store.open("a")).rejects.toThrow(/refuses to read a: .*s3:GetObject/);
    at.server.deny("s3:DeleteObject", credentials);
    await expect(at.store.delete(["a", "b"])).rejects.toThrow(/s3:DeleteObject/);
    at.server.allow("s3:GetObject", credentials);
    at.server.deny("s3:ListBucket", credentials);
    expect(await at.store.head("a")).toMatchObject({ bytes: 1 });
    await expect(at.store.head("absent")).rejects.toMatchObject(refused);
    await expect(at.store.open("absent")).rejects.toMatchObject(refused);
  });

  test.each([
    [{ accessKeyId: "unknown", secretAccessKey: "x" }, "it does not know the access key"],
    [{ ...credentials, secretAccessKey: "wrong" }, "the secret key is not that of the access key"],
    [{ ...credentials, sessionToken: "old" }, "the session token is not valid"],
  ])("wrong credentials are refused with a readable message: %j", async (wrong, sentence) => {
    await using at = await opened({}, { credentials: wrong });
    await expect(at.store.put("a", Buffer.from("x"))).rejects.toThrow(sentence);
    await expect(at.store.head("a")).rejects.toMatchObject({ code: "storage_refused" });
  });

  test("a wrong region is refused with a readable message", async () => {
    await using at = await opened({ region: "eu-central-1" });
    await expect(at.store.put("a", Buffer.from("x"))).rejects.toThrow(/the region may be wrong/);
  });

  test("a file with more parts than S3 accepts is refused before any byte is sent", async () => {
    await using at = await opened();
    const file = { ...digestsOf(contentOf(1), partBytes), bytes: partBytes * 10_000 + 1 };
    await expect(at.store.planUpload("a", file)).rejects.toMatchObject({ code: "file_too_large" });
    expect(at.server.served).toEqual([]);
  });
});
