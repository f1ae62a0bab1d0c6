import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import type { RequestedRun } from "@trainyard/contracts/agent";
import { EndReason } from "@trainyard/contracts/events";
import { createLogger } from "@trainyard/runtime";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AgentConfig } from "./config.ts";
import { type AgentService, createService } from "./service.ts";
import { folderNameOf } from "./state/layout.ts";
import { runGroupOf } from "./state/run-group.ts";
import { agentConfig, nowhere } from "./testing/agent-config.ts";
import { handmade, launchOf, newFolder, packed, removeFolders, runAt } from "./testing/examples.ts";
import { useRuntime } from "./testing/runtimes.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

const checkpoints = newFolder();
afterAll(removeFolders);
const runtime = useRuntime();
// The tests start real processes on a shared machine.
const sdk = join(import.meta.dirname, "../../../libs/sdk-python/src");
const patient = { timeout: 90_000, interval: 50 };
let hub: MemoryHub;
let platform: ScriptedPlatform;
let config: AgentConfig;
let agent: AgentService;

async function startAgent(): Promise<AgentService> {
  const service = await createService(config, {
    bus: hub.connect("agent-rack"),
    logger: createLogger("agent", "silent"),
  });
  await service.start();
  return service;
}

beforeEach(async () => {
  hub = createMemoryBus();
  platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  config = agentConfig(platform.url, {
    PYTHONPATH: "/elsewhere",
    TRAINYARD_NATS_PASSWORD: "hush",
    TRAINYARD_API_URL: nowhere,
    TRAINYARD_CHECKPOINT_DIR: checkpoints,
    TRAINYARD_SDK_PATH: sdk,
    ...runtime.variables,
  });
  agent = await startAgent();
});

