import { expect, test } from "vitest";
import { blobPlace } from "./blob-place.ts";

const [folder, store] = ["TRAINYARD_BLOB_DIR", "TRAINYARD_BLOB_STORAGE"];
const endpoint = "TRAINYARD_BLOB_STORAGE_ENDPOINT";

test("blobs are in a folder or in an object store", () => {
  expect(blobPlace({ [folder]: "/blobs" })).toEqual({ kind: "folder", path: "/blobs" });
  expect(blobPlace({ [store]: "gs://code/a/b/" })).toEqual({
    kind: "store",
    address: "gs://code/a/b",
    section: { type: "gcs", bucket: "code", prefix: "a/b" },
    endpoint: null,
  });
  const local = "https://minio.example:9000";
  expect(blobPlace({ [store]: "s3://code", [endpoint]: local })).toEqual({
    kind: "store",
    address: `s3://code at ${local}`,
    section: { type: "s3", bucket: "code", endpoint_url: local },
    endpoint: local,
  });
});

test.each([
  [{}, "neither TRAINYARD_BLOB_DIR nor TRAINYARD_BLOB_STORAGE is set"],
  [{ [folder]: "", [store]: "" }, "neither TRAINYARD_BLOB_DIR nor TRAINYARD_BLOB_STORAGE is set"],
  [
    { [folder]: "/blobs", [store]: "s3://code" },
    "TRAINYARD_BLOB_DIR and TRAINYARD_BLOB_STORAGE are both set: model code has one place",
  ],
  [
    { [store]: "/blobs" },
    "TRAINYARD_BLOB_STORAGE: must be s3://bucket/prefix or gs://bucket/prefix",
  ],
  [
    { [store]: "s3://code", [endpoint]: "minio" },
    "TRAINYARD_BLOB_STORAGE_ENDPOINT: must be the http or https address of the store",
  ],
  [
    { [folder]: "/blobs", [endpoint]: "http://minio" },
    "TRAINYARD_BLOB_STORAGE_ENDPOINT needs TRAINYARD_BLOB_STORAGE",
  ],
])("wrong settings are named: %j", (variables, problem) => {
  expect(() => blobPlace(variables)).toThrow(`environment variables are wrong: ${problem}`);
});
