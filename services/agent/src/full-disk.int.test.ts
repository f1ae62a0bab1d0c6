/** Runs with a full file system under the agent's folder: a small one, which only root can make. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import type { RequestedRun } from "@trainyard/contracts/agent";
import { livingProcess } from "@trainyard/kernel/process-identity";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { AgentConfig } from "./config.ts";
import { type AgentService, createService } from "./service.ts";
import { folderNameOf } from "./state/layout.ts";
import { RunFolder } from "./state/run-folder.ts";
import { agentConfig, nowhere } from "./testing/agent-config.ts";
import { launchOf, newFolder, packed, removeFolders } from "./testing/examples.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });
const patient = { timeout: 90_000, interval: 50 };

const folder = newFolder();
let canMount = false;
let emptyBytes = 0;
// Not at the module's load: a run that selects none of the tests would not unmount.
beforeAll(() => {
  canMount = mountSmall();
  emptyBytes = freeBytes();
});
afterAll(() => {
  if (canMount) execFileSync("umount", ["--lazy", folder]);
});

function mountSmall(): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=6m", "tmpfs", folder], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

let hub: MemoryHub;
let platform: ScriptedPlatform;
let config: AgentConfig;
let agent: AgentService;

async function startAgent(): Promise<void> {
  agent = await createService(config, {
    bus: hub.connect("agent-rack"),
    logger: createLogger("agent", "silent"),
  });
  await agent.start();
}

const ballast = join(folder, "ballast");
const freeBytes = (): number => {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
};

/** Fills the file system until less than a block is free. */
function fill(): void {
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(ballast, Buffer.alloc(bavail * bsize));
  expect(freeBytes()).toBe(0);
}

const folderOf = (launch: RequestedRun): string =>
  join(config.folder, "runs", folderNameOf(launch));

describe("on a full disk", () => {
  beforeEach(async ({ skip }) => {
    if (!canMount) notRun(skip, "root, who may mount a small file system");
    hub = createMemoryBus();
    platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
    // The supervisor of the previous test keeps removed files open until it has ended.
    await vi.waitFor(() => expect(freeBytes()).toBe(emptyBytes), patient);
    const state = join(folder, "agent");
    mkdirSync(state);
    config = agentConfig(platform.url, {
      TRAINYARD_AGENT_DIR: state,
      TRAINYARD_API_URL: nowhere,
    });
    await startAgent();
  });

  afterEach(async () => {
    if (!canMount) return;
    rmSync(ballast, { force: true });
    await agent.shutDownRuns();
    await agent[Symbol.asyncDispose]();
    await platform[Symbol.asyncDispose]();
    rmSync(config.folder, { recursive: true, force: true });
  });

  test("a trial that has filled the disk is killed on request, and its end is reported", async () => {
    const launch = launchOf(
      `head -c 9000000 /dev/zero > "$TRAINYARD_RUN_DIR/big"; exec sleep 1000`,
    );
    platform.run(launch);
    const { pid } = await platform.up(launch);
    await vi.waitFor(() => expect(freeBytes()).toBe(0), patient);
    platform.kill(launch);
    expect(await platform.ended(launch)).toMatchObject({
      killed: true,
      exit: { signal: "SIGKILL" },
    });
    expect(livingProcess(pid)).toBeNull();
    expect(freeBytes()).toBe(0);
    platform.unwant(launch);
  });

  test("a trial that has filled the disk ends by itself, and its exit code is reported", async () => {
    const launch = launchOf(`head -c 9000000 /dev/zero > "$TRAINYARD_RUN_DIR/big"; exit 3`);
    platform.run(launch);
    expect((await platform.ended(launch)).exit).toMatchObject({ code: 3 });
    expect(freeBytes()).toBe(0);
  });

  test("a launch fails with the reason, is forgotten on request, and is never started later", async () => {
    fill();
    const launch = launchOf("echo ran; exec sleep 1000");
    platform.run(launch);
    const ended = await platform.ended(launch);
    expect(ended).toMatchObject({ launchFailed: true, killed: false, pid: 0, slots: ["0", "1"] });
    expect(ended.exit?.message).toContain("the disk of its state folder is full (ENOSPC");
    expect(platform.report).toMatchObject({ version: platform.version, diskFreeBytes: 0 });
    rmSync(ballast);
    platform.send();
    await vi.waitFor(
      () => expect(platform.report?.diskFreeBytes).toBeGreaterThan(5_000_000),
      patient,
    );
    expect(platform.reported(launch.allocation)).toMatchObject({ launchFailed: true });
    platform.unwant(launch);
    await vi.waitFor(() => expect(platform.report?.allocations).toEqual([]), patient);
    await agent[Symbol.asyncDispose]();
    const before = platform.report?.incarnation;
    await startAgent();
    await vi.waitFor(() => expect(platform.report?.incarnation).not.toBe(before), patient);
    await vi.waitFor(() => expect(platform.report?.version).toBe(platform.version), patient);
    expect(platform.report?.allocations).toEqual([]);
    expect(readdirSync(join(config.folder, "runs"))).toEqual([]);
  });

  test("the agent accepts a scheduler that has just taken over, and carries out its kill", async () => {
    const launch = launchOf("exec sleep 1000");
    platform.run(launch);
    await platform.up(launch);
    fill();
    platform.epoch += 1;
    platform.kill(launch);
    expect(await platform.ended(launch)).toMatchObject({ killed: true });
    expect(platform.report?.epoch).toBe(platform.epoch);
  });

  test("model code that does not fit fails its launch with the reason, and its space is freed", async () => {
    const contextDigest = platform.addContext(
      await packed({
        "train.py": "print(1)\n",
        big: randomBytes(900).toString("hex").repeat(5_000),
      }),
    );
    const launch = launchOf("exec python3 train.py", { contextDigest });
    platform.run(launch);
    const ended = await platform.ended(launch);
    expect(ended).toMatchObject({ launchFailed: true, pid: 0 });
    expect(ended.exit?.message).toContain("the disk of its state folder is full (ENOSPC");
    expect(freeBytes()).toBeGreaterThan(5_000_000);
    expect(existsSync(join(folderOf(launch), "exit.json"))).toBe(true);
  });

  test("a supervisor that is killed takes its run with it, and the end is reported", async () => {
    const launch = launchOf("exec sleep 1000");
    platform.run(launch);
    const { pid } = await platform.up(launch);
    fill();
    const supervisor = RunFolder.open(folderOf(launch), systemClock)?.supervisor;
    process.kill(supervisor?.pid ?? 0, "SIGKILL");
    expect((await platform.ended(launch)).exit?.message).toContain("supervisor was killed");
    expect(livingProcess(pid)).toBeNull();
  });
});
