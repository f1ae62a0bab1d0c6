import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus } from "@trainyard/bus/testing";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger, createRegistry, noTracer } from "@trainyard/runtime";
import { afterAll, expect, test, vi } from "vitest";
import { SlotOffer } from "../devices/slot-offer.ts";
import { limits } from "../limits.ts";
import { processRuntime } from "../runtime/processes.ts";
import { names, readRecord, writeRecord } from "../state/layout.ts";
import { RunFolder } from "../state/run-folder.ts";
import { Uptime } from "../state/uptime.ts";
import { createTelemetry, type Telemetry } from "../telemetry.ts";
import { ownVariables } from "../testing/agent-config.ts";
import { launchOf, newFolder, removeFolders } from "../testing/examples.ts";
import { RunUsers } from "../users/run-users.ts";
import { Agent } from "./agent.ts";
import { CodeArchives } from "./code-archives.ts";
import { Packages } from "../servers/packages.ts";
import { Screens } from "../screens/screens.ts";
import { pythonIn } from "../supervisor/python.ts";
import { supervisorsOf } from "./supervisors.ts";

afterAll(removeFolders);

function newAgent(folder: string, heard: Partial<Telemetry> = {}) {
  const bus = createMemoryBus().connect("agent-rack");
  const silent = createTelemetry(createRegistry("agent"), createLogger("agent", "silent"));
  const events = { ...silent, ...heard };
  const contexts = new CodeArchives({
    folder: join(folder, "contexts"),
    agent: "rack",
    bus,
    clock: systemClock,
    events,
  });
  const start = { folder: "f", place: "p", startedMs: 1 };
  const offer = { pool: "p", address: "a", version: "1", labels: {} };
  const identity = { name: "rack", ...offer, ...start };
  const processGroups = "parent" as const;
  const urls = { apiUrl: "http://127.0.0.1:1", metricsUrl: "http://127.0.0.1:1" };
  return new Agent({
    identity: { ...identity, processGroups },
    folder,
    tracer: noTracer,
    bus,
    clock: systemClock,
    events,
    contexts,
    offer: new SlotOffer([]),
    deviceLookMs: 1_000,
    ...urls,
    checkpointDir: "",
    checkpointDiskShare: 0.5,
    work: { bytesMax: 1, filesMax: 1, everyMs: 1_000 },
    tensorBoardBytes: 0,
    supervisors: supervisorsOf("container", folder, ownVariables()),
    python: { sdkPath: null, inherited: ownVariables() },
    users: new RunUsers(null),
    runtime: processRuntime({
      ...urls,
      sdkPath: null,
      inherited: ownVariables(),
      users: new RunUsers(null),
      asked: "auto",
      mechanism: processGroups,
      slotLimits: { memoryBytes: null, pids: null },
      isSeparate: false,
      python: pythonIn(),
    }),
    screens: new Screens(systemClock, events),
    packages: new Packages(join(folder, "packages"), ownVariables()),
  });
}

const day = 24 * 60 * 60 * 1_000;

/** A state folder on which agents have been up for 30 days. */
function agedFolder(): string {
  const folder = newFolder();
  writeRecord(folder, names.uptime, { upMs: 30 * day });
  return folder;
}

function forgottenRun(runs: string, ageMs: number, wallAgeMs = 0): RunFolder {
  const run = RunFolder.create(runs, launchOf("true"), systemClock);
  run.claimAsNeverStarted();
  run.recordExit({ kind: "never_started", code: null, signal: null, message: "" });
  run.recordDelivered("delivered");
  const upMs = 30 * day - ageMs;
  writeRecord(run.path, names.forgotten, { atMs: Date.now() - wallAgeMs, upMs });
  return run;
}

test("folders of forgotten runs are removed by age and by number, the oldest first, and other folders are kept", async () => {
  const folder = agedFolder();
  const runs = join(folder, "runs");
  const recent = Array.from({ length: limits.keptRunsMax + 5 }, (_, n) =>
    forgottenRun(runs, n * 1_000),
  );
  const old = forgottenRun(runs, limits.keptRunsMs + 1);
  const untold = RunFolder.create(runs, launchOf("true"), systemClock);
  untold.claimAsNeverStarted();
  untold.recordExit({ kind: "never_started", code: null, signal: null, message: "" });
  await using agent = newAgent(folder);
  await agent.start();
  await vi.waitFor(
    async () => {
      await agent.cleanUp();
      expect(readdirSync(runs)).toHaveLength(limits.keptRunsMax + 1);
    },
    { timeout: 90_000 },
  );
  expect(existsSync(old.path)).toBe(false);
  expect(existsSync(untold.path)).toBe(true);
  const newest = recent.slice(0, limits.keptRunsMax);
  expect(newest.filter(({ path }) => !existsSync(path))).toEqual([]);
});

