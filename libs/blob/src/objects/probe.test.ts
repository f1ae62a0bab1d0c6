import { systemClock } from "@trainyard/kernel/system-clock";
import { freePort } from "@trainyard/testing";
import { type S3Action, S3Server, type S3ServerOptions, testUser } from "@trainyard/testing/s3";
import { expect, test } from "vitest";
import { openObjectStore } from "./open-object-store.ts";
import type { ObjectStore } from "./port.ts";
import { probeObjectStore } from "./probe.ts";

async function opened(
  options: Partial<S3ServerOptions> = {},
): Promise<AsyncDisposable & { readonly server: S3Server; readonly store: ObjectStore }> {
  const server = await S3Server.start({ buckets: ["bucket"], ...options });
  const section = { type: "s3", bucket: "bucket", prefix: "/a/b", endpoint_url: server.url };
  const store = await openObjectStore(section, {
    clock: systemClock,
    credentials: { s3: testUser },
  });
  if (store === null) throw new Error("no store was opened");
  return {
    server,
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

test("a store that does everything has no problem, keeps checksums, and nothing is left there", async () => {
  await using at = await opened();
  expect(at.store.address).toBe("s3://bucket/a/b");
  expect(await probeObjectStore(at.store)).toEqual({ problems: [], keepsChecksums: true });
  expect(at.server.buckets.get("bucket")?.objects.size).toBe(0);
  expect(at.server.buckets.get("bucket")?.uploads.size).toBe(0);
});

test("a store that passes over checksums is found out", async () => {
  await using at = await opened({ keepsChecksums: false });
  expect(await probeObjectStore(at.store)).toEqual({ problems: [], keepsChecksums: false });
});

test.each<[S3Action, readonly string[], boolean | null]>([
  ["s3:PutObject", ["write", "upload in parts"], null],
  ["s3:GetObject", ["read"], null],
  ["s3:ListBucket", ["list"], true],
  ["s3:DeleteObject", ["delete"], true],
  ["s3:ListBucketMultipartUploads", ["upload in parts"], true],
  ["s3:AbortMultipartUpload", ["upload in parts"], true],
])("without the right %s the probe names %j", async (action, actions, keepsChecksums) => {
  await using at = await opened();
  at.server.deny(action);
  const probe = await probeObjectStore(at.store);
  expect(probe.problems.map((problem) => problem.action)).toEqual(actions);
  expect(probe.keepsChecksums).toBe(keepsChecksums);
  for (const { detail } of probe.problems) expect(detail).toContain(action);
  if (action !== "s3:DeleteObject") expect(at.server.buckets.get("bucket")?.objects.size).toBe(0);
});

test("what keeps the probe from finding out is thrown as it is", async () => {
  await using at = await opened();
  const settings = { clock: systemClock, credentials: { s3: testUser } };
  const nowhere = { type: "s3", bucket: "other", endpoint_url: at.server.url };
  await using bucketless = await openObjectStore(nowhere, settings);
  if (bucketless === null) throw new Error("no store was opened");
  await expect(probeObjectStore(bucketless)).rejects.toMatchObject({ code: "bucket_not_found" });
  const silent = { ...nowhere, endpoint_url: `http://127.0.0.1:${await freePort()}` };
  await using away = await openObjectStore(silent, settings);
  if (away === null) throw new Error("no store was opened");
  await expect(probeObjectStore(away)).rejects.toMatchObject({ code: "storage_away" });
});

test("a section of another type opens no object store, and one without a bucket is refused", async () => {
  const settings = { clock: systemClock };
  expect(await openObjectStore({ type: "directory", container_path: "/a" }, settings)).toBeNull();
  await expect(openObjectStore({ type: "s3" }, settings)).rejects.toMatchObject({
    code: "unknown_storage",
  });
});
