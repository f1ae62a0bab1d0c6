import { expect, test } from "vitest";
import { storageVariables } from "./default-storage.ts";

test("without a storage the services get no setting of one", () => {
  expect(storageVariables(undefined, {})).toEqual({});
});

test("the endpoint of a store of S3's protocol is added to those that the platform may use", () => {
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

test("the endpoint of Google's is that of every bucket there", () => {
  const storage = { address: "gs://models", endpoint: "http://127.0.0.1:1" };
  expect(storageVariables(storage, {})).toEqual({
    TRAINYARD_CHECKPOINT_STORAGE: "gs://models",
    TRAINYARD_STORAGE_GCS_ENDPOINT: "http://127.0.0.1:1",
  });
});
