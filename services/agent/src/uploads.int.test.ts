/** The agent delivers a process's checkpoints to an object store, on each of several hosts. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import type { RequestedRun } from "@trainyard/contracts/agent";
import { createLogger } from "@trainyard/runtime";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AgentConfig } from "./config.ts";
import { type AgentService, createService } from "./service.ts";
import { folderNameOf } from "./state/layout.ts";
import { agentConfig } from "./testing/agent-config.ts";
import { configured, launchOf, removeFolders } from "./testing/examples.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);

vi.setConfig({ testTimeout: 30_000 });
const patient = { timeout: 90_000, interval: 50 };
const first = "00000000-0000-4000-8000-00000000000f";
const second = "00000000-0000-4000-8000-00000000000a";

let hub: MemoryHub;
let platform: ScriptedPlatform;
let config: AgentConfig;
let agent: AgentService;

beforeEach(async () => {
  hub = createMemoryBus();
  platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  platform.store = "s3://models/team";
  config = agentConfig(platform.url, {
    TRAINYARD_SDK_PATH: join(import.meta.dirname, "../../../libs/sdk-python/src"),
  });
  agent = await createService(config, {
    bus: hub.connect("agent-rack"),
    logger: createLogger("agent", "silent"),
  });
  await agent.start();
});

afterEach(async () => {
  await agent.shutDownRuns();
  await agent[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});

const content = "model\n";
const own = {
  path: "shards/0",
  bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
};
const md5 = createHash("md5").update(content).digest("base64");
const other = { path: "shards/1", bytes: 1, sha256: "ab", md5: "abc" };

/** A script that leaves a checkpoint as the SDK does. */
const sealing = (checkpoint: string, sealedMs: number, more: object = {}): string => {
  const told = { sealedMs, checkpoint, stepsCompleted: sealedMs, metadata: {}, manifest: [own] };
  return [
    `mkdir -p "$TRAINYARD_CHECKPOINT_ROOT/${checkpoint}/shards" "$TRAINYARD_RUN_DIR/spool/checkpoints"`,
    `echo model > "$TRAINYARD_CHECKPOINT_ROOT/${checkpoint}/shards/0"`,
    `echo '${JSON.stringify({ ...told, ...more })}' > "$TRAINYARD_RUN_DIR/spool/checkpoints/${checkpoint}.json"`,
  ].join("; ");
};
const storing = configured({ checkpoint_storage: { type: "s3", bucket: "models" } });
const runDirOf = (launch: RequestedRun): string =>
  join(config.folder, "runs", folderNameOf(launch), "run");

test("the chief's host completes a checkpoint with the files of all hosts, and other hosts only send their own", async () => {
  const script = `${sealing(first, 1, { ofOthers: [other] })}; ${sealing(second, 2, { isPart: true })}`;
  const launch = launchOf(script, storing);
  platform.run(launch);
  await platform.ended(launch);
  const spool = join(runDirOf(launch), "spool/checkpoints");
  await vi.waitFor(() => expect(readdirSync(spool)).toEqual([]), patient);
  expect(platform.uploads).toEqual([first, second]);
  expect([...platform.checkpoints.keys()]).toEqual([first]);
  expect(platform.checkpoints.get(first)?.manifest).toEqual([{ ...own, md5 }, other]);
  for (const checkpoint of [first, second]) {
    const sealed = join(runDirOf(launch), "checkpoints", checkpoint);
    await vi.waitFor(() => expect(existsSync(sealed)).toBe(false), patient);
  }
});

test("TensorBoard files that a process left are sent before its end is reported", async () => {
  const script =
    'mkdir -p "$TRAINYARD_RUN_DIR/tensorboard/metrics"; echo x > "$TRAINYARD_RUN_DIR/tensorboard/metrics/events"';
  const launch = launchOf(script, storing);
  platform.run(launch);
  await platform.ended(launch);
  expect(platform.tensorBoard).toEqual(["metrics/events"]);
});

test("TensorBoard files with an object store of their own are sent even when checkpoints go to a directory", async () => {
  const script =
    'mkdir -p "$TRAINYARD_RUN_DIR/tensorboard"; echo "root=$TRAINYARD_TENSORBOARD_ROOT" > "$TRAINYARD_RUN_DIR/tensorboard/own"';
  const boards = { type: "gcs", bucket: "boards" };
  const launch = launchOf(script, configured({ tensorboard_storage: boards }));
  const before = platform.tensorBoard.length;
  platform.run(launch);
  await platform.ended(launch);
  expect(platform.tensorBoard.slice(before)).toEqual(["own"]);
  const written = readFileSync(join(runDirOf(launch), "tensorboard/own"), "utf8");
  expect(written).toBe("root=\n");
});

