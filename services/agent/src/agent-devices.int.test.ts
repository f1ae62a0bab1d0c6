/**
 * Tests of an agent with GPUs, which a script listed in place of nvidia-smi: the slots that it offers, the GPUs that
 * its runs see, and the lines in their logs.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus } from "@trainyard/bus/testing";
import { createLogger } from "@trainyard/runtime";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AgentConfig } from "./config.ts";
import { type AgentService, createService } from "./service.ts";
import { agentConfig, nowhere } from "./testing/agent-config.ts";
import { launchOf, newFolder, removeFolders } from "./testing/examples.ts";
import { FakePrograms } from "./testing/fake-program.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);

// The tests start real processes on a shared machine.
vi.setConfig({ testTimeout: 60_000 });
const patient = { timeout: 90_000, interval: 50 };

const first = { uuid: "GPU-aaaaaaaa-1" };
const second = { uuid: "GPU-bbbbbbbb-2" };

let programs: FakePrograms;
let platform: ScriptedPlatform;
let agent: AgentService;
let config: AgentConfig;
let hub: ReturnType<typeof createMemoryBus>;

async function startAgent(): Promise<void> {
  agent = await createService(config, {
    bus: hub.connect("agent-rack"),
    logger: createLogger("agent", "silent"),
    deviceLookMs: 100,
  });
  await agent.start();
}

beforeEach(async () => {
  hub = createMemoryBus();
  platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  programs = new FakePrograms();
  programs.writeNvidiaSmi([first, second]);
  config = agentConfig(platform.url, {
    ...programs.variables,
    CUDA_VISIBLE_DEVICES: "5",
    TRAINYARD_AGENT_SLOT_TYPE: "auto",
    TRAINYARD_API_URL: nowhere,
  });
  await startAgent();
});

afterEach(async () => {
  await agent.shutDownRuns();
  await agent[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});

const offered = () => platform.report?.slots.map(({ id }) => id);

test("an agent offers its GPUs with name, memory, NUMA node and NVLink group", async () => {
  await vi.waitFor(() => expect(platform.report).not.toBeNull(), patient);
  const rest = {
    device: "cuda",
    name: "NVIDIA A100-SXM4-80GB",
    memoryBytes: 81_920 * 1024 * 1024,
    numaNode: 1,
    nvlinkGroup: 0,
  };
  expect(platform.report?.slots).toEqual([
    { id: first.uuid, uuid: first.uuid, ...rest },
    { id: second.uuid, uuid: second.uuid, ...rest },
  ]);
});

test("a run sees only the GPUs of its slots, and a run without slots sees none", async () => {
  const seen = 'echo "$CUDA_VISIBLE_DEVICES|$ROCR_VISIBLE_DEVICES|$TRAINYARD_SLOT_IDS"';
  const one = launchOf(seen, { slots: [second.uuid] });
  const both = launchOf(seen, { slots: [second.uuid, first.uuid] });
  const none = launchOf(seen, { slots: [] });
  for (const launch of [one, both, none]) platform.run(launch);
  for (const launch of [one, both, none]) await platform.ended(launch);
  expect(platform.texts(one)).toEqual([`${second.uuid}||${second.uuid}`]);
  const ids = `${second.uuid},${first.uuid}`;
  expect(platform.texts(both)).toEqual([`${ids}||${ids}`]);
  expect(platform.texts(none)).toEqual(["||"]);
});

test("a run continues when its GPU disappears; its log reports the loss, and the GPU's return", async () => {
  const launch = launchOf("sleep 1000", { slots: [second.uuid] });
  const beside = launchOf("sleep 1000", { slots: [first.uuid] });
  for (const one of [launch, beside]) platform.run(one);
  for (const one of [launch, beside]) await platform.up(one);
  programs.writeNvidiaSmi([first, { ...second, action: "Reset" }]);
  await vi.waitFor(() => expect(offered()).toEqual([first.uuid]), patient);
  const problem = `slot ${second.uuid} (NVIDIA A100-SXM4-80GB) is not offered any more: the driver asks for a recovery action: Reset`;
  const left = `${problem}; this run continues, and no other gets the slot until the device is back`;
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual([left]), patient);
  programs.writeNvidiaSmi([first, second]);
  await vi.waitFor(() => expect(offered()).toEqual([first.uuid, second.uuid]), patient);
  const back = "all slots of this run are offered again";
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual([left, back]), patient);
  await platform.up(launch);
  expect(platform.texts(beside)).toEqual([]);
});

test("a run that fails after its GPU disappeared reports that as a cause, also under the next agent process", async () => {
  const stop = join(newFolder(), "stop");
  const launch = launchOf(`until [ -e ${stop} ]; do sleep 0.05; done; echo lost >&2; exit 1`, {
    slots: [second.uuid],
  });
  platform.run(launch);
  await platform.up(launch);
  await agent[Symbol.asyncDispose]();
  programs.writeNvidiaSmi([first]);
  await startAgent();
  const problem = `slot ${second.uuid} is not offered by this agent`;
  await vi.waitFor(() => expect(platform.texts(launch)[0]).toContain(problem), patient);
  writeFileSync(stop, "");
  const { exit } = await platform.ended(launch);
  expect(exit).toMatchObject({ code: 1, message: `exited with code 1: lost; ${problem}` });
});

test("a launch for a GPU that has disappeared fails with the reason, and no process is started", async () => {
  programs.writeNvidiaSmi([first]);
  await vi.waitFor(() => expect(offered()).toEqual([first.uuid]), patient);
  const launch = launchOf("echo started", { slots: [second.uuid] });
  platform.run(launch);
  const { launchFailed, exit, pid } = await platform.ended(launch);
  expect({ launchFailed, pid }).toEqual({ launchFailed: true, pid: 0 });
  expect(exit?.message).toBe(
    `the agent could not start it: slot ${second.uuid} (NVIDIA A100-SXM4-80GB) is not offered any more: nvidia-smi does not list it`,
  );
});

test("a GPU that a process of no run uses is not offered while the process does, and the report says why", async () => {
  const stranger = spawn("sleep", ["1000"], { stdio: "ignore" });
  const { pid = 0 } = stranger;
  try {
    programs.writeNvidiaSmi([first, second], [{ uuid: second.uuid, pid }]);
    await vi.waitFor(() => expect(offered()).toEqual([first.uuid]), patient);
    const why = `slot ${second.uuid} (NVIDIA A100-SXM4-80GB) is not offered any more: process ${pid} (sleep) of no run uses it`;
    expect(platform.report?.notices).toEqual([why]);
  } finally {
    stranger.kill("SIGKILL");
  }
  programs.writeNvidiaSmi([first, second]);
  await vi.waitFor(() => expect(offered()).toEqual([first.uuid, second.uuid]), patient);
  expect(platform.report?.notices).toEqual([]);
});

test("a run's process on the GPU of another run is named once in the logs of both, and both slots stay offered", async () => {
  const victim = launchOf("sleep 1000", { slots: [first.uuid] });
  const intruder = launchOf("sleep 1000", { slots: [second.uuid] });
  const pids = new Map<typeof victim, number>();
  for (const launch of [victim, intruder]) {
    platform.run(launch);
    pids.set(launch, (await platform.up(launch)).pid);
  }
  const pid = pids.get(intruder) ?? 0;
  const own = { uuid: first.uuid, pid: pids.get(victim) ?? 0 };
  programs.writeNvidiaSmi([first, second], [own, { uuid: first.uuid, pid }]);
  const who = `process ${pid} (sh) of run ${intruder.allocation}`;
  await vi.waitFor(() => {
    expect(platform.texts(victim)).toEqual([`${who} uses ${first.uuid} of this run`]);
    expect(platform.texts(intruder)).toEqual([
      `process ${pid} (sh) of this run uses ${first.uuid}, which no slot of it has`,
    ]);
  }, patient);
  const notices = [`${who} uses ${first.uuid}, which run ${victim.allocation} has`];
  await vi.waitFor(() => expect(platform.report?.notices).toEqual(notices), patient);
  programs.writeNvidiaSmi([first, second], [own]);
  await vi.waitFor(() => expect(platform.report?.notices).toEqual([]), patient);
  programs.writeNvidiaSmi([first, second], [own, { uuid: first.uuid, pid }]);
  await vi.waitFor(() => expect(platform.report?.notices).toHaveLength(1), patient);
  expect(offered()).toEqual([first.uuid, second.uuid]);
  expect(platform.texts(victim)).toHaveLength(1);
});
