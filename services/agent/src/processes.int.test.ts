/** A run is over when none of its processes lives: each mechanism is tested with real processes that try to escape. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import { AllocationReportState, type RequestedRun } from "@trainyard/contracts/agent";
import {
  carries,
  identityOfChild,
  isAlive,
  livingProcesses,
} from "@trainyard/kernel/process-identity";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { AgentConfig } from "./config.ts";
import { type AgentService, createService } from "./service.ts";
import { folderNameOf } from "./state/layout.ts";
import { RunFolder } from "./state/run-folder.ts";
import { type ProcessMechanism, runGroupOf } from "./state/run-group.ts";
import { holdingHere } from "./supervisor/python.ts";
import { agentConfig, nowhere } from "./testing/agent-config.ts";
import { launchOf, packed, removeFolders } from "./testing/examples.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });
const patient = { timeout: 90_000, interval: 50 };

const isRoot = process.getuid?.() === 0;
const noCgroup = holdingHere().cgroup;
const mechanisms: readonly ProcessMechanism[] =
  noCgroup === null ? ["cgroup", "parent"] : ["parent"];

let hub: MemoryHub;
let platform: ScriptedPlatform;
let config: AgentConfig;
let agent: AgentService | null = null;

async function startAgent(processGroups: ProcessMechanism | "auto"): Promise<void> {
  config = agentConfig(platform.url, {
    TRAINYARD_AGENT_PROCESS_GROUPS: processGroups,
    TRAINYARD_API_URL: nowhere,
  });
  agent = await createService(config, {
    bus: hub.connect("agent-rack"),
    logger: createLogger("agent", "silent"),
  });
  await agent.start();
}

beforeEach(async () => {
  hub = createMemoryBus();
  platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
});

afterEach(async () => {
  await agent?.shutDownRuns();
  await agent?.[Symbol.asyncDispose]();
  agent = null;
  await platform[Symbol.asyncDispose]();
});

const folderOf = (launch: RequestedRun): string =>
  join(config.folder, "runs", folderNameOf(launch));

/** The pids of living processes with this text in their command line. */
function withText(text: string): readonly number[] {
  return livingProcesses().flatMap(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text) ? [pid] : [];
    } catch {
      return [];
    }
  });
}

async function python(script: string) {
  const contextDigest = platform.addContext(await packed({ "train.py": script }));
  return launchOf("exec python3 -S -E train.py", { contextDigest });
}

/** Each marker is a unique number, which identifies the processes of a test. */
let markers = 0;
const newMarker = (): string => `86${process.pid}.${(markers += 1)}`;

const whileWaiting = `
import os, sys, time, signal
def up():
    print("up", flush=True)
    time.sleep(1000)
def quiet():
    nothing = os.open(os.devnull, os.O_RDWR)
    for n in (0, 1, 2): os.dup2(nothing, n)
`;

/** A script that forks and ends forever, in a new session each time. */
const forker = `${whileWaiting}
if os.fork() == 0:
    quiet()
    while True:
        os.setsid() if os.getpid() != os.getsid(0) else None
        if os.fork() != 0: os._exit(0)
up()
`;

const doubleFork = (marker: string): string => `${whileWaiting}
if os.fork() == 0:
    os.setsid()
    if os.fork() != 0: os._exit(0)
    os.chdir("/")
    quiet()
    os.execve("/bin/sleep", ["sleep", "${marker}"], {})
up()
`;

const manyForks = `${whileWaiting}
for n in range(1000):
    if os.fork() == 0:
        quiet()
        if n % 2 == 0: os.setsid()
        signal.pause()
for n in range(2000):
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
up()
`;

