/** Folders of runs that the agent cannot remove, or cannot read, at first. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus } from "@trainyard/bus/testing";
import { createLogger } from "@trainyard/runtime";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, expect, test, vi } from "vitest";
import { createService } from "./service.ts";
import { folderNameOf, names } from "./state/layout.ts";
import { agentConfig } from "./testing/agent-config.ts";
import { launchOf, newFolder, removeFolders, runAt } from "./testing/examples.ts";
import { ScriptedPlatform } from "./testing/scripted-platform.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });
const patient = { timeout: 90_000, interval: 50 };

const isRoot = process.getuid?.() === 0;
/** Protects the folder's content from removal; for root this needs the immutable flag of the file system. */
const lock = isRoot ? "chattr +i kept/file" : "chmod 0500 kept";

function unlock(work: string): void {
  const [program, ...argv] = isRoot ? ["chattr", "-i", "kept/file"] : ["chmod", "0700", "kept"];
  execFileSync(program ?? "", argv, { cwd: work });
}

function canLock(): boolean {
  if (!isRoot) return true;
  try {
    const path = join(newFolder(), "file");
    execFileSync("sh", ["-c", 'touch "$1" && chattr +i "$1" && chattr -i "$1"', "sh", path], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}

test("a run's folder that cannot be removed delays no launch, and is removed once that is possible", async ({
  skip,
}) => {
  if (!canLock()) notRun(skip, "a file system on which chattr +i works");
  const hub = createMemoryBus();
  await using platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  const folder = newFolder();
  const config = agentConfig(platform.url, {
    TRAINYARD_AGENT_DIR: folder,
  });
  const bus = hub.connect("agent-rack");
  await using agent = await createService(config, { bus, logger: createLogger("agent", "silent") });
  await agent.start();
  const leaving = launchOf(`mkdir kept && touch kept/file && ${lock}`);
  const path = join(folder, "runs", folderNameOf(leaving));
  const work = join(path, "work", "1");
  try {
    platform.run(leaving);
    expect((await platform.ended(leaving)).exit).toMatchObject({ code: 0 });
    platform.unwant(leaving);
    const next = launchOf("true");
    platform.run(next);
    expect((await platform.ended(next)).exit).toMatchObject({ code: 0 });
    await vi.waitFor(() => expect(platform.reported(leaving.allocation)).toBeUndefined(), patient);
    expect(runAt(path)?.forgotten).not.toBeNull();
    expect(existsSync(join(work, "kept", "file"))).toBe(true);
  } finally {
    unlock(work);
  }
  // Any later clean-up removes the folder: here the one after the next run.
  const last = launchOf("true");
  platform.run(last);
  await platform.ended(last);
  platform.unwant(last);
  await vi.waitFor(() => expect(existsSync(work)).toBe(false), patient);
});

test("a run whose folder an agent cannot read at its start is reported as running, and adopted once it can be read", async () => {
  const hub = createMemoryBus();
  await using platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  const folder = newFolder();
  const config = agentConfig(platform.url, { TRAINYARD_AGENT_DIR: folder });
  const start = async () => {
    const bus = hub.connect("agent-rack");
    const agent = await createService(config, { bus, logger: createLogger("agent", "silent") });
    await agent.start();
    return agent;
  };
  const launch = launchOf("while [ ! -e ../../end ]; do sleep 0.05; done; exit 3");
  const path = join(folder, "runs", folderNameOf(launch));
  const spec = join(path, names.spec);
  {
    await using _first = await start();
    platform.run(launch);
    await platform.up(launch);
  }
  // A read of a folder fails, also for root.
  renameSync(spec, `${spec}.aside`);
  mkdirSync(spec);
  const before = platform.report?.incarnation;
  await using _second = await start();
  await vi.waitFor(() => expect(platform.report?.incarnation).not.toBe(before), patient);
  const reported = platform.reported(launch.allocation);
  const slots = platform.report?.slots.map(({ id }) => id);
  expect(reported).toMatchObject({ requestId: launch.requestId, state: 2, slots });
  rmdirSync(spec);
  renameSync(`${spec}.aside`, spec);
  mkdirSync(join(path, "end"));
  expect((await platform.ended(launch)).exit).toMatchObject({ code: 3 });
});
