import { systemClock } from "@trainyard/kernel/system-clock";
import { freePort } from "@trainyard/testing";
import { type S3Action, S3Server, type S3ServerOptions, testUser } from "@trainyard/testing/s3";
import { expect, test } from "vitest";
import type { ObjectStore } from "./port.ts";
import { probeObjectStore } from "./probe.ts";
import type { S3StoreOptions } from "./s3/options.ts";
import { openS3Store } from "./s3/store.ts";

function openAt(options: Partial<S3StoreOptions>): ObjectStore {
  return openS3Store({ bucket: "bucket", clock: systemClock, credentials: testUser, ...options });
}

async function opened(
  options: Partial<S3ServerOptions> = {},
): Promise<AsyncDisposable & { readonly server: S3Server; readonly store: ObjectStore }> {
  const server = await S3Server.start({ buckets: ["bucket"], ...options });
  const store = openAt({ prefix: "/a/b", endpoint: server.url });
  return {
    server,
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

test("a store without defects has no problem, keeps checksums, and has no probe object left", async () => {
  await using at = await opened();
  expect(at.store.address).toBe("s3://bucket/a/b");
  expect(await probeObjectStore(at.store)).toEqual({ problems: [], keepsChecksums: true });
  expect(at.server.buckets.get("bucket")?.objects.size).toBe(0);
  expect(at.server.buckets.get("bucket")?.uploads.size).toBe(0);
});

test("a store that ignores checksums is detected", async () => {
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
])("without the permission %s the probe reports %j", async (action, actions, keepsChecksums) => {
  await using at = await opened();
  at.server.deny(action);
  const probe = await probeObjectStore(at.store);
  expect(probe.problems.map((problem) => problem.action)).toEqual(actions);
  expect(probe.keepsChecksums).toBe(keepsChecksums);
  for (const { detail } of probe.problems) expect(detail).toContain(action);
  if (action !== "s3:DeleteObject") expect(at.server.buckets.get("bucket")?.objects.size).toBe(0);
});

test("a fault that prevents the probe is thrown unchanged", async () => {
  await using at = await opened();
  await using bucketless = openAt({ bucket: "other", endpoint: at.server.url });
  await expect(probeObjectStore(bucketless)).rejects.toMatchObject({ code: "bucket_not_found" });
  await using away = openAt({ endpoint: `http://127.0.0.1:${await freePort()}`, attemptsMax: 1 });
  await expect(probeObjectStore(away)).rejects.toMatchObject({ code: "storage_away" });
});
