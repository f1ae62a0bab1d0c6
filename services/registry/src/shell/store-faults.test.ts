import { Fault } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { withStoreRejections } from "./store-faults.ts";

const throwing = (code: string, retry: "never" | "later") => () =>
  withStoreRejections(async () => {
    throw new Fault(code, "s3://b refuses to list a: no right (s3:ListBucket)", { retry });
  });

test.each(["storage_refused", "bucket_not_found", "credentials_missing", "endpoint_not_allowed"])(
  "a fault that only an operator can fix is retried, with the store's message: %s",
  async (code) => {
    const message = expect.stringContaining("s3:ListBucket") as string;
    await expect(throwing(code, "never")()).rejects.toMatchObject({ retry: "later", message });
  },
);

test.each(["invalid_key", "file_too_large", "wrong_digests"])(
  "content that the store can never accept is rejected: %s",
  async (code) => {
    const detail = expect.stringContaining("s3://b") as string;
    expect(await throwing(code, "never")()).toEqual({ rejected: "invalid_manifest", detail });
  },
);

test("results, outages and bugs are passed on unchanged", async () => {
  expect(await withStoreRejections(async () => 7)).toBe(7);
  await expect(throwing("storage_away", "later")()).rejects.toMatchObject({ code: "storage_away" });
  await expect(throwing("something", "never")()).rejects.toMatchObject({ code: "something" });
});
