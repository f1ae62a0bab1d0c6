/** Tests of a process that leaves hostile files in its folder: its run ends, and other runs stay reported. */
import { join } from "node:path";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import { EndReason } from "@trainyard/contracts/events";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AgentConfig } from "./config.ts";
import { limits } from "./limits.ts";
import { type AgentService, createService } from "./service.ts";
import { RunFolder } from "./state/run-folder.ts";
import { agentConfig } from "./testing/agent-config.ts";
import { launchOf, removeFolders } from "./testing/examples.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);

vi.setConfig({ testTimeout: 30_000 });

let hub: MemoryHub;
let platform: ScriptedPlatform;
let config: AgentConfig;
let agent: AgentService;

async function startAgent(): Promise<AgentService> {
  const bus = hub.connect("agent-rack");
  const service = await createService(config, { bus, logger: createLogger("agent", "silent") });
  await service.start();
  return service;
}

beforeEach(async () => {
  hub = createMemoryBus();
  platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  config = agentConfig(platform.url);
  agent = await startAgent();
});

afterEach(async () => {
  await agent.shutDownRuns();
  await agent[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});

const endJson = (characters: number): string =>
  `printf '{"reason":"END_REASON_ERROR","message":"%s"}' "$(head -c ${characters} /dev/zero | tr '\\0' x)" > "$TRAINYARD_RUN_DIR/end.json"`;

test("an end.json of 300 KB is read and its message shortened, and another run stays reported", async () => {
  const neighbour = launchOf("sleep 1000");
  platform.run(neighbour);
  await platform.up(neighbour);
  const launch = launchOf(`${endJson(300_000)}; exit 3`);
  platform.run(launch);
  const ended = await platform.ended(launch);
  expect(ended.endRecord?.reason).toBe(EndReason.ERROR);
  expect(ended.endRecord?.message).toBe("x".repeat(limits.endMessageCharsMax));
  expect(platform.reported(neighbour.allocation)).toBeDefined();
});

test.each([
  ["1.2 MB", "head -c 1200000 /dev/zero > end.json", "has 1200000 bytes"],
  ["20 GB without content", "truncate -s 20G end.json", "bytes and may have"],
  ["a pipe without a writer", "mkfifo end.json", ""],
  ["a link to an endless file", "ln -s /dev/zero end.json", ""],
  ["a folder", "mkdir end.json", ""],
])("an end.json of %s is ignored, and the exit code is reported", async (_, make, said) => {
  const neighbour = launchOf("sleep 1000");
  platform.run(neighbour);
  await platform.up(neighbour);
  const launch = launchOf(`cd "$TRAINYARD_RUN_DIR"; ${make}; exit 4`);
  platform.run(launch);
  const ended = await platform.ended(launch);
  expect(ended.endRecord).toBeUndefined();
  expect(ended.exit).toMatchObject({ code: 4, message: expect.stringContaining(said) });
  expect(platform.reported(neighbour.allocation)).toBeDefined();
});

test("values of an end.json that no event can hold are left out of the reported end", async () => {
  const spoilt = launchOf(
    String.raw`printf '{"reason":"END_REASON_ERROR","message":"a\\u0000b\\ud800c"}' > "$TRAINYARD_RUN_DIR/end.json"`,
  );
  const unknown = launchOf(`echo '{"reason":77,"message":"x"}' > "$TRAINYARD_RUN_DIR/end.json"`);
  platform.run(spoilt);
  platform.run(unknown);
  expect((await platform.ended(spoilt)).endRecord?.message).toBe("a\uFFFDb\uFFFDc");
  expect((await platform.ended(unknown)).endRecord).toBeUndefined();
});

test("a spool with pipes, giant files and unreadable files does not keep a run from ending", async () => {
  const launch = launchOf(
    `mkdir -p "$TRAINYARD_RUN_DIR/spool/checkpoints"; cd "$TRAINYARD_RUN_DIR/spool"
     mkfifo reports.ndjson checkpoints/00000000-0000-4000-8000-00000000000f.json
     truncate -s 20G reports.acked checkpoints/00000000-0000-4000-8000-00000000000a.json; exit 5`,
  );
  const locked = launchOf(
    `mkdir -p "$TRAINYARD_RUN_DIR/spool/.reports.acked.agent.new"; cd "$TRAINYARD_RUN_DIR/spool"
     echo '{"key":"0-1","metrics":{}}' > reports.ndjson; exit 6`,
  );
  platform.run(launch);
  platform.run(locked);
  expect((await platform.ended(launch)).exit?.code).toBe(5);
  expect((await platform.ended(locked)).exit?.code).toBe(6);
});

test("a report that is too long for one message is sent in parts, without losing a run", async () => {
  const neighbour = launchOf("sleep 1000");
  platform.run(neighbour);
  await platform.up(neighbour);
  platform.forgets = false;
  await agent[Symbol.asyncDispose]();
  // Runs that ended while no agent was running, with reports of about ten kilobytes each.
  const slots = Array.from({ length: 1_024 }, (_, n) => `slot-${n}`);
  const ended = Array.from({ length: 150 }, () => launchOf("true", { slots }));
  for (const launch of ended) {
    const folder = RunFolder.create(join(config.folder, "runs"), launch, systemClock);
    folder.claimAsNeverStarted();
    folder.recordExit({ kind: "exited", code: 1, signal: null, message: "failed" });
  }
  agent = await startAgent();
  for (const launch of ended) await platform.ended(launch);
  expect(platform.partsHeard).toBeGreaterThan(1);
  expect(platform.report?.allocations.map(({ allocation }) => allocation).toSorted()).toEqual(
    [neighbour, ...ended].map(({ allocation }) => allocation).toSorted(),
  );
});
