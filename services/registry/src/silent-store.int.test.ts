/** The registry while an object store accepts connections and does not answer. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SilentServer } from "@trainyard/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { registryLimits } from "./limits.ts";
import { experimentStoredIn, TestRegistry } from "./testing/test-registry.ts";

let registry: TestRegistry;
let silent: SilentServer;
let trial: string;

beforeAll(async () => {
  registry = await TestRegistry.start();
  silent = await SilentServer.start();
  const file = join(registry.folder, "storage.json");
  const s3 = { access_key_id: "key", secret_access_key: "secret" };
  await writeFile(file, JSON.stringify({ s3 }), { mode: 0o600 });
  const variables = {
    TRAINYARD_STORAGE_CREDENTIALS: file,
    TRAINYARD_STORAGE_ENDPOINTS: silent.url,
    TRAINYARD_STORAGE_SILENCE_SECONDS: "60",
  };
  await registry.restart({ more: variables });
  const storage = { type: "s3", bucket: "models", endpoint_url: silent.url };
  await registry.stage.tell("experiment-7", experimentStoredIn(storage));
  trial = await registry.newTrial("7");
});
afterAll(async () => {
  await registry[Symbol.asyncDispose]();
});

test("most of many commands for a silent store are unavailable at once, and commands for a directory succeed meanwhile", async () => {
  const { atOnceMax } = registryLimits.storeBrake;
  let waiting = atOnceMax + 100;
  const kinds = Array.from({ length: waiting }, async () => {
    // Some of these commands time out without an answer.
    const kind = await registry.declare(trial).then(
      ({ answer }) => answer.kind,
      () => "unavailable",
    );
    waiting -= 1;
    return kind;
  });
  const other = await registry.newTrial();
  const succeeds = async () => {
    const { answer } = await registry.stored(other);
    expect(answer).toMatchObject({ kind: "ok" });
  };
  await vi.waitFor(succeeds, { timeout: 15_000, interval: 100 });
  await vi.waitFor(() => expect(waiting).toBe(atOnceMax), { timeout: 15_000 });
  // All commands wait for a single request for the marker.
  expect(silent.connections).toBe(1);
  await silent[Symbol.asyncDispose]();
  expect(new Set(await Promise.all(kinds))).toEqual(new Set(["unavailable"]));
});
