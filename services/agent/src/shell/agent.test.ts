import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus } from "@trainyard/bus";
import { createLogger, createRegistry } from "@trainyard/runtime";
import { afterAll, expect, test, vi } from "vitest";
import { agentEvents } from "../events.ts";
import { limits } from "../limits.ts";
import { names, writeRecord } from "../state/layout.ts";
import { RunFolder } from "../state/run-folder.ts";
import { launchOf, newFolder, removeFolders } from "../testing/examples.ts";
import { Agent } from "./agent.ts";
import { Contexts } from "./contexts.ts";

afterAll(removeFolders);

function newAgent(folder: string) {
  const bus = createMemoryBus().connect("agent-rack");
  const events = agentEvents(createLogger("agent", "silent"), createRegistry("agent"));
  const contexts = new Contexts({ folder: join(folder, "contexts"), agent: "rack", bus, events });
  const identity = { name: "rack", pool: "p", address: "a", version: "1", labels: {}, slots: [] };
  const processGroups = "scan" as const;
  const urls = { apiUrl: "http://127.0.0.1:1", metricsUrl: "http://127.0.0.1:1" };
  return new Agent({
    identity: { ...identity, processGroups },
    folder,
    bus,
    events,
    contexts,
    ...urls,
    checkpointDir: "",
    sdkPath: "",
    inherited: {},
    processGroups,
  });
}

function forgottenRun(runs: string, ageMs: number): RunFolder {
  const run = RunFolder.create(runs, launchOf("true"));
  run.claimAsNeverStarted();
  run.recordExit({ kind: "never_started", code: null, signal: null, message: "" });
  run.recordDelivered("delivered");
  writeRecord(run.path, names.forgotten, { atMs: Date.now() - ageMs });
  return run;
}

test("folders of forgotten runs go by age and by number, the oldest first; what is not forgotten stays", async () => {
  const folder = newFolder();
  const runs = join(folder, "runs");
  const recent = Array.from({ length: limits.keptRunsMax + 5 }, (_, n) =>
    forgottenRun(runs, n * 1_000),
  );
  const old = forgottenRun(runs, limits.keptRunsMs + 1);
  const untold = RunFolder.create(runs, launchOf("true"));
  untold.claimAsNeverStarted();
  untold.recordExit({ kind: "never_started", code: null, signal: null, message: "" });
  await using agent = newAgent(folder);
  await agent.start();
  await vi.waitFor(
    async () => {
      await agent.cleanUp();
      expect(readdirSync(runs)).toHaveLength(limits.keptRunsMax + 1);
    },
    { timeout: 10_000 },
  );
  expect(existsSync(old.path)).toBe(false);
  expect(existsSync(untold.path)).toBe(true);
  // Which of the oldest go depends on which were found to be delivered when it was looked at.
  expect(recent.slice(0, limits.keptRunsMax / 2).every(({ path }) => existsSync(path))).toBe(true);
});

test("lines that nobody took keep a forgotten run's folder, for a week", async () => {
  const folder = newFolder();
  const runs = join(folder, "runs");
  const day = 24 * 60 * 60 * 1_000;
  const kept = forgottenRun(runs, 2 * day);
  const hopeless = forgottenRun(runs, 8 * day);
  for (const run of [kept, hopeless]) run.say("never fetched");
  await using agent = newAgent(folder);
  await agent.start();
  await agent.cleanUp();
  expect([existsSync(kept.path), existsSync(hopeless.path)]).toEqual([true, false]);
});

test("a launch that cannot be read does not keep the others from being adopted", async () => {
  const folder = newFolder();
  const broken = RunFolder.create(join(folder, "runs"), launchOf("true"));
  const run = RunFolder.create(join(folder, "runs"), launchOf("true"));
  run.claimAsNeverStarted();
  writeFileSync(join(broken.path, names.spec), '{"version":1,"launch":{"run":"nonsense"}}');
  await using agent = newAgent(folder);
  await agent.start();
  await vi.waitFor(() => expect(run.exit).toMatchObject({ kind: "not_launched" }));
  expect(broken.exit).toBeNull();
});
