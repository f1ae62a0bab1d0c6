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
import type { GcsStoreOptions } from "./gcs/options.ts";
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

function gcsStore(
  options: Pick<Partial<GcsStoreOptions>, "silenceMs" | "attemptsMax" | "partBytes"> = {},
): ObjectStore {
  const { client_email: clientEmail, private_key: privateKey } = account;
  return openGcsStore({
    ...place(),
    ...options,
    endpoint: gcs.url,
    credentials: { clientEmail, privateKey },
  });
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
  const bytes = content.length > 1_000_000 ? 70_001 : 7_001;
  for (let at = 0; at < content.length; at += bytes) yield content.subarray(at, at + bytes);
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
  ["S3", s3Store, () => s3, "PutObject", "UploadPart"],
  ["Google Cloud Storage", gcsStore, () => gcs, "WriteSigned", "UploadChunk"],
] as const;

describe.each(stores)("blobs in %s", (_name, objects, server, ofOne, ofParts) => {
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
    for (const [content, operation] of [
      [small, ofOne],
      [large, ofParts],
    ] as const) {
      const key = `again-${content.length}`;
      const status = { kind: "status", status: 503, code: "SlowDown" } as const;
      failures.add({ failure: status, key, operation });
      failures.add({ failure: { kind: "reset" }, key, operation });
      await opened.store.put(key, piecesOf(content), digestOf(content));
      expect(await read(opened.store, key)).toEqual(content);
      expect(failures.take(operation, key)).toBeNull();
    }
  });

  test("a reader may pause for longer than the store may be silent", async () => {
    await using opened = blobsIn(
      objects({ silenceMs: 1_500, attemptsMax: 1, partBytes: 64 * 1024 ** 2 }),
    );
    const content = randomBytes(24 * 1024 ** 2);
    await opened.store.put("slow", piecesOf(content), digestOf(content));
    const found = await opened.store.get("slow");
    const seen = createHash("sha256");
    let reads = 0;
    for await (const chunk of found?.stream ?? []) {
      seen.update(chunk);
      reads += 1;
      if (reads === 2) await new Promise((resolve) => setTimeout(resolve, 2_500));
    }
    expect(seen.digest("hex")).toBe(digestOf(content));
  });

  test("nothing is left in the temporary folder, whether a put succeeds or fails", async () => {
    await using opened = blobsIn(objects());
    await opened.store.put("a", piecesOf(large), digestOf(large));
    await expect(opened.store.put("b", piecesOf(large), "0".repeat(64))).rejects.toThrow("SHA-256");
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith("trainyard-spool-"));
    expect(left).toEqual([]);
  });
});

describe("named in one sentence", () => {
  const put = async (options: Partial<S3StoreOptions>, content = small): Promise<void> => {
    await using opened = blobsIn(s3Store({ prefix: "code", ...options }));
    await opened.store.put("contexts/a", piecesOf(content), digestOf(content));
  };

  test("a store that refuses to write", async () => {
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

  test("a store without its bucket", async () => {
    await expect(put({ bucket: "nowhere" })).rejects.toMatchObject({
      code: "bucket_not_found",
      message: "the bucket nowhere of s3://nowhere/code does not exist",
    });
  });

  test("a store that does not know the secret key", async () => {
    const credentials = { ...keys, secretAccessKey: "wrong" };
    await expect(put({ credentials })).rejects.toMatchObject({ code: "storage_refused" });
  });

  test("a store that is away", async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    await expect(put({ endpoint, attemptsMax: 1 })).rejects.toMatchObject({
      code: "storage_away",
      retry: "later",
      message: expect.stringMatching(/^s3:\/\/bucket\/code cannot look at contexts\/a now: /),
    });
  });
});
