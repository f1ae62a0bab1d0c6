import { storageKinds } from "@trainyard/blob";
import { parseExperiment } from "@trainyard/experiment-config";
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

test("every kind of storage that opens has a checkpoint_storage section, and no other kind runs", () => {
  const valid = {
    directory: { container_path: "/c" },
    shared_fs: { host_path: "/h" },
    s3: { bucket: "models" },
    gcs: { bucket: "models" },
  } satisfies Readonly<Record<keyof typeof storageKinds, object>>;
  for (const [type, place] of Object.entries(valid)) {
    const parsed = parseExperiment(
      JSON.stringify({
        name: "a",
        entrypoint: "true",
        searcher: { name: "single", metric: "loss" },
        checkpoint_storage: { type, ...place },
      }),
    );
    expect(parsed).toMatchObject({ config: { checkpoint_storage: { type, ...place } } });
  }
  const azure = JSON.stringify({ checkpoint_storage: { type: "azure", container: "a" } });
  expect(parseExperiment(azure)).toMatchObject({
    detail: expect.stringContaining(`${Object.keys(storageKinds).join(", ")} work`),
  });
});
