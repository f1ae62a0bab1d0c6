/** An agent whose name belongs to another agent, and one that has seen a higher epoch than the scheduler's. */
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import type { Plain } from "@trainyard/contracts";
import { type Report, spokenProtocol } from "@trainyard/contracts/agent";
import { assert } from "@trainyard/kernel";
import { createLogger } from "@trainyard/runtime";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AgentConfig } from "./config.ts";
import { type AgentService, createService } from "./service.ts";
import { agentConfig } from "./testing/agent-config.ts";
import { launchOf, removeFolders } from "./testing/examples.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);

vi.setConfig({ testTimeout: 30_000 });
const patient = { timeout: 90_000, interval: 50 };

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
  await vi.waitFor(() => expect(platform.report).not.toBeNull(), { timeout: 90_000 });
});

afterEach(async () => {
  await agent.shutDownRuns();
  await agent[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});

/** Returns the agent's last report. */
function heard(): Plain<Report> {
  assert(platform.report !== null, "the agent has reported");
  return platform.report;
}

/** Waits for the next two reports: by then the agent has reacted to a list. */
async function twoReports(): Promise<void> {
  const sequence = platform.report?.sequence ?? 0;
  await vi.waitFor(() => expect(platform.report?.sequence).toBeGreaterThan(sequence + 1), patient);
}

test("an agent ignores a list for another start of its name: it launches and kills nothing, and is not ready", async () => {
  const mine = launchOf("sleep 1000");
  platform.address = { incarnation: platform.report?.incarnation ?? "" };
  platform.run(mine);
  await platform.up(mine);
  platform.address = { incarnation: "another" };
  platform.kill(mine);
  const other = launchOf("true");
  platform.run(other);
  await twoReports();
  expect(platform.report?.allocations.map(({ allocation }) => allocation)).toEqual([
    mine.allocation,
  ]);
  expect(platform.reported(mine.allocation)?.exit).toBeUndefined();
  await agent[Symbol.asyncDispose]();
  agent = await startAgent();
  platform.send();
  await twoReports();
  expect(agent.readiness()).toBe("the scheduler has not answered yet");
});

test("an agent whose name belongs to another ends its runs, launches nothing, and is not ready until it gets the name", async () => {
  const running = launchOf("sleep 1000");
  platform.run(running);
  await platform.up(running);
  expect(agent.readiness()).toBeNull();
  const incarnation = platform.report?.incarnation ?? "";
  platform.address = { incarnation, nameTaken: "the name rack is held by another agent" };
  const wanted = launchOf("true");
  platform.run(wanted);
  platform.kill(running);
  expect(await platform.ended(running)).toMatchObject({ killed: true });
  expect(agent.readiness()).toBe("name_taken: the name rack is held by another agent");
  expect(platform.reported(wanted.allocation)).toBeUndefined();
  expect(platform.report?.version).toBe(1);
  platform.address = { incarnation };
  platform.send();
  await platform.ended(wanted);
  expect(agent.readiness()).toBeNull();
});

test("an agent reports the highest epoch that it has seen, even after a restart, and why it ignores a lower one", async () => {
  platform.epoch = 900;
  platform.send();
  await vi.waitFor(() => expect(platform.report?.highestEpoch).toBe(900), patient);
  await agent[Symbol.asyncDispose]();
  platform.report = null;
  agent = await startAgent();
  await vi.waitFor(() => expect(platform.report?.highestEpoch).toBe(900), patient);
  expect(heard().epoch).toBe(0);
  platform.epoch = 5;
  const launch = launchOf("true");
  platform.run(launch);
  await twoReports();
  expect(heard().allocations).toEqual([]);
  expect(agent.readiness()).toContain("epoch 5 and this agent has seen 900");
  platform.epoch = 901;
  platform.send();
  await platform.ended(launch);
  expect(agent.readiness()).toBeNull();
});

test("an agent that restarts in its folder reports the same id and address, and a later start", async () => {
  const before = platform.report;
  await agent[Symbol.asyncDispose]();
  platform.report = null;
  agent = await startAgent();
  await vi.waitFor(() => expect(platform.report).not.toBeNull(), patient);
  expect(platform.report).toMatchObject({ folder: before?.folder, place: before?.place });
  expect(heard().startedMs).toBeGreaterThan(before?.startedMs ?? 0);
  expect(heard().incarnation).not.toBe(before?.incarnation);
});

test("an agent that the scheduler finds too old is not ready, says why, and keeps its runs", async () => {
  const launch = launchOf("sleep 1000");
  platform.run(launch);
  await platform.up(launch);
  expect(agent.readiness()).toBeNull();
  platform.spoken = { protocol: 99, protocolOldest: 98 };
  platform.run(launch);
  const said = /too old: it speaks version 1 .* need 98; update the agent/;
  await vi.waitFor(() => expect(agent.readiness()).toMatch(said), patient);
  await platform.up(launch);
  expect(platform.report).toMatchObject(spokenProtocol);
  platform.spoken = spokenProtocol;
  platform.run(launch);
  await vi.waitFor(() => expect(agent.readiness()).toBeNull(), patient);
});