test("a forgotten run with undelivered lines costs no newer run its folder", async () => {
  const folder = agedFolder();
  const runs = join(folder, "runs");
  const recent = Array.from({ length: limits.keptRunsMax }, (_, n) => forgottenRun(runs, n));
  forgottenRun(runs, 20_000).say("never fetched");
  const gone = forgottenRun(runs, 10_000);
  await using agent = newAgent(folder);
  await agent.start();
  await vi.waitFor(
    async () => {
      await agent.cleanUp();
      expect(existsSync(gone.path)).toBe(false);
    },
    { timeout: 90_000 },
  );
  await agent.cleanUp();
  expect(recent.filter(({ path }) => !existsSync(path))).toEqual([]);
});

test("undelivered lines keep a forgotten run's folder for a week of the agent's uptime, however far a clock jumps", async () => {
  const folder = agedFolder();
  const runs = join(folder, "runs");
  const kept = forgottenRun(runs, 2 * day);
  const jumped = forgottenRun(runs, 2 * day, 400 * day);
  const hopeless = forgottenRun(runs, 8 * day);
  for (const run of [kept, jumped, hopeless]) run.say("never fetched");
  await using agent = newAgent(folder);
  await agent.start();
  await agent.cleanUp();
  const there = [kept, jumped, hopeless].map(({ path }) => existsSync(path));
  expect(there).toEqual([true, true, false]);
});

test("a launch that cannot be read does not prevent the adoption of others", async () => {
  const folder = newFolder();
  const broken = RunFolder.create(join(folder, "runs"), launchOf("true"), systemClock);
  const run = RunFolder.create(join(folder, "runs"), launchOf("true"), systemClock);
  run.claimAsNeverStarted();
  writeFileSync(join(broken.path, names.spec), '{"version":1,"launch":{"run":"nonsense"}}');
  await using agent = newAgent(folder);
  await agent.start();
  await vi.waitFor(() => expect(run.exit).toMatchObject({ kind: "not_launched" }), {
    timeout: 90_000,
  });
  expect(broken.exit).toBeNull();
});

test("a folder whose launch a power cut left empty is named, kept for a week of the agent's uptime and then removed", async () => {
  const folder = agedFolder();
  const runs = join(folder, "runs");
  const make = () => {
    const run = RunFolder.create(runs, launchOf("true"), systemClock);
    const place = join(run.runDir, "spool/checkpoints");
    mkdirSync(place, { recursive: true });
    const sealed = { checkpoint: randomUUID(), sealedMs: 1, stepsCompleted: 1, metadata: {} };
    writeFileSync(
      join(place, `${sealed.checkpoint}.json`),
      JSON.stringify({ ...sealed, manifest: [] }),
    );
    writeFileSync(join(run.path, names.spec), "");
    return run.path;
  };
  const [fresh, old] = [make(), make()];
  const upMs = 30 * day - limits.undeliveredMs - 1_000;
  writeRecord(old, names.forgotten, { atMs: Date.now(), upMs });
  const named: [string, number][] = [];
  const launchLost = (path: string, sealed: number) => void named.push([path, sealed]);
  await using agent = newAgent(folder, { launchLost });
  await agent.start();
  await agent.cleanUp();
  expect([existsSync(fresh), existsSync(old)]).toEqual([true, false]);
  expect(named.toSorted()).toEqual([fresh, old].toSorted().map((path) => [path, 1]));
  expect(readRecord(fresh, names.forgotten)).toMatchObject({ upMs: expect.any(Number) });
});

test("the uptime of a folder continues from its record, and never follows a wall clock", () => {
  const folder = agedFolder();
  let monotonicMs = 5_000;
  const uptime = new Uptime(folder, () => monotonicMs);
  monotonicMs += 1_000;
  expect(uptime.ms).toBe(30 * day + 1_000);
  uptime.save();
  expect(new Uptime(folder, () => 0).ms).toBe(30 * day + 1_000);
});
