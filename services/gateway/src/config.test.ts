import { expect, test } from "vitest";
import { parseConfig } from "./config.ts";

const environment = {
  TRAINYARD_POSTGRES_URL: "postgres://127.0.0.1:1/trainyard",
  TRAINYARD_NATS_URL: "127.0.0.1:1",
  TRAINYARD_BLOB_DIR: "/blobs",
  TRAINYARD_CHECKPOINT_DIR: "/checkpoints",
  TRAINYARD_RUN_TOKEN_KEY: "07".repeat(32),
};

test("the default storage of experiments is the folder of the cluster, or its object store", () => {
  const { checkpointStorage } = parseConfig(environment);
  expect(checkpointStorage).toEqual({ type: "directory", container_path: "/checkpoints" });
  const stored = parseConfig({
    ...environment,
    TRAINYARD_CHECKPOINT_STORAGE: "s3://models/team/a",
    TRAINYARD_CHECKPOINT_STORAGE_ENDPOINT: "https://minio.example:9000",
  });
  expect(stored.checkpointStorage).toEqual({
    type: "s3",
    bucket: "models",
    prefix: "team/a",
    endpoint_url: "https://minio.example:9000",
  });
});

test("a storage with an invalid bucket address is refused with the valid form", () => {
  const wrong = { ...environment, TRAINYARD_CHECKPOINT_STORAGE: "/srv/checkpoints" };
  expect(() => parseConfig(wrong)).toThrow("s3://bucket/prefix");
});