describe.each(mechanisms)(
  "with %s, no process of a run lives once its end is reported",
  (mechanism) => {
    beforeEach(async () => {
      await startAgent(mechanism);
    });

    /** Expects that no process of the launch lives, and none with the marker. */
    function expectGone(launch: RequestedRun, marker?: string): void {
      const runDir = join(folderOf(launch), "run");
      const left = livingProcesses().filter(({ pid }) => carries(pid, "TRAINYARD_RUN_DIR", runDir));
      expect(left).toEqual([]);
      if (marker !== undefined) expect(withText(marker)).toEqual([]);
    }

    async function upAndKilled(launch: Awaited<ReturnType<typeof python>>): Promise<void> {
      platform.run(launch);
      await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
      expect(JSON.parse(readFileSync(join(folderOf(launch), "group.json"), "utf8"))).toMatchObject({
        mechanism,
      });
      platform.kill(launch);
      expect(await platform.ended(launch)).toMatchObject({
        killed: true,
        exit: { signal: "SIGKILL" },
      });
    }

    test("a kill ends a process that left its session and cleared its environment", async () => {
      const marker = newMarker();
      const launch = launchOf(`env -i setsid sleep ${marker} & echo up; wait`);
      await upAndKilled(launch);
      expectGone(launch, marker);
    });

    test("a kill ends a daemon that forked twice", async () => {
      const marker = newMarker();
      const launch = await python(doubleFork(marker));
      await upAndKilled(launch);
      expectGone(launch, marker);
    });

    test("a daemon that forked twice is ended when the script ends by itself", async () => {
      const marker = newMarker();
      const script = doubleFork(marker).replace("\nup()", "\ntime.sleep(0.3); sys.exit(3)");
      const launch = await python(script);
      platform.run(launch);
      expect((await platform.ended(launch)).exit).toMatchObject({ code: 3, signal: "" });
      expectGone(launch, marker);
    });

    test("a kill ends a process that forks and ends forever", async () => {
      const launch = await python(forker);
      await upAndKilled(launch);
      expectGone(launch);
    });

    test("a kill ends a thousand processes, after thousands that had ended", async () => {
      const launch = await python(manyForks);
      await upAndKilled(launch);
      expectGone(launch);
    });

    test("a kill ends processes that ignore SIGTERM, and a stopped process", async () => {
      const marker = newMarker();
      const launch = launchOf(
        `trap '' TERM; setsid sleep ${marker} & sleep ${marker} & kill -STOP $!; echo up; wait; wait`,
      );
      platform.run(launch);
      await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
      await agent?.shutDownRuns();
      await platform.ended(launch);
      expectGone(launch, marker);
    });

    test("the processes of a killed supervisor are ended", async () => {
      const marker = newMarker();
      const launch = launchOf(`env -i setsid sleep ${marker} & echo up; wait`);
      platform.run(launch);
      await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
      process.kill(RunFolder.open(folderOf(launch), systemClock)?.supervisor?.pid ?? 0, "SIGKILL");
      const ended = await platform.ended(launch);
      expect(ended.exit?.message).toContain("supervisor was killed");
      expectGone(launch, marker);
      const group = JSON.parse(
        readFileSync(join(folderOf(launch), "group.json"), "utf8"),
      ) as object;
      if ("path" in group) expect(existsSync(String(group.path))).toBe(false);
    });

    test("the agent's reports name the mechanism", async () => {
      await vi.waitFor(() => expect(platform.report?.processGroups).toBe(mechanism), patient);
    });

    test("a script's output and the way it ended are reported unchanged", async () => {
      const launch = launchOf("echo out; echo err >&2; kill -USR1 $$");
      platform.run(launch);
      const { exit, pid } = await platform.ended(launch);
      expect(exit).toMatchObject({ signal: "SIGUSR1", message: "ended by SIGUSR1: err" });
      expect(exit?.code).toBeUndefined();
      expect(pid).toBeGreaterThan(0);
      expect(platform.texts(launch).toSorted()).toEqual(["err", "out"]);
      const missing = launchOf(["no-such-program", "x"]);
      platform.run(missing);
      expect((await platform.ended(missing)).exit).toMatchObject({
        code: 127,
        message: expect.stringContaining('"no-such-program" was not found'),
      });
      const large = launchOf(["sh", "-c", 'echo "$BIG" | wc -c', "ü\n$x"], {
        environmentVariables: [`BIG=${"y".repeat(100_000)}`],
      });
      platform.run(large);
      expect((await platform.ended(large)).exit).toMatchObject({ code: 0 });
      expect(platform.texts(large).map((text) => text.trim())).toEqual(["100001"]);
    });
  },
);

test("a process of a run whose adoptive parent is killed is ended, and the run's end is reported as unknown", async () => {
  await startAgent("parent");
  const marker = newMarker();
  const launch = launchOf(`setsid sleep ${marker} & echo up; wait`);
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  const { parent } = JSON.parse(readFileSync(join(folderOf(launch), "group.json"), "utf8")) as {
    parent: { pid: number };
  };
  process.kill(parent.pid, "SIGKILL");
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({ killed: false, launchFailed: false, exit: { signal: "" } });
  expect(ended.exit?.code).toBeUndefined();
  expect(withText(marker)).toEqual([]);
});

const freezer = "/sys/fs/cgroup/freezer";
const canFreeze = isRoot && existsSync(join(freezer, "cgroup.procs"));