test("a checkpoint that waits for another host's files delays no other, and is not sent again meanwhile", async () => {
  platform.unsent.add(first);
  const launch = launchOf(
    `${sealing(first, 1, { ofOthers: [other] })}; ${sealing(second, 2)}`,
    storing,
  );
  platform.run(launch);
  await vi.waitFor(() => expect([...platform.checkpoints.keys()]).toEqual([second]), patient);
  const { checkpointRequests } = platform;
  await vi.waitFor(
    () => expect(platform.checkpointRequests).toBeGreaterThan(checkpointRequests + 4),
    patient,
  );
  expect(platform.uploads).toEqual([first, second]);
  platform.unsent.clear();
  await vi.waitFor(
    () => expect([...platform.checkpoints.keys()]).toEqual([second, first]),
    patient,
  );
});

test("a checkpoint whose files are unreadable delays no other, and is delivered once they are readable", async () => {
  const launch = launchOf(
    `${sealing(first, 1)}; rm "$TRAINYARD_CHECKPOINT_ROOT/${first}/shards/0"; mkdir "$TRAINYARD_CHECKPOINT_ROOT/${first}/shards/0"; ${sealing(second, 2)}`,
    storing,
  );
  platform.run(launch);
  await vi.waitFor(() => expect([...platform.checkpoints.keys()]).toEqual([second]), patient);
  const file = join(runDirOf(launch), "checkpoints", first, "shards/0");
  rmdirSync(file);
  writeFileSync(file, content);
  await vi.waitFor(
    () => expect([...platform.checkpoints.keys()]).toEqual([second, first]),
    patient,
  );
});

test("a file that can never be sent fails its checkpoint with the reason, so that no other host waits", async () => {
  const script = `${sealing(first, 1, { isPart: true })}; echo other > "$TRAINYARD_CHECKPOINT_ROOT/${first}/shards/0"`;
  const launch = launchOf(script, storing);
  platform.run(launch);
  await platform.ended(launch);
  const spool = join(runDirOf(launch), "spool/checkpoints");
  await vi.waitFor(() => expect(readdirSync(spool)).toEqual([]), patient);
  expect([...platform.failed.keys()]).toEqual([first]);
  expect(platform.failed.get(first)).toContain("has changed since the checkpoint was stored");
});

test("a checkpoint whose files were removed here is offered again with its manifest, and nothing is sent", async () => {
  const launch = launchOf(sealing(first, 1), storing);
  platform.run(launch);
  await vi.waitFor(() => expect([...platform.checkpoints.keys()]).toEqual([first]), patient);
  await platform.ended(launch);
  const local = join(runDirOf(launch), "checkpoints", first);
  await vi.waitFor(() => expect(existsSync(local)).toBe(false), patient);
  const completed = platform.checkpoints.get(first);
  platform.checkpoints.clear();
  platform.epoch += 1;
  platform.send();
  await vi.waitFor(() => expect(platform.checkpoints.get(first)).toEqual(completed), patient);
  expect(platform.uploads).toEqual([first]);
});

test("a checkpoint that the platform has given up is asked for once, not counted, and stays", async () => {
  platform.checkpointStatus = 409;
  platform.checkpointCode = "checkpoint_abandoned";
  const launch = launchOf(sealing(first, 1), storing);
  platform.run(launch);
  const ended = await platform.ended(launch);
  expect(ended.sealed?.checkpoints).toHaveLength(1);
  await vi.waitFor(() => expect(platform.report?.undelivered).toBeUndefined(), patient);
  await vi.waitFor(() => expect(platform.texts(launch)).toHaveLength(1), patient);
  const { checkpointRequests } = platform;
  platform.epoch += 1;
  platform.send();
  await vi.waitFor(() => expect(platform.report?.epoch).toBe(platform.epoch), patient);
  expect(platform.checkpointRequests).toBe(checkpointRequests);
  expect(existsSync(join(runDirOf(launch), "checkpoints", first, "shards/0"))).toBe(true);
  expect(readdirSync(join(runDirOf(launch), "spool/checkpoints"))).toEqual([`${first}.json`]);
});