afterEach(async () => {
  await agent.shutDownRuns();
  await agent[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});

/** The processes started for a run, by any mechanism. */
const startedFor = (runDir: string) => runGroupOf(runDir, () => null, null).members();

const folderOf = (launch: RequestedRun): string =>
  join(config.folder, "runs", folderNameOf(launch));

test("an agent reports its identity and its resources before it gets any list", async () => {
  await vi.waitFor(() => expect(platform.report).not.toBeNull(), patient);
  expect(platform.report).toMatchObject({
    agent: "rack",
    pool: "default",
    address: "127.0.0.1",
    allocations: [],
  });
  expect(platform.report?.slots.map(({ id, device }) => [id, device])).toEqual([
    ["0", "cpu"],
    ["1", "cpu"],
  ]);
});

test("an agent runs a trial's code with its environment, sends its lines, and reports its exit", async () => {
  const script =
    "import os, sys, trainyard\nprint('hello', os.environ['TRAINYARD_HPARAMS'])\nprint('oops', file=sys.stderr)\nsys.exit(3)\n";
  const contextDigest = platform.addContext(await packed({ "model/train.py": script }));
  const launch = launchOf(["python3", "model/train.py"], { contextDigest });
  platform.run(launch);
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({
    nodeRank: 0,
    slots: ["0", "1"],
    launchFailed: false,
    killed: false,
  });
  if (runtime.knowsEveryPid) expect(ended.pid).toBeGreaterThan(0);
  expect(ended.exit).toMatchObject({
    code: 3,
    signal: "",
    agent: "rack",
    message: "exited with code 3: oops",
  });
  expect(platform.texts(launch).toSorted()).toEqual(['hello {"lr":0.5}', "oops"]);
  expect(platform.report).toMatchObject({ epoch: 1, version: 1, probe: 7 });
  platform.unwant(launch);
  await vi.waitFor(() => expect(platform.report?.allocations).toEqual([]), patient);
  const isThere = (): boolean => existsSync(join(folderOf(launch), "work"));
  await vi.waitFor(() => expect(isThere()).toBe(false), patient);
});

test("a run's environment describes the run, and has no secret of the platform", async () => {
  const launch = launchOf("env", {
    environmentVariables: ["COLOUR=red=ish", "PYTHONPATH=/mine", "TRAINYARD_RUN=99"],
    latestCheckpoint: "a-b",
    stepsCompleted: 40,
  });
  platform.run(launch);
  await platform.ended(launch);
  const texts = platform.texts(launch);
  const sdk = join(import.meta.dirname, "../../../libs/sdk-python/src");
  expect(texts).toEqual(
    expect.arrayContaining([
      "COLOUR=red=ish",
      `PYTHONPATH=${sdk}:/mine`,
      "PYTHONUNBUFFERED=1",
      `TRAINYARD_CHECKPOINT_ROOT=${checkpoints}`,
      "TRAINYARD_URL=http://127.0.0.1:1",
      `TRAINYARD_METRICS_URL=${platform.url}`,
      `TRAINYARD_TOKEN=${launch.token}`,
      "TRAINYARD_EXPERIMENT_ID=7",
      `TRAINYARD_TRIAL_ID=${launch.trial}`,
      "TRAINYARD_RUN=1",
      "TRAINYARD_TRIAL_SEED=4000000000",
      'TRAINYARD_HPARAMS={"lr":0.5}',
      'TRAINYARD_CONFIG={"name":"example"}',
      "TRAINYARD_LATEST_CHECKPOINT=a-b",
      "TRAINYARD_STEPS_COMPLETED=40",
      "TRAINYARD_SLOT_IDS=0,1",
      "TRAINYARD_NODE_RANK=0",
      "TRAINYARD_NNODES=1",
      "TRAINYARD_MASTER_ADDR=127.0.0.1",
      "TRAINYARD_MASTER_PORT=20001",
      `TRAINYARD_RUN_DIR=${join(folderOf(launch), "run")}`,
    ]),
  );
  expect(texts.join("\n")).not.toMatch(/hush|TRAINYARD_NATS|TRAINYARD_AGENT/);
  expect(statSync(join(folderOf(launch), "spec.json")).mode & 0o077).toBe(0);
});

test("of a line that carriage returns rewrite the last state counts, and long lines are split and marked", async () => {
  const launch = launchOf(
    `printf '\\r 1%%\\r 2%%\\n'; head -c 20000 /dev/zero | tr '\\0' x; echo; printf last`,
  );
  platform.run(launch);
  await platform.ended(launch);
  const lines = platform.lines(launch);
  expect(lines.map(({ text, continued }) => [text.slice(0, 5), text.length, continued])).toEqual([
    [" 2%", 3, false],
    ["xxxxx", 16_384, true],
    ["xxxxx", 3_616, false],
    ["last", 4, false],
  ]);
});

test("the end of a process by SIGKILL hints at the host's memory, also when a shell reports it", async () => {
  const hint = "often because the host ran out of memory";
  const [alone, inShell] = [launchOf("kill -KILL $$"), launchOf("sh -c 'kill -KILL $$'; exit $?")];
  for (const launch of [alone, inShell]) platform.run(launch);
  expect((await platform.ended(alone)).exit?.message).toBe(`ended by SIGKILL, ${hint}`);
  // A container engine reports the code of a shell as the signal.
  const how = /^(exited with code 137, which a shell gives .* ended|ended by SIGKILL), often/;
  expect((await platform.ended(inShell)).exit?.message).toMatch(how);
});

test("a signal's name is reported, and a signal that a trial sent itself is no kill", async () => {
  const launch = launchOf("kill -TERM $$");
  platform.run(launch);
  const { exit, killed } = await platform.ended(launch);
  expect(exit).toMatchObject({ signal: "SIGTERM", message: "ended by SIGTERM" });
  expect(exit?.code).toBeUndefined();
  expect(killed).toBe(false);
});

test("a SIGKILL that the agent did not send does not count as the scheduler's kill", async () => {
  const launch = launchOf("kill -KILL $$");
  platform.run(launch);
  const { exit, killed } = await platform.ended(launch);
  expect(exit).toMatchObject({
    signal: "SIGKILL",
    message: expect.stringContaining("out of memory"),
  });
  expect(killed).toBe(false);
});

test("a kill reaches the whole group and the processes that left it", async () => {
  const launch = launchOf("trap '' TERM; sleep 1000 & setsid sleep 1001 & echo up; wait");
  platform.run(launch);
  await platform.up(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  const runDir = join(folderOf(launch), "run");
  expect(startedFor(runDir).length).toBeGreaterThanOrEqual(3);
  platform.kill(launch);
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({ killed: true, exit: { signal: "SIGKILL" } });
  expect(ended.pid).toBeGreaterThan(0);
  expect(startedFor(runDir)).toEqual([]);
});

test("a missing interpreter is reported in the log and in the exit", async () => {
  const listed = launchOf(["python9.9", "train.py"]);
  const shell = launchOf("python9.9 train.py");
  platform.run(listed);
  platform.run(shell);
  expect((await platform.ended(listed)).exit).toMatchObject({ code: 127 });
  expect(platform.texts(listed)).toEqual([expect.stringMatching(/python9\.9"?:? .*not found/)]);
  const { exit } = await platform.ended(shell);
  expect(exit).toMatchObject({ code: 127, message: expect.stringContaining("python9.9") });
});

test("code with a path outside of its archive is refused before a byte is written", async () => {
  const outside = join(newFolder(), "stolen");
  const archives = [
    handmade([{ path: "../escape.txt", text: "x" }]),
    handmade([{ path: outside, text: "x" }]),
    handmade([{ path: "link", type: "SymbolicLink", linkpath: outside }]),
    handmade([{ path: "a/link", type: "SymbolicLink", linkpath: "../../x" }]),
    handmade([{ path: "hard", type: "Link", linkpath: "../x" }]),
  ];
  for (const archive of archives) {
    const launch = launchOf("echo ran", { contextDigest: platform.addContext(archive) });
    platform.run(launch);
    const { exit, launchFailed } = await platform.ended(launch);
    expect(exit).toMatchObject({ code: 126, message: expect.stringContaining("leads out of it") });
    expect(launchFailed).toBe(false);
    expect(platform.texts(launch)).toEqual([expect.stringContaining("leads out of it")]);
    for (const attempt of ["1", "2"]) {
      expect(readdirSync(join(folderOf(launch), "work", attempt))).toEqual([]);
    }
  }
});

test("a link that stays inside the archive is unpacked", async () => {
  const archive = handmade([
    { path: "data/a.txt", text: "inside" },
    { path: "b.txt", type: "SymbolicLink", linkpath: "data/a.txt" },
  ]);
  const launch = launchOf("cat b.txt", { contextDigest: platform.addContext(archive) });
  platform.run(launch);
  await platform.ended(launch);
  expect(platform.texts(launch)).toEqual(["inside"]);
});

test("a corrupt archive is its owner's fault, and an archive with another digest is the platform's", async () => {
  const whole = await packed({ "train.py": "x".repeat(10_000) });
  const torn = launchOf("true", { contextDigest: platform.addContext(whole.subarray(0, 60)) });
  platform.run(torn);
  expect(await platform.ended(torn)).toMatchObject({ exit: { code: 126 }, launchFailed: false });
  const contextDigest = platform.addContext(whole);
  platform.contexts.set(contextDigest, Buffer.from("something else"));
  const wrong = launchOf("true", { contextDigest });
  platform.run(wrong);
  expect(await platform.ended(wrong)).toMatchObject({ launchFailed: true, pid: 0 });
  const unknown = launchOf("true", { contextDigest: "0".repeat(64) });
  platform.run(unknown);
  expect(await platform.ended(unknown)).toMatchObject({
    launchFailed: true,
    exit: { message: expect.stringContaining("does not have the model code") },
  });
});

test("code is downloaded once for all runs that need it", async () => {
  const contextDigest = platform.addContext(await packed({ "a.txt": "a" }));
  const launches = [1, 2, 3].map(() => launchOf("cat a.txt", { contextDigest }));
  for (const launch of launches) platform.run(launch);
  for (const launch of launches) {
    expect(await platform.ended(launch)).toMatchObject({ exit: { code: 0 } });
  }
  expect(platform.downloads).toBe(1);
});

test("a run that is killed before its start never starts", async () => {
  const digest = "f".repeat(64);
  platform.contexts.set(digest, Buffer.from("never the right bytes"));
  const launch = launchOf("touch started", { contextDigest: digest });
  platform.run(launch);
  await vi.waitFor(() => expect(platform.reported(launch.allocation)).toBeDefined(), patient);
  platform.kill(launch);
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({ killed: true, pid: 0, launchFailed: false });
});

test("a list with an older version than the last one is ignored", async () => {
  platform.epoch = 5;
  const first = launchOf("sleep 1000");
  platform.run(first);
  await platform.up(first);
  platform.epoch = 4;
  const ignored = launchOf("true");
  platform.run(ignored);
  platform.unwant(ignored);
  platform.epoch = 5;
  platform.version = -1;
  platform.kill(first);
  platform.version = 7;
  platform.run(first);
  await vi.waitFor(() => expect(platform.report?.version).toBe(8), patient);
  expect(platform.report?.allocations.map(({ allocation }) => allocation)).toEqual([
    first.allocation,
  ]);
  expect(runAt(folderOf(first))?.kill).toBeNull();
});

test("reports that a process left are delivered before its end, which carries its recorded reason", async () => {
  const left = [
    '{"key":"0-1","group":"training","stepsCompleted":1,"atMs":1,"metrics":{}}',
    '{"key":"0-2","torn',
    "",
    '{"key":"0-3","group":"validation","stepsCompleted":1,"atMs":1,"metrics":{}}',
  ];
  const launch = launchOf(
    `mkdir -p "$TRAINYARD_RUN_DIR/spool"; cd "$TRAINYARD_RUN_DIR"
     printf '%s\\n' ${left.map((line) => `'${line}'`).join(" ")} > spool/reports.ndjson
     printf '{"key":"0-4","torn' >> spool/reports.ndjson
     printf '{"reason":"END_REASON_ACKNOWLEDGED_STOP","message":"pause"}' > end.json`,
  );
  platform.run(launch);
  const ended = await platform.ended(launch);
  expect(platform.received.map(({ key }) => key)).toEqual(["0-1", "0-3"]);
  expect(platform.received[0]?.authorization).toBe(`Bearer ${launch.token}`);
  expect(ended.endRecord).toEqual({ reason: EndReason.ACKNOWLEDGED_STOP, message: "pause" });
  const size = left.join("\n").length + 1;
  expect(readFileSync(join(folderOf(launch), "run/spool/reports.acked"), "utf8")).toBe(
    String(size),
  );
});

test("reports that could not be delivered are delivered later by another agent process, even for a forgotten run", async () => {
  platform.metricsStatus = 503;
  platform.logsAway = true;
  const launch = launchOf(
    `mkdir -p "$TRAINYARD_RUN_DIR/spool"; echo line
     echo '{"key":"0-1","metrics":{}}' > "$TRAINYARD_RUN_DIR/spool/reports.ndjson"; exec sleep 1000`,
  );
  platform.run(launch);
  await platform.up(launch);
  const spooled = join(folderOf(launch), "run/spool/reports.ndjson");
  await vi.waitFor(() => expect(existsSync(spooled)).toBe(true), patient);
  platform.kill(launch);
  await platform.ended(launch);
  platform.unwant(launch);
  await vi.waitFor(() => expect(platform.report?.allocations).toEqual([]), patient);
  await agent[Symbol.asyncDispose]();
  agent = await startAgent();
  platform.metricsStatus = 200;
  platform.logsAway = false;
  await vi.waitFor(() => expect(platform.received.map(({ key }) => key)).toEqual(["0-1"]), patient);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["line"]), patient);
  // The run's end was reported, and its name cannot be launched again.
  platform.run(launch);
  await vi.waitFor(() => expect(platform.report?.version).toBe(platform.version), patient);
  expect(platform.reported(launch.allocation)).toBeUndefined();
});

test("a run of a superseded trial delivers no reports", async () => {
  platform.metricsStatus = 409;
  const launch = launchOf(
    `mkdir -p "$TRAINYARD_RUN_DIR/spool"; echo '{"key":"0-1","metrics":{}}' > "$TRAINYARD_RUN_DIR/spool/reports.ndjson"`,
  );
  platform.run(launch);
  expect((await platform.ended(launch)).exit?.code).toBe(0);
  expect(runAt(folderOf(launch))?.delivered).toEqual({ reports: "refused" });
});

test("reports after those of a superseded run in the spool are still delivered", async () => {
  platform.supersededKey = "0-7";
  const launch = launchOf(
    `mkdir -p "$TRAINYARD_RUN_DIR/spool"
     seq -f '{"key":"0-%.0f","metrics":{}}' 1001 > "$TRAINYARD_RUN_DIR/spool/reports.ndjson"`,
  );
  platform.run(launch);
  expect((await platform.ended(launch)).exit?.code).toBe(0);
  expect(platform.received.map(({ key }) => key)).toEqual(["0-1001"]);
  expect(runAt(folderOf(launch))?.delivered).toEqual({ reports: "refused" });
});

test("a killed supervisor takes its run with it, and the run's end is reported as unknown", async () => {
  const launch = launchOf("trap '' TERM; echo up; sleep 1000 & wait");
  platform.run(launch);
  await platform.up(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  const supervisor = runAt(folderOf(launch))?.supervisor;
  process.kill(supervisor?.pid ?? 0, "SIGKILL");
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({ killed: false, launchFailed: false, exit: { signal: "" } });
  expect(ended.exit?.code).toBeUndefined();
  expect(ended.exit?.message).toContain("supervisor was killed");
  expect(startedFor(join(folderOf(launch), "run"))).toEqual([]);
  expect(platform.texts(launch)).toEqual(["up", expect.stringContaining("supervisor was killed")]);
});
