// Tests Google's client for Node against the server, with the client's own tokens, checksums, sessions and retries.
import { type File, IdempotencyStrategy, Storage } from "@google-cloud/storage";
import { type GcsAccount, GcsServer, newAccount } from "@trainyard/testing/gcs";
import { expect, test } from "vitest";

type Opened = AsyncDisposable & { readonly server: GcsServer; readonly client: Storage };

function clientOf(server: GcsServer, account: GcsAccount = server.account): Storage {
  const client = new Storage({
    apiEndpoint: server.url,
    useAuthWithCustomEndpoint: true,
    retryOptions: { maxRetryDelay: 1, idempotencyStrategy: IdempotencyStrategy.RetryAlways },
  });
  client.authClient.jsonContent = { ...account };
  client.authClient.useJWTAccessWithScope = true;
  return client;
}

async function opened(): Promise<Opened> {
  const limits = { listedMax: 2, rewrittenBytesMax: 300_000 };
  const server = await GcsServer.start({ buckets: ["bucket"], limits });
  const dispose = () => server[Symbol.asyncDispose]();
  return { server, client: clientOf(server), [Symbol.asyncDispose]: dispose };
}

/**
 * Saves in a session that is created here: `save` would create one without credentials at another address than
 * Google's.
 */
async function saveInSession(file: File, content: Buffer, chunkSize?: number): Promise<void> {
  const [uri] = await file.createResumableUpload();
  await file.save(content, { resumable: true, uri, ...(chunkSize && { chunkSize }) });
}

const name = "a/key with é+&";
const large = Buffer.alloc(1_000_017, "abc");

test("content written in one request, or in a session, is read back with its checksums", async () => {
  await using at = await opened();
  const file = at.client.bucket("bucket").file(name);
  for (const [content, resumable] of [
    [Buffer.from("small"), false],
    [large, true],
    [Buffer.alloc(0), true],
  ] as const) {
    if (resumable) await saveInSession(file, content);
    else await file.save(content, { resumable, validation: "md5" });
    const [got] = await file.download({ validation: "crc32c" });
    expect(got.equals(content)).toBe(true);
    const [metadata] = await file.getMetadata();
    expect(metadata).toMatchObject({ name, bucket: "bucket", size: String(content.length) });
  }
});

test("a session is filled in chunks, even when requests fail", async () => {
  await using at = await opened();
  const { failures } = at.server;
  failures.add({
    failure: { kind: "status", status: 503, code: "backendError" },
    operation: "UploadChunk",
  });
  const file = at.client.bucket("bucket").file(name);
  await saveInSession(file, large, 256 * 1_024);
  const chunks = at.server.served.filter(({ operation }) => operation === "UploadChunk");
  expect(chunks.filter(({ status }) => status === 308).length).toBeGreaterThanOrEqual(3);
  expect((await file.download())[0].equals(large)).toBe(true);
});

test("objects are listed in pages, copied in several requests, and deleted", async () => {
  await using at = await opened();
  const bucket = at.client.bucket("bucket");
  for (const one of ["p/1", "p/2", "p/3", "q"])
    await bucket.file(one).save(large, { resumable: false });
  const [files] = await bucket.getFiles({ prefix: "p/" });
  expect(files.map((file) => file.name)).toEqual(["p/1", "p/2", "p/3"]);
  await bucket.file("q").copy(bucket.file("copy of q"));
  const rewrites = at.server.served.filter(({ operation }) => operation === "RewriteObject");
  expect(rewrites).toHaveLength(4);
  expect((await bucket.file("copy of q").download())[0].equals(large)).toBe(true);
  await bucket.file("q").delete();
  expect(await bucket.file("q").exists()).toEqual([false]);
  await expect(bucket.file("q").delete()).rejects.toMatchObject({ code: 404 });
});

test("of two writers that require a new object only one succeeds", async () => {
  await using at = await opened();
  const file = at.client.bucket("bucket").file("m");
  const once = { resumable: false, preconditionOpts: { ifGenerationMatch: 0 } };
  await file.save("mine", once);
  await expect(file.save("theirs", once)).rejects.toMatchObject({ code: 412 });
  expect(String((await file.download())[0])).toBe("mine");
});

test("a signed address reads and writes an object without credentials, and allows nothing else", async () => {
  await using at = await opened();
  const file = at.client.bucket("bucket").file(name);
  const expires = Date.now() + 60_000;
  const [put] = await file.getSignedUrl({
    version: "v4",
    action: "write",
    expires,
    contentType: "text/plain",
  });
  const headers = { "content-type": "text/plain" };
  expect((await fetch(put, { method: "PUT", headers, body: "content" })).status).toBe(200);
  expect((await fetch(put, { method: "PUT", body: "content" })).status).toBe(403);
  const [get] = await file.getSignedUrl({ version: "v4", action: "read", expires });
  expect(await (await fetch(get)).text()).toBe("content");
  expect((await fetch(get.replace("X-Goog-Expires=", "X-Goog-Expires=1"))).status).toBe(403);
  expect((await fetch(get, { method: "PUT", body: "x" })).status).toBe(403);
});

test("a client of another account is refused", async () => {
  await using at = await opened();
  const other = clientOf(at.server, newAccount("other"));
  await expect(other.bucket("bucket").file("a").download()).rejects.toMatchObject({ code: 401 });
});
