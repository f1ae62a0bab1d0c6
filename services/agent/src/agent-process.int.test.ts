/**
 * The agent as a process on a real server: it is killed with SIGKILL, stopped with SIGTERM, and shut down with its
 * runs.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Bus, createNatsBus } from "@trainyard/bus";
import { startNats, type TestNats } from "@trainyard/bus/testing";
import { programFile } from "@trainyard/kernel/program-file";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { folderNameOf } from "./state/layout.ts";
import { ownVariables } from "./testing/agent-config.ts";
import { launchOf, newFolder, packed, removeFolders, taskOf } from "./testing/examples.ts";
import { HolderClient } from "./testing/holder-client.ts";
import { ViewersTerminal } from "./testing/screen.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });
const patient = { timeout: 90_000, interval: 50 };

let nats: TestNats;
let bus: Bus;
let platform: ScriptedPlatform;
const agents: ChildProcess[] = [];
const folder = newFolder();

beforeAll(async () => {
  nats = await startNats();
  bus = await createNatsBus({ servers: nats.url, name: "platform", onProblem: () => {} });
  platform = await ScriptedPlatform.start(bus, "rack.1");
});

afterEach(async () => {
  for (const agent of agents.splice(0)) await end(agent, "SIGUSR2");
});

afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  await bus[Symbol.asyncDispose]();
  await nats[Symbol.asyncDispose]();
  removeFolders();
});

function startAgent(): ChildProcess {
  const agent = spawn(process.execPath, [programFile(join(import.meta.dirname, "main.ts"))], {
    env: {
      ...ownVariables(),
      TRAINYARD_NATS_URL: nats.url,
      TRAINYARD_NATS_USER: "agent-rack.1",
      TRAINYARD_AGENT_NAME: "rack.1",
      TRAINYARD_AGENT_DIR: folder,
      TRAINYARD_AGENT_SLOT_TYPE: "cpu",
      TRAINYARD_AGENT_SLOTS: "2",
      TRAINYARD_API_URL: "http://127.0.0.1:1",
      TRAINYARD_METRICS_URL: platform.url,
      TRAINYARD_LOG_LEVEL: "warn",
    },
    stdio: ["ignore", "inherit", "inherit"],
  });
  agents.push(agent);
  return agent;
}

async function end(agent: ChildProcess, how: NodeJS.Signals): Promise<void> {
  if (agent.exitCode !== null || agent.signalCode !== null) return;
  agent.kill(how);
  await once(agent, "exit");
}

test("repeated kill -9 of the agent costs no run, no line, no report and no exit code", async () => {
  const script = [
    "import json, os, sys, time",
    "run = os.environ['TRAINYARD_RUN_DIR']",
    "os.makedirs(run + '/spool', exist_ok=True)",
    "for n in range(1, 301):",
    "    print(n)",
    "    if n % 100 == 0: open(run + '/spool/reports.ndjson', 'a').write(json.dumps({'key': '0-%d' % n}) + '\\n')",
    "    time.sleep(0.01)",
    "open(run + '/starts', 'a').write('x')",
    "sys.exit(7 if open(run + '/starts').read() == 'x' else 8)",
  ].join("\n");
  const contextDigest = platform.addContext(await packed({ "train.py": script }));
  const launch = launchOf("python3 train.py", { contextDigest });
  // A new agent must start on an empty folder.
  mkdirSync(folder, { recursive: true });
  let agent = startAgent();
  await vi.waitFor(() => expect(platform.report).not.toBeNull(), patient);
  platform.run(launch);
  const { pid } = await platform.up(launch);
  for (const lines of [20, 120, 220]) {
    await vi.waitFor(() => expect(platform.texts(launch).length).toBeGreaterThan(lines), patient);
    await end(agent, "SIGKILL");
    const incarnation = platform.report?.incarnation;
    agent = startAgent();
    await vi.waitFor(() => expect(platform.report?.incarnation).not.toBe(incarnation), patient);
    platform.send();
  }
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({ pid, exit: { code: 7 }, killed: false });
  await vi.waitFor(() => expect(platform.texts(launch)).toHaveLength(300), patient);
  expect(platform.texts(launch)).toEqual(Array.from({ length: 300 }, (_, n) => String(n + 1)));
  // A kill between an answer and its record causes a second delivery, which the platform drops by its key.
  const delivered = new Set(platform.received.map(({ key }) => key));
  expect([...delivered]).toEqual(["0-100", "0-200", "0-300"]);
});

test("a run that ends while no agent runs is reported by the next agent", async () => {
  const agent = startAgent();
  const launch = launchOf("echo up; sleep 0.5; echo over; exit 5");
  platform.run(launch);
  await vi.waitFor(() => {
    platform.send();
    expect(platform.reported(launch.allocation)?.pid).toBeGreaterThan(0);
  }, patient);
  const { pid } = await platform.up(launch);
  // SIGTERM keeps the run alive, like SIGKILL.
  await end(agent, "SIGTERM");
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), patient);
  startAgent();
  expect(await platform.ended(launch)).toMatchObject({ pid, exit: { code: 5 } });
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up", "over"]), patient);
});

test("runs continue while the server is unavailable, and their lines are delivered afterwards", async () => {
  startAgent();
  const launch = launchOf("for n in 1 2 3 4 5 6 7 8; do echo $n; sleep 0.1; done");
  await vi.waitFor(() => {
    platform.run(launch);
    expect(platform.reported(launch.allocation)?.pid).toBeGreaterThan(0);
  }, patient);
  await nats.kill();
  await vi.waitFor(() => expect(bus.connected()).toBe(false), patient);
  await nats.start();
  expect((await platform.ended(launch)).exit?.code).toBe(0);
  const all = Array.from({ length: 8 }, (_, n) => String(n + 1));
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(all), patient);
});

test("an agent that is shut down ends its runs, reports their ends, and exits", async () => {
  const agent = startAgent();
  const launch = launchOf("echo up; exec sleep 1000");
  await vi.waitFor(() => {
    platform.run(launch);
    expect(platform.reported(launch.allocation)?.pid).toBeGreaterThan(0);
  }, patient);
  const { pid } = await platform.up(launch);
  await end(agent, "SIGUSR2");
  expect(agent.exitCode).toBe(0);
  expect(() => process.kill(pid, 0)).toThrow();
  const { exit } = await platform.ended(launch);
  expect(exit).toMatchObject({ signal: "", message: "the agent was shut down with its runs" });
});

test("kill -9 of the agent costs a shell nothing: its viewers see the same terminal, and later ones its screen", async () => {
  let agent = startAgent();
  const launch = taskOf("shell", "", { environmentVariables: ["SHELL=/bin/sh"] });
  platform.run(launch);
  const run = join(folder, "runs", folderNameOf(launch), "run");
  const hello = { open: "terminal", name: "main", columns: 80, rows: 24 } as const;
  using first = await HolderClient.open(run, hello);
  await first.until(/[#$] $/);
  first.type("seq 1 200000; seq 200001 400000; echo all''done\n");
  await first.until("1000\r\n");
  await end(agent, "SIGKILL");
  agent = startAgent();
  await end(agent, "SIGKILL");
  await first.until("alldone");
  startAgent();
  using late = await HolderClient.open(run, hello);
  await late.until("alldone");
  const [early, later] = [new ViewersTerminal(first), new ViewersTerminal(late)];
  await vi.waitFor(async () => {
    const { rows } = await early.shown();
    expect(rows.at(-1)).toMatch(/[#$]$/);
    expect((await later.shown()).rows).toEqual(rows);
  }, patient);
  late.type("exit 6\n");
  expect((await platform.ended(launch)).exit?.code).toBe(6);
});
