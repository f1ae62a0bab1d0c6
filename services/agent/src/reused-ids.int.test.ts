/**
 * A restored log draws the numbers of lost experiments again, so a new run may have the id of a run of the lost
 * history.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import { createLogger } from "@trainyard/runtime";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { type AgentService, createService } from "./service.ts";
import { agentConfig } from "./testing/agent-config.ts";
import { launchOf, newFolder, removeFolders } from "./testing/examples.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);

vi.setConfig({ testTimeout: 30_000 });

let hub: MemoryHub;
let platform: ScriptedPlatform;
let agent: AgentService;
let home: string;

beforeEach(async () => {
  hub = createMemoryBus();
  platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  const logger = createLogger("agent", "silent");
  home = newFolder();
  agent = await createService(agentConfig(platform.url, { TRAINYARD_AGENT_DIR: home }), {
    bus: hub.connect("agent-rack"),
    logger,
  });
  await agent.start();
});

afterEach(async () => {
  await agent.shutDownRuns();
  await agent[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});

test("a run that the agent has forgotten does not prevent a run of the same id and a later grant", async () => {
  const before = launchOf("echo lost");
  platform.run(before);
  await platform.ended(before);
  platform.unwant(before);
  await vi.waitFor(() => expect(platform.reported(before.allocation)).toBeUndefined(), 10_000);
  const { allocation, trial } = before;
  const after = launchOf("exit 7", {
    allocation,
    trial,
    grantPosition: "13",
    token: "ty1.1.x.13.y",
  });
  platform.run(after);
  await vi.waitFor(() => expect(platform.reported(allocation)?.exit?.code).toBe(7), 10_000);
});

test("a run of a lost history and a new run of its id run at the same time, and are ended and forgotten separately", async () => {
  const before = launchOf("exec sleep 1000");
  platform.run(before);
  const lost = await platform.up(before);
  const { allocation, trial } = before;
  const after = launchOf("exec sleep 1000", { allocation, trial, grantPosition: "13" });
  platform.run(after);
  const { pid } = await platform.up(after);
  expect(pid).not.toBe(lost.pid);
  platform.kill(before);
  expect((await platform.ended(before)).killed).toBe(true);
  platform.unwant(before);
  await vi.waitFor(
    () => expect(platform.reported(allocation, before.requestId)).toBeUndefined(),
    10_000,
  );
  expect(await platform.up(after)).toMatchObject({ pid });
});

test("the lines of a run whose history is lost are sent once, and stay in its folder until that is removed", async () => {
  const launch = launchOf("for n in 1 2 3; do echo line $n; sleep 0.3; done");
  platform.lostLines.set(launch.allocation, 0);
  platform.run(launch);
  await platform.ended(launch);
  platform.unwant(launch);
  await vi.waitFor(() => expect(platform.reported(launch.allocation)).toBeUndefined(), 10_000);
  expect(platform.lostLines.get(launch.allocation)).toBe(1);
  const files = globSync("runs/*/output/*.ndjson", { cwd: home });
  const output = files.map((file) => readFileSync(join(home, file), "utf8")).join("");
  expect(output).toContain("line 3");
});
