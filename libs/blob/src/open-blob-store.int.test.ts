import { createHash } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@trainyard/kernel/system-clock";
import { SilentServer } from "@trainyard/testing";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blobPlace } from "./blob-place.ts";
import { openBlobStore } from "./open-blob-store.ts";
import { StoreBrake } from "./objects/store-brake.ts";
import type { OwnLog } from "./storage-claims.ts";

let server: S3Server;
let folder: string;
let credentialsFile: string;

beforeAll(async () => {
  server = await S3Server.start({ buckets: ["code"] });
  folder = await mkdtemp(join(tmpdir(), "trainyard-places-"));
  credentialsFile = join(folder, "credentials.json");
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = testUser;
  const text = JSON.stringify({ s3: { access_key_id, secret_access_key } });
  await writeFile(credentialsFile, text, { mode: 0o600 });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Options = {
  readonly writes?: boolean;
  readonly url?: string;
  readonly silenceMs?: number;
  readonly log?: OwnLog;
};

async function opened(
  address: string,
  { writes = true, url = server.url, silenceMs = 4_000, log }: Options = {},
) {
  const place = blobPlace({
    [address.startsWith("/") ? "TRAINYARD_BLOB_DIR" : "TRAINYARD_BLOB_STORAGE"]: address,
    ...(address.startsWith("/") ? {} : { TRAINYARD_BLOB_STORAGE_ENDPOINT: url }),
  });
  const told: unknown[] = [];
  const clock = systemClock;
  const store = await openBlobStore(place, {
    ...{ clock, writes, stores: { credentialsFile, patience: { silenceMs, attemptsMax: 1 } } },
    brake: new StoreBrake({ clock, restMs: 0, atOnceMax: 8 }),
    ...(log && { log }),
    logger: { info: (fields, message) => void told.push([message, fields]) },
  });
  const look = async (): Promise<string> => {
    try {
      await store.peers[0]?.answers(new AbortController().signal);
      return "answers";
    } catch (error) {
      return (error as Error).message;
    }
  };
  return { ...store, told, look };
}

test("a folder is no server that a service waits for", async () => {
  await using blobs = await opened(join(folder, "blobs"));
  expect(blobs.peers).toEqual([]);
  expect(blobs.told).toEqual([["blobs_opened", { place: join(folder, "blobs") }]]);
});

test("a service says which bucket it uses, and probes it before it is ready", async () => {
  await using blobs = await opened("s3://code/team");
  expect(blobs.told).toEqual([["blobs_opened", { place: `s3://code/team at ${server.url}` }]]);
  expect(blobs.peers[0]?.name).toBe(`the storage of model code s3://code/team at ${server.url}`);
  expect(await blobs.look()).toBe("answers");
  expect(server.asked).toContain("PutObject");
  server.asked.length = 0;
  expect(await blobs.look()).toBe("answers");
  expect(server.asked).not.toContain("PutObject");
  expect([...(server.buckets.get("code")?.objects.keys() ?? [])]).toEqual([]);
});

const logOf = (id: string): OwnLog => ({
  id: async () => id,
  latest: async () => ({ position: 1, id }),
  has: async () => true,
});

test("a bucket belongs to the first cluster with events that writes there: another one stores and deletes nothing", async () => {
  const key = `contexts/${"0".repeat(64)}.tar.gz`;
  const sha256 = createHash("sha256").update("code").digest("hex");
  async function* code(): AsyncIterable<Uint8Array> {
    yield Buffer.from("code");
  }
  await using empty = await opened("s3://code/owned", { log: logOf("") });
  expect(await empty.look()).toBe("answers");
  const log = logOf("11111111-1111-4111-8111-111111111111");
  await using first = await opened("s3://code/owned", { log });
  expect(await first.look()).toBe("answers");
  await first.blobs.put(key, code(), sha256);
  const other = logOf("22222222-2222-4222-8222-222222222222");
  await using second = await opened("s3://code/owned", { log: other });
  const why = "s3://code/owned refuses to store model code of this cluster: its object";
  expect(await second.look()).toContain(why);
  await expect(second.blobs.put(key, code(), sha256)).rejects.toThrow(why);
  await expect(second.blobs.delete(key)).rejects.toMatchObject({ code: "storage_refused" });
  await using replica = await opened("s3://code/owned", { log });
  await replica.blobs.delete(key);
  expect(await replica.blobs.stat(key)).toBeNull();
});

test("a damaged marker of a bucket is named with what to do", async () => {
  const log = logOf("11111111-1111-4111-8111-111111111111");
  await using first = await opened("s3://code/damaged", { log });
  // A blob in place of the marker.
  const sha256 = createHash("sha256").update("code").digest("hex");
  async function* code(): AsyncIterable<Uint8Array> {
    yield Buffer.from("code");
  }
  await first.blobs.put("other", code(), sha256);
  const objects = server.buckets.get("code")?.objects;
  const other = objects?.get("damaged/other");
  if (other !== undefined) objects?.set("damaged/.trainyard-storage", other);
  await using second = await opened("s3://code/damaged", { log });
  expect(await second.look()).toContain("its object .trainyard-storage is damaged: delete it");
});

test("a right that the credentials lack is named; a service that only reads needs no right to write", async () => {
  server.deny("s3:PutObject");
  await using blobs = await opened("s3://code/team");
  expect(await blobs.look()).toMatch(/^s3:\/\/code\/team refuses to write .*\(s3:PutObject\)/);
  await using read = await opened("s3://code/team", { writes: false });
  expect(await read.look()).toBe("answers");
  server.allow("s3:PutObject");
  expect(await blobs.look()).toBe("answers");
});

test("a bucket that does not exist is named", async () => {
  await using blobs = await opened("s3://nowhere");
  expect(await blobs.look()).toBe("the bucket nowhere of s3://nowhere does not exist");
});

test("credentials that cannot be read are named, and read again when the file has changed", async () => {
  await using blobs = await opened("s3://code");
  await chmod(credentialsFile, 0o644);
  expect(await blobs.look()).toContain("others can read it: run chmod 600 on it");
  await chmod(credentialsFile, 0o600);
  expect(await blobs.look()).toBe("answers");
});

test("a store that is silent is away", async () => {
  await using silent = await SilentServer.start();
  await using blobs = await opened("s3://code", { url: silent.url, silenceMs: 200 });
  expect(await blobs.look()).toMatch(/^s3:\/\/code cannot write .* now: /);
  const digest = createHash("sha256").digest("hex");
  const put = blobs.blobs.put("contexts/a", new Blob([]).stream(), digest);
  await expect(put).rejects.toMatchObject({ code: "storage_away", retry: "later" });
});
