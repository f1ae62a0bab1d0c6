import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus";
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import { livingProcesses } from "@trainyard/kernel/process-identity";
import { createLogger } from "@trainyard/runtime";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { parseConfig } from "./config.ts";
import { type AgentService, createService } from "./service.ts";
import { folderNameOf } from "./state/layout.ts";
import { launchOf, newFolder, packed, removeFolders, runAt } from "./testing/examples.ts";
import { needPodman, Podman, podmanProblem, testImage } from "./testing/podman.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

// Real containers on a machine that others use.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 120_000 });
const patient = { timeout: 20_000, interval: 20 };

let podman: Podman | null = null;
let hub: MemoryHub;
let platform: ScriptedPlatform;
let folder: string;
let agent: AgentService | null = null;

beforeAll(async () => {
  if (podmanProblem() === null) podman = await Podman.start();
});
afterAll(async () => {
  await podman?.[Symbol.asyncDispose]();
  removeFolders();
});
beforeEach(async ({ skip }) => {
  needPodman(skip);
  folder = newFolder();
  hub = createMemoryBus();
  platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
});
afterEach(async () => {
  await agent?.shutDownRuns();
  await agent?.[Symbol.asyncDispose]();
  agent = null;
  await platform[Symbol.asyncDispose]();
});

const engine = (): Podman => {
  if (podman === null) throw new Error("there is no podman");
  return podman;
};

async function start(more: Readonly<Record<string, string>> = {}): Promise<void> {
  const config = parseConfig({
    PATH: process.env["PATH"] ?? "",
    TRAINYARD_NATS_URL: "unused",
    TRAINYARD_NATS_PASSWORD: "hush",
    TRAINYARD_AGENT_NAME: "rack",
    TRAINYARD_AGENT_DIR: folder,
    TRAINYARD_AGENT_SLOT_TYPE: "cpu",
    TRAINYARD_AGENT_SLOTS: "2",
    TRAINYARD_API_URL: "http://127.0.0.1:1",
    TRAINYARD_METRICS_URL: platform.url,
    TRAINYARD_AGENT_RUNTIME: "podman",
    TRAINYARD_AGENT_ENGINE_SOCKET: engine().socket,
    ...more,
  });
  const overrides = { bus: hub.connect("agent-rack"), logger: createLogger("agent", "silent") };
  agent = await createService(config, overrides);
  await agent.start();
}

const image = (more: object = {}): Partial<Plain<Launch>> => ({
  config: { environment: { image: testImage }, ...more },
});

const pathOf = ({ allocation }: { allocation: string }): string =>
  join(folder, "runs", folderNameOf(allocation));

async function ended(launch: Plain<Launch>) {
  platform.run(launch);
  return await platform.ended(launch);
}

test("a run in a container is what its image, its mounts and the agent's limits make of it", async () => {
  await start({
    TRAINYARD_AGENT_CONTAINER_MEMORY: "256M",
    TRAINYARD_AGENT_CONTAINER_CPUS: "0.5",
    TRAINYARD_AGENT_CONTAINER_ULIMITS: "nofile=333:444,nproc=4096:4096",
  });
  const data = newFolder();
  writeFileSync(join(data, "a.txt"), "data of the host\n");
  const launch = launchOf(
    `cat data/a.txt /same/a.txt; touch /same/b 2>/dev/null || echo refused
     df -m /dev/shm | tail -1 | tr -s ' ' | cut -d ' ' -f 2; ulimit -n
     grep -c . /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null
     id -u; pwd; grep CapEff /proc/self/status; ls /home 2>&1; cat /proc/1/comm`,
    image({
      bind_mounts: [
        { host_path: data, container_path: "data" },
        { host_path: data, container_path: "/same", read_only: true },
      ],
      resources: { shm_size: "96M" },
      environment: { image: { cpu: testImage, cuda: "other" }, drop_capabilities: ["NET_RAW"] },
    }),
  );
  expect((await ended(launch)).exit).toMatchObject({ code: 0, message: platform.texts(launch).join("|") });
  const texts = platform.texts(launch);
  expect(texts.slice(0, 5)).toEqual([
    "data of the host",
    "data of the host",
    "refused",
    "96",
    "333",
  ]);
  expect(texts).toContain("0");
  expect(texts).toContain(join(pathOf(launch), "work", "1"));
  expect(texts.find((text) => text.startsWith("CapEff"))).toMatch(/\t0+$/);
});

test("x", async () => {
  await start();
  const launch = launchOf("echo hi; echo ho >&2; exit 3", image());
  console.log((await ended(launch)).exit, platform.texts(launch), readFileSync(join(pathOf(launch), "supervisor.log"), "utf8"));
  const two = launchOf("cat /proc/1/comm; ls /; id", image());
  console.log((await ended(two)).exit, platform.texts(two));
  const three = launchOf("df -m /dev/shm | tail -1 | tr -s ' ' | cut -d ' ' -f 2; ulimit -n; grep CapEff /proc/self/status; echo $?; cat /proc/1/comm; ls /home 2>&1; echo $?", image());
  console.log((await ended(three)).exit, platform.texts(three));
});
