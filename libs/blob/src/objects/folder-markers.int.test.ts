/** Tests of objects that other tools leave in a bucket: consoles and mounts create `<folder>/` without content. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { systemClock } from "@trainyard/kernel/system-clock";
import { GcsServer, newAccount } from "@trainyard/testing/gcs";
import { S3Server } from "@trainyard/testing/s3";
import { expect, test } from "vitest";
import { MemoryBucket, openMemoryStore } from "../testing/memory-objects.ts";
import { markStore, removeCheckpointObjects } from "./checkpoint-objects.ts";
import { listAll } from "./contract/opened.ts";
import { openGcsStore } from "./gcs/index.ts";
import type { ObjectStore } from "./port.ts";
import { openS3Store } from "./s3/index.ts";

const checkpoint = "00000000-0000-4000-8000-000000000001";
const credentials = { accessKeyId: "testkey", secretAccessKey: "testsecret" };

test("a checkpoint in whose folder a console has left a marker object can be deleted", async () => {
  await using server = await S3Server.start({ buckets: ["bucket"], users: [credentials] });
  const options = { bucket: "bucket", endpoint: server.url, credentials, clock: systemClock };
  await using store = openS3Store(options);
  const { id } = await markStore(store);
  await store.put(`${checkpoint}/weights`, Buffer.from("w"));
  const objects = server.buckets.get("bucket")?.objects;
  const weights = objects?.get(`${checkpoint}/weights`);
  if (objects === undefined || weights === undefined) throw new Error("nothing was stored");
  objects.set(`${checkpoint}/`, { ...weights, key: `${checkpoint}/` });
  await removeCheckpointObjects(store, checkpoint, id);
  expect([...objects.keys()].filter((key) => key.startsWith(checkpoint))).toEqual([]);
});

/** Deletes a checkpoint of one file and a marker object in a bucket; returns the keys that are left of it. */
async function leftOf<Kept>(
  store: ObjectStore,
  objects: Map<string, Kept> | undefined,
): Promise<readonly string[]> {
  const { id } = await markStore(store);
  await store.put(`${checkpoint}/weights`, Buffer.from("w"));
  const weights = objects?.get(`${checkpoint}/weights`);
  if (objects === undefined || weights === undefined) throw new Error("nothing was stored");
  for (const name of ["", "deep/", "deep//x", "deep/../x", "line\nfeed"]) {
    const key = `${checkpoint}/${name}`;
    objects.set(key, { ...weights, key, name: key });
  }
  await removeCheckpointObjects(store, checkpoint, id);
  return [...objects.keys()].filter((key) => key.startsWith(checkpoint));
}

test("a checkpoint in S3 is deleted with objects whose keys the platform never writes", async () => {
  await using server = await S3Server.start({ buckets: ["bucket"], users: [credentials] });
  const options = { bucket: "bucket", endpoint: server.url, credentials, clock: systemClock };
  await using store = openS3Store(options);
  expect(await leftOf(store, server.buckets.get("bucket")?.objects)).toEqual([]);
});

test("a checkpoint in Google Cloud Storage is deleted with objects whose keys the platform never writes", async () => {
  const account = newAccount("tester");
  await using server = await GcsServer.start({ buckets: ["bucket"], accounts: [account] });
  await using store = openGcsStore({
    bucket: "bucket",
    endpoint: server.url,
    credentials: { clientEmail: account.client_email, privateKey: account.private_key },
    clock: systemClock,
  });
  expect(await leftOf(store, server.buckets.get("bucket")?.objects)).toEqual([]);
});

test("a checkpoint in memory is deleted with objects whose keys the platform never writes", async () => {
  const bucket = new MemoryBucket(systemClock);
  expect(await leftOf(openMemoryStore(bucket), bucket.objects)).toEqual([]);
});

test("a deletion of listed keys is refused for a key outside of their folder, before an object is deleted", async () => {
  const bucket = new MemoryBucket(systemClock);
  const store = openMemoryStore(bucket);
  await store.put("a/x", Buffer.from("x"));
  await store.put("b/x", Buffer.from("x"));
  const deleting = store.delete(["a/x", "b/x"], "a/");
  await expect(deleting).rejects.toMatchObject({ code: "invalid_key" });
  expect([...bucket.objects.keys()]).toEqual(["a/x", "b/x"]);
});

test("a store whose listing ends before its last page is a Fault, and no deletion counts as complete", async () => {
  const page = `<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>${checkpoint}/a</Key>
    <Size>1</Size></Contents></ListBucketResult>`;
  await using server = createServer((_, response) => response.end(page));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const endpoint = `http://127.0.0.1:${port}`;
  await using store = openS3Store({ bucket: "bucket", endpoint, credentials, clock: systemClock });
  const listing = listAll(store, `${checkpoint}/`);
  await expect(listing).rejects.toMatchObject({ code: "storage_away", retry: "later" });
  // The list of uploads has the same form, and without a marker the first page would be asked for forever.
  const giving = store.abortUploads(`${checkpoint}/`);
  await expect(giving).rejects.toMatchObject({ code: "storage_away", retry: "later" });
});
