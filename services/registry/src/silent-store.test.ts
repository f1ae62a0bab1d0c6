/** What the registry does while an object store takes connections and does not answer. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SilentServer } from "@trainyard/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { registryLimits } from "./limits.ts";
import { experimentCreated, TestRegistry } from "./testing/test-registry.ts";

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
    TRAINYARD_STORAGE_SILENCE_SECONDS: "6",
  };
  await registry.restart({ variables });
  const storage = { type: "s3", bucket: "models", endpoint_url: silent.url };
  await registry.stage.tell("experiment-7", experimentCreated(storage));
  trial = await registry.newTrial("7");
});
afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await silent[Symbol.asyncDispose]();
});

test("of 600 commands for a silent store most are unavailable at once, so that those of a directory succeed meanwhile", async () => {
  let ended = 0;
  const waiting = Array.from({ length: 600 }, async () => {
    const { answer } = await registry.declare(trial);
    ended += 1;
    return answer.kind;
  });
  const other = await registry.newTrial();
  const succeeds = async () => {
    const { answer } = await registry.stored(other);
    if (answer.kind !== "ok") throw new Error(`the directory's is ${answer.kind}`);
  };
  await vi.waitFor(succeeds, { timeout: 60_000, interval: 20 });
  expect(600 - ended).toBe(registryLimits.storeBrake.atOnceMax);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["unavailable"]));
  // One question for its marker, in two attempts, serves all.
  expect(silent.connections).toBe(2);
});

test("the command after one that was not answered is unavailable without asking again", async () => {
  const { answer } = await registry.declare(trial);
  expect(answer.kind).toBe("unavailable");
  expect(silent.connections).toBe(2);
});
