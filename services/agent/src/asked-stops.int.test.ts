/** Runs that are asked to stop: real processes get SIGTERM once, unless they use the SDK. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus } from "@trainyard/bus/testing";
import type { RequestedRun } from "@trainyard/contracts/agent";
import { createLogger } from "@trainyard/runtime";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AgentConfig } from "./config.ts";
import { type AgentService, createService } from "./service.ts";
import { folderNameOf } from "./state/layout.ts";
import { agentConfig, nowhere } from "./testing/agent-config.ts";
import { launchOf, packed, removeFolders } from "./testing/examples.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });
const patient = { timeout: 60_000, interval: 20 };

let hub: ReturnType<typeof createMemoryBus>;
let platform: ScriptedPlatform;
let config: AgentConfig;
let agent: AgentService;

async function startAgent(): Promise<void> {
  const logger = createLogger("agent", "silent");
  agent = await createService(config, { bus: hub.connect("agent-rack"), logger });
  await agent.start();
}

beforeEach(async () => {
  hub = createMemoryBus();
  platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  config = agentConfig(platform.url, { TRAINYARD_API_URL: nowhere });
  await startAgent();
});

afterEach(async () => {
  await agent.shutDownRuns();
  await agent[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});

const runDirOf = (launch: RequestedRun): string =>
  join(config.folder, "runs", folderNameOf(launch), "run");

/** A script that saves its state at SIGTERM, and ends when the test says so. */
const saving = `
import os, signal, sys, time
folder = os.environ["TRAINYARD_RUN_DIR"]
def save(*_):
    print("told", flush=True)
    open(os.path.join(folder, "saved"), "w").write("state")
signal.signal(signal.SIGTERM, save)
print("up", flush=True)
while not os.path.exists(os.path.join(folder, "end")): time.sleep(0.02)
print("done", flush=True)
sys.exit(3)
`;

const command = "python3 -S -E train.py";

async function upWith(script: string, entrypoint = command) {
  const contextDigest = platform.addContext(await packed({ "train.py": script }));
  const launch = launchOf(entrypoint, { contextDigest });
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  return launch;
}

test("a run that does not use the SDK gets SIGTERM at once, and only once, also after a restart of the agent", async () => {
  const launch = await upWith(saving);
  const askedMs = performance.now();
  platform.stop(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up", "told"]), patient);
  expect(performance.now() - askedMs).toBeLessThan(5_000);
  expect(platform.reported(launch.allocation)).toMatchObject({ terminated: true });
  await agent[Symbol.asyncDispose]();
  const { incarnation } = platform.report ?? {};
  await startAgent();
  await vi.waitFor(() => expect(platform.report?.incarnation).not.toBe(incarnation), patient);
  platform.stop(launch);
  // The stop is withdrawn, and requested again.
  platform.run(launch);
  platform.stop(launch);
  await vi.waitFor(() => expect(platform.report?.version).toBe(platform.version), patient);
  writeFileSync(join(runDirOf(launch), "end"), "");
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({ terminated: true, killed: false });
  expect(platform.texts(launch)).toEqual(["up", "told", "done"]);
  expect(readFileSync(join(runDirOf(launch), "saved"), "utf8")).toBe("state");
});

/** A training that needs its workers to save, which takes a while. */
const training = `
import os, signal, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    pool.submit(abs, 1).result()
    asked = []
    signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
    print("up", flush=True)
    while not asked: time.sleep(0.02)
    time.sleep(1)
    print(pool.submit(sum, asked).result(), flush=True)
    sys.exit(0)
`;
const forwarding = `
import signal, subprocess, sys, time
training = subprocess.Popen([sys.executable, "train.py"], start_new_session=True)
signal.signal(signal.SIGTERM, lambda *_: training.terminate())
sys.exit(training.wait())
`;
const script = "set -e\nexport A=1\npython3 train.py\necho after\n";

test.each([
  "python3 train.py",
  "bash run.sh",
  "sh run.sh & wait",
  "(python3 train.py; echo after)",
  "python3 train.py 2>&1 | tee log.txt",
  "python3 launch.py",
])("at a stop, %j saves beside what it needs, and is asked once", async (entrypoint) => {
  const files = { "train.py": training, "run.sh": script, "launch.py": forwarding };
  const launch = launchOf(entrypoint, { contextDigest: platform.addContext(await packed(files)) });
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  platform.stop(launch);
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({ terminated: true, killed: false });
  expect(platform.texts(launch)).toEqual(["up", "1"]);
});

test("the commands in the background of an entrypoint may end before its shell", async () => {
  const launch = await upWith(saving, `${command} & wait`);
  platform.stop(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up", "told"]), patient);
  writeFileSync(join(runDirOf(launch), "end"), "");
  await platform.ended(launch);
  expect(platform.texts(launch)).toEqual(["up", "told", "done"]);
});

test("a run that uses the SDK gets no signal", async () => {
  const launch = await upWith(saving, `mkdir "$TRAINYARD_RUN_DIR/spool"; exec ${command}`);
  platform.stop(launch);
  await vi.waitFor(() => expect(platform.report?.version).toBe(platform.version), patient);
  writeFileSync(join(runDirOf(launch), "end"), "");
  const ended = await platform.ended(launch);
  expect(ended.terminated ?? false).toBe(false);
  expect(ended.exit?.code).toBe(3);
  expect(existsSync(join(runDirOf(launch), "saved"))).toBe(false);
});

test("a run that ignores SIGTERM ends by a later kill, which is then its end", async () => {
  // Without exec, the shell is the first process, and its end by SIGTERM is the run's.
  const launch = await upWith(saving, `exec ${command}`);
  platform.stop(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up", "told"]), patient);
  platform.kill(launch);
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({ killed: true, exit: { signal: "SIGKILL" } });
});

test("a run that is still prepared is not started any more", async () => {
  platform.drip = { bytes: 1, piecesMax: 1 };
  const contextDigest = platform.addContext(await packed({ "train.py": saving }));
  const launch = launchOf("python3 train.py", { contextDigest });
  platform.run(launch);
  await vi.waitFor(() => expect(platform.downloads).toBe(1), patient);
  platform.stop(launch);
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({ terminated: true, killed: false, launchFailed: false, pid: 0 });
});