test("a process that cannot be killed keeps its run from ending, and the agent reports it in a sentence", async ({
  skip,
}) => {
  if (!canFreeze) notRun(skip, "a freezer of the older cgroups, and root");
  await startAgent("auto");
  const marker = newMarker();
  const launch = launchOf(`sleep ${marker} & echo up; wait`);
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  const [pid = 0] = await vi.waitFor(() => {
    const found = withText(marker).filter(
      (one) => readFileSync(`/proc/${one}/comm`, "utf8") === "sleep\n",
    );
    expect(found).toHaveLength(1);
    return found;
  }, patient);
  // A process in the older freezer takes no signal, like a process that waits in the kernel for a device.
  const cold = join(freezer, `trainyard-test-${process.pid}`);
  mkdirSync(cold);
  try {
    writeFileSync(join(cold, "cgroup.procs"), String(pid));
    writeFileSync(join(cold, "freezer.state"), "FROZEN");
    await vi.waitFor(
      () => expect(readFileSync(join(cold, "freezer.state"), "utf8")).toBe("FROZEN\n"),
      patient,
    );
    platform.kill(launch);
    const left = await vi.waitFor(() => {
      const report = platform.reported(launch.allocation);
      expect(report?.left).toContain(String(pid));
      return report;
    }, patient);
    expect(left).toMatchObject({ state: AllocationReportState.RUNNING, slots: ["0", "1"] });
    expect(left?.left).toBe(
      `process ${pid} (sleep, in the kernel) was killed and is still there: the run's slots stay taken until it is gone`,
    );
    expect(existsSync(join(folderOf(launch), "exit.json"))).toBe(false);
  } finally {
    writeFileSync(join(cold, "freezer.state"), "THAWED");
  }
  expect(await platform.ended(launch)).toMatchObject({ killed: true });
  expect(platform.reported(launch.allocation)?.left ?? "").toBe("");
  await vi.waitFor(() => rmdirSync(cold), patient);
});

test("a process whose first thread has ended counts as living, and a zombie does not", async () => {
  await startAgent("auto");
  const script = (ending: string): string => `
import ctypes, os, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
print("up", flush=True)
${ending}
`;
  const start = async (code: string) => {
    const child = spawn("python3", ["-S", "-E", "-c", code], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    return { child, said: said.toString() };
  };
  // System call 60 (93 on ARM) ends one thread.
  const exit = process.arch === "arm64" ? 93 : 60;
  const { child: headless } = await start(script(`ctypes.CDLL(None).syscall(${exit}, 0)`));
  const stateOf = (pid: number): string =>
    / ([A-Z]) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1] ?? "";
  const lives = (pid: number): boolean => livingProcesses().some((one) => one.pid === pid);
  try {
    await vi.waitFor(() => expect(stateOf(headless.pid ?? 0)).toBe("Z"), patient);
    expect(lives(headless.pid ?? 0)).toBe(true);
  } finally {
    headless.kill("SIGKILL");
  }
  await once(headless, "exit");
  expect(lives(headless.pid ?? 0)).toBe(false);
  const { child: keeper, said } = await start(
    "import os, time\npid = os.fork()\nif pid == 0: os._exit(0)\nprint(pid, flush=True)\ntime.sleep(1000)",
  );
  try {
    const zombie = Number(said);
    await vi.waitFor(() => expect(stateOf(zombie)).toBe("Z"), patient);
    const identity = identityOfChild(zombie);
    expect(identity).not.toBeNull();
    expect([lives(zombie), identity !== null && isAlive(identity)]).toEqual([false, false]);
    const group = runGroupOf("/none", () => identity, null);
    expect([group.members(), group.isOver(), group.signal("SIGKILL")]).toEqual([[], true, false]);
  } finally {
    keeper.kill("SIGKILL");
  }
});

test("the best mechanism that the host allows is the default", async ({ skip }) => {
  if (noCgroup !== null) notRun(skip, noCgroup);
  await startAgent("auto");
  await vi.waitFor(() => expect(platform.report?.processGroups).toBe("cgroup"), patient);
});

test("processes are all stopped, also those that are forked meanwhile, before the first one is killed", () => {
  const script = `
import json, os, sys, time
sys.path.insert(0, ${JSON.stringify(join(import.meta.dirname, "supervisor"))})
import parent
sent, send = [], os.kill
def sleeper():
    pid = os.fork()
    if pid == 0: time.sleep(60)
def kill(pid, number):
    # The bomb forks while its first process is stopped.
    if not sent: sleeper()
    sent.append(number)
    send(pid, number)
os.kill = kill
for _ in range(3): sleeper()
parent.kill_descendants(set())
for _ in range(4): os.wait()
print(json.dumps(sent))`;
  const said = execFileSync("python3", ["-B", "-c", script], { encoding: "utf8", timeout: 30_000 });
  const { SIGSTOP, SIGKILL } = constants.signals;
  expect(JSON.parse(said)).toEqual([...Array(4).fill(SIGSTOP), ...Array(4).fill(SIGKILL)]);
});
