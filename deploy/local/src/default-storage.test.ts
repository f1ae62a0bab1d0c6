import { expect, test } from "vitest";
import { storageVariables } from "./default-storage.ts";

test("services get no storage setting when the cluster has no storage", () => {
  expect(storageVariables(undefined, {})).toEqual({});
});

test("the endpoint of an S3-compatible store is added to the allowed endpoints", () => {
  const storage = { address: "s3://models/a", endpoint: "https://minio:9000" };
  const told = {
    TRAINYARD_CHECKPOINT_STORAGE: "s3://models/a",
    TRAINYARD_CHECKPOINT_STORAGE_ENDPOINT: "https://minio:9000",
  };
  expect(storageVariables(storage, {})).toEqual({
    ...told,
    TRAINYARD_STORAGE_ENDPOINTS: "https://minio:9000",
  });
  const before = { TRAINYARD_STORAGE_ENDPOINTS: "https://other" };
  expect(storageVariables(storage, before)).toEqual({
    ...told,
    TRAINYARD_STORAGE_ENDPOINTS: "https://other,https://minio:9000",
  });
});

test("a gs:// storage allows Google's endpoint", () => {
  const storage = { address: "gs://models", endpoint: "http://127.0.0.1:1" };
  expect(storageVariables(storage, {})).toEqual({
    TRAINYARD_CHECKPOINT_STORAGE: "gs://models",
    TRAINYARD_STORAGE_GCS_ENDPOINT: "http://127.0.0.1:1",
  });
});
