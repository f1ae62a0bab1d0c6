import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { systemClock } from "@trainyard/kernel/system-clock";
import { GcsServer, newAccount } from "@trainyard/testing/gcs";
import { freePort } from "@trainyard/testing";
import { S3Server } from "@trainyard/testing/s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blobStoreContract, type OpenedStore } from "../contract.ts";
import type { BlobStore } from "../port.ts";
import { openGcsStore } from "./gcs/store.ts";
import { ObjectBlobs } from "./object-blobs.ts";
import type { ObjectStore } from "./port.ts";
import { openS3Store } from "./s3/store.ts";
import type { S3StoreOptions } from "./s3/options.ts";
import { StoreBrake } from "./store-brake.ts";

/** Smaller than a large blob of these tests, which is sent in several parts. */
const partBytes = 10_000;
const keys = { accessKeyId: "testkey", secretAccessKey: "testsecret" };
const powerless = { accessKeyId: "powerless", secretAccessKey: "none" };
const account = newAccount("tester");
const patience = { silenceMs: 4_000, attemptsMax: 2 };

let s3: S3Server;
let gcs: GcsServer;
let folders = 0;

beforeAll(async () => {
  s3 = await S3Server.start({
    buckets: ["bucket"],
    users: [keys, powerless],
    limits: { partBytesMin: partBytes },
  });
  s3.deny("s3:PutObject", powerless);
  gcs = await GcsServer.start({
    buckets: ["bucket"],
    accounts: [account],
    limits: { chunkBytes: 1_000 },
  });
});
afterAll(async () => {
  await s3[Symbol.asyncDispose]();
  await gcs[Symbol.asyncDispose]();
});

const place = () => {
  folders += 1;
  return { bucket: "bucket", prefix: `p${folders}`, clock: systemClock, partBytes, ...patience };
};

function s3Store(options: Partial<S3StoreOptions> = {}): ObjectStore {
  return openS3Store({ ...place(), endpoint: s3.url, credentials: keys, ...options });
}

function gcsStore(): ObjectStore {
  const { client_email: clientEmail, private_key: privateKey } = account;
  return openGcsStore({ ...place(), endpoint: gcs.url, credentials: { clientEmail, privateKey } });
}

function blobsIn(objects: ObjectStore): OpenedStore {
  const brake = new StoreBrake({ clock: systemClock, restMs: 0, atOnceMax: 100 });
  return {
    store: new ObjectBlobs({ store: async () => objects, brake }),
    [Symbol.asyncDispose]: () => objects[Symbol.asyncDispose](),
  };
}

const digestOf = (content: Uint8Array): string =>
  createHash("sha256").update(content).digest("hex");

async function* piecesOf(content: Uint8Array): AsyncIterable<Uint8Array> {
  for (let at = 0; at < content.length; at += 7_001) yield content.subarray(at, at + 7_001);
}

async function read(store: BlobStore, key: string): Promise<Buffer | null> {
  const content = await store.get(key);
  if (content === null) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of content.stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const small = randomBytes(17);
const large = randomBytes(5 * partBytes + 17);

const stores = [
  ["S3", () => s3Store(), () => s3, "PutObject"],
  ["Google Cloud Storage", () => gcsStore(), () => gcs, "WriteSigned"],
] as const;

describe.each(stores)("blobs in %s", (_name, objects, server, uploading) => {
  blobStoreContract(async () => blobsIn(objects()));

  test("a large blob is sent in parts, and an exact multiple of a part too", async () => {
    await using opened = blobsIn(objects());
    for (const content of [large, large.subarray(0, 2 * partBytes)]) {
      const key = `contexts/${content.length}`;
      const put = await opened.store.put(key, piecesOf(content), digestOf(content));
      expect(put).toEqual({ bytes: content.length });
      expect(await read(opened.store, key)).toEqual(content);
    }
  });

  test("a large blob that two processes store at once is stored", async () => {
    const shared = objects();
    await using opened = blobsIn(shared);
    const another = blobsIn(shared);
    const put = ({ store }: OpenedStore) => store.put("c", piecesOf(large), digestOf(large));
    await Promise.all([put(opened), put(another), put(opened)]);
    expect(await read(opened.store, "c")).toEqual(large);
  });

  test("a part whose request fails or breaks off is sent again", async () => {
    await using opened = blobsIn(objects());
    const { failures } = server();
    failures.add({ failure: { kind: "status", status: 503, code: "SlowDown" }, key: "again" });
    failures.add({ failure: { kind: "reset" }, key: "again" });
    await opened.store.put("again", piecesOf(large), digestOf(large));
    expect(await read(opened.store, "again")).toEqual(large);
    failures.add({ failure: { kind: "reset" }, key: "small", operation: uploading });
    await opened.store.put("small", piecesOf(small), digestOf(small));
    expect(await read(opened.store, "small")).toEqual(small);
  });

  test("nothing is left in the temporary folder, whether a put succeeds or fails", async () => {
    await using opened = blobsIn(objects());
    await opened.store.put("a", piecesOf(large), digestOf(large));
    await expect(opened.store.put("b", piecesOf(large), "0".repeat(64))).rejects.toThrow("SHA-256");
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith("trainyard-spool-"));
    expect(left).toEqual([]);
  });
});

describe("a store that cannot be used is named in one sentence", () => {
  const put = async (options: Partial<S3StoreOptions>, content = small): Promise<void> => {
    await using opened = blobsIn(s3Store({ prefix: "code", ...options }));
    await opened.store.put("contexts/a", piecesOf(content), digestOf(content));
  };

  test("that refuses to write", async () => {
    await expect(put({ credentials: powerless })).rejects.toMatchObject({
      code: "storage_refused",
      message:
        "s3://bucket/code refuses to write contexts/a: it answers 403 (AccessDenied: Access Denied)",
    });
    await expect(put({ credentials: powerless }, large)).rejects.toMatchObject({
      code: "storage_refused",
      message: expect.stringMatching(/^s3:\/\/bucket\/code refuses to begin /),
    });
  });

  test("whose bucket does not exist", async () => {
    await expect(put({ bucket: "nowhere" })).rejects.toMatchObject({
      code: "bucket_not_found",
      message: "the bucket nowhere of s3://nowhere/code does not exist",
    });
  });

  test("whose secret key is wrong", async () => {
    const credentials = { ...keys, secretAccessKey: "wrong" };
    await expect(put({ credentials })).rejects.toMatchObject({ code: "storage_refused" });
  });

  test("that is away", async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    await expect(put({ endpoint, attemptsMax: 1 })).rejects.toMatchObject({
      code: "storage_away",
      retry: "later",
      message: expect.stringMatching(/^s3:\/\/bucket\/code cannot look at contexts\/a now: /),
    });
  });
});
