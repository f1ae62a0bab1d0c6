import { afterAll, expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";
import { newFolder, removeFolders } from "./testing/examples.ts";

afterAll(removeFolders);

const required = {
  TRAINYARD_NATS_URL: "127.0.0.1:1",
  TRAINYARD_AGENT_DIR: newFolder(),
  TRAINYARD_API_URL: "http://127.0.0.1:1",
  TRAINYARD_METRICS_URL: "http://127.0.0.1:1",
};

test("an agent needs no PostgreSQL settings, and without an SDK path its runs use the installed package", () => {
  const config = parseConfig(required);
  expect(config).not.toHaveProperty("postgresUrl");
  expect(config.sdkPath).toBeNull();
});

test("an agent refuses to start with an SDK path that has no package trainyard", async () => {
  const config = parseConfig({ ...required, TRAINYARD_SDK_PATH: newFolder() });
  await expect(createService(config)).rejects.toThrow(/TRAINYARD_SDK_PATH.*no Python package/);
});
