/**
 * The agent is root, and a run with a user of its own tries to attack it by its folder: no file outside is read,
 * written or removed.
 */
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import type { RequestedRun } from "@trainyard/contracts/agent";
import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { type AgentService, createService } from "../service.ts";
import { folderNameOf } from "../state/layout.ts";
import { readRunFile, removeRunFile, writeRunFile } from "../state/run-file.ts";
import { RunFolder } from "../state/run-folder.ts";
import { agentConfig } from "../testing/agent-config.ts";
import { handmade, launchOf, newFolder, removeFolders } from "../testing/examples.ts";
import { ScriptedPlatform } from "../testing/scripted-platform.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });
const patient = { timeout: 90_000, interval: 50 };

const first = 1_900_000_000;
const owner = { uid: first + 7, gid: first + 7 };
const id = "00000000-0000-4000-8000-00000000000d";

let hub: MemoryHub;
let platform: ScriptedPlatform;
let agent: AgentService | null = null;
let folder: string;
let storage: string;
/** A folder with a file that only root can enter. */
let outside: string;
let precious: string;

beforeEach(async ({ skip }) => {
  if (process.getuid?.() !== 0) notRun(skip, "root, who may give files to other users");
  hub = createMemoryBus();
  platform = await ScriptedPlatform.start(hub.connect("platform"), "rack");
  folder = newFolder();
  outside = newFolder();
  precious = join(outside, "precious");
  writeFileSync(precious, "precious\n", { mode: 0o600 });
  const parent = newFolder();
  chmodSync(parent, 0o711);
  storage = join(parent, "checkpoints");
});

afterEach(async () => {
  await agent?.shutDownRuns();
  await agent?.[Symbol.asyncDispose]();
  agent = null;
  await platform?.[Symbol.asyncDispose]();
});

async function startAgent(): Promise<AgentService> {
  const config = agentConfig(platform.url, {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    TRAINYARD_AGENT_DIR: folder,
    TRAINYARD_AGENT_USER_IDS: `${first}-${first + 99}`,
    TRAINYARD_CHECKPOINT_DIR: storage,
  });
  agent = await createService(config, {
    bus: hub.connect("agent-rack"),
    logger: createLogger("agent", "silent"),
  });
  await agent.start();
  return agent;
}

const folderOf = (launch: RequestedRun): string => join(folder, "runs", folderNameOf(launch));

/** Makes a run's folder as it is when its process has ended. */
function newRun(): RunFolder {
  const runs = newFolder();
  chmodSync(runs, 0o711);
  return RunFolder.create(runs, launchOf("unused"), systemClock, owner);
}

/** Makes the run's user the owner, as if the run had created the path. */
function own(path: string): string {
  chownSync(path, owner.uid, owner.gid);
  return path;
}

test("a link at the spool's path shows the agent no other run's reports, and moves no other run's offset", async () => {
  await startAgent();
  const victim = launchOf("sleep 1000", { experiment: "1" });
  platform.run(victim);
  await platform.up(victim);
  const spool = join(folderOf(victim), "run/spool");
  mkdirSync(join(spool, "checkpoints"), { recursive: true });
  writeFileSync(join(spool, "reports.ndjson"), '{"key":"0-1","metrics":{"loss":1}}\n');
  const attack = launchOf(`ln -s ${spool} "$TRAINYARD_RUN_DIR/spool"; exit 4`);
  const deeper = launchOf(
    `mkdir "$TRAINYARD_RUN_DIR/spool"; ln -s ${spool}/checkpoints "$TRAINYARD_RUN_DIR/spool/checkpoints"; exit 5`,
  );
  writeFileSync(join(spool, "checkpoints", `${id}.begun`), "");
  platform.run(attack);
  platform.run(deeper);
  expect((await platform.ended(attack)).exit?.code).toBe(4);
  expect((await platform.ended(deeper)).exit?.code).toBe(5);
  expect(platform.received).toEqual([]);
  expect(existsSync(join(spool, "reports.acked"))).toBe(false);
  expect(existsSync(join(spool, "checkpoints", `${id}.begun`))).toBe(true);
  platform.kill(victim);
  await platform.ended(victim);
});

test("links at paths that the agent writes are replaced, and not followed", async () => {
  const service = await startAgent();
  const launch = launchOf(
    `cd "$TRAINYARD_RUN_DIR"; mkdir spool; echo '{"key":"0-1","metrics":{}}' > spool/reports.ndjson
     for name in stop.json .stop.json.agent.new .stop.json.${process.pid}.new spool/reports.acked spool/.reports.acked.agent.new; do ln -s ${precious} "$name"; done
     trap '' TERM; echo up; while [ ! -s stop.json ] || [ -L stop.json ]; do sleep 0.05; done; cat stop.json`,
  );
  platform.run(launch);
  await platform.up(launch);
  const run = join(folderOf(launch), "run");
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  await service.shutDownRuns();
  await platform.ended(launch);
  expect(platform.texts(launch)[1]).toMatch(/^\{"why":"shutdown"/);
  await vi.waitFor(() => expect(platform.received).toHaveLength(1), patient);
  await vi.waitFor(
    () => expect(readFileSync(join(run, "spool/reports.acked"), "utf8")).toBe("27"),
    patient,
  );
  expect(lstatSync(join(run, "spool/reports.acked")).uid).toBe(owner.uid);
  expect(readFileSync(precious, "utf8")).toBe("precious\n");
});

test("a checkpoint that a run marks as begun is removed only if it belongs to the run", async () => {
  await startAgent();
  const checkpoints = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
  const [others = "", link = "", mine = ""] = checkpoints;
  const writer = launchOf(`mkdir ${storage}/${others}; echo weights > ${storage}/${others}/model`, {
    experiment: "1",
  });
  platform.run(writer);
  await platform.ended(writer);
  const attack = launchOf(
    `mkdir -p "$TRAINYARD_RUN_DIR/spool/checkpoints"; cd "$TRAINYARD_RUN_DIR/spool/checkpoints"
     touch ${checkpoints.map((one) => `${one}.begun`).join(" ")}
     ln -s ${outside} ${storage}/${link}; mkdir -p ${storage}/${mine}/locked; ln -s ${outside} ${storage}/${mine}/out; chmod 0 ${storage}/${mine}/locked; exit 7`,
  );
  platform.run(attack);
  expect((await platform.ended(attack)).exit?.code).toBe(7);
  const left = checkpoints.map((one) => lstatSync(join(storage, one), { throwIfNoEntry: false }));
  expect(left.map((one) => one !== undefined)).toEqual([true, false, false]);
  expect(readFileSync(join(storage, others, "model"), "utf8")).toBe("weights\n");
  expect(readFileSync(precious, "utf8")).toBe("precious\n");
});

test("the folders of a run are removed with all their files, and the targets of its links are kept", async () => {
  const run = newRun();
  const work = run.giveWork(run.newWork());
  for (const place of [work, run.runDir, join(run.path, "home"), join(run.path, "tmp")]) {
    symlinkSync(outside, join(place, "link"));
    const locked = join(place, ".locked");
    mkdirSync(locked);
    symlinkSync(precious, join(locked, "link"));
    writeFileSync(join(locked, "sudo"), "", { mode: 0o4755 });
    chmodSync(own(locked), 0o000);
  }
  await run.remove();
  expect(existsSync(run.path)).toBe(false);
  expect(readFileSync(precious, "utf8")).toBe("precious\n");
});

test("a tree of locked folders is removed while the agent continues", async () => {
  const run = newRun();
  const within = Array.from({ length: 30 }, (_, depth) => {
    const path = join(run.runDir, ...Array.from({ length: depth + 1 }, (_, at) => `d${at}`));
    mkdirSync(path);
    writeFileSync(join(path, "file"), "");
    return own(path);
  });
  for (const path of within.toReversed()) chmodSync(path, 0o000);
  let beats = 0;
  const beat = setInterval(() => (beats += 1), 1);
  await run.remove();
  clearInterval(beat);
  expect(beats).toBeGreaterThan(3);
  expect(existsSync(run.path)).toBe(false);
});

test("files of another user in a run's folder are kept, and the removal fails and is repeated later", async () => {
  const run = newRun();
  const theirs = join(run.runDir, "theirs");
  mkdirSync(theirs);
  writeFileSync(join(theirs, "file"), "");
  await expect(run.remove()).rejects.toThrow(/ENOTEMPTY/);
  expect(existsSync(join(theirs, "file"))).toBe(true);
  expect(RunFolder.open(run.path, systemClock)).not.toBeNull();
  for (const path of [theirs, join(theirs, "file")]) own(path);
  await run.remove();
  expect(existsSync(run.path)).toBe(false);
});

test("a hard link to another user's file does not count as the run's file", () => {
  const { runDir } = newRun();
  linkSync(precious, join(runDir, "end.json"));
  expect(readRunFile(runDir, "end.json", 100)).toBeNull();
  own(precious);
  expect(readRunFile(runDir, "end.json", 100)?.toString()).toBe("precious\n");
});

test("files below a link are neither read, written nor removed", () => {
  const { runDir } = newRun();
  symlinkSync(outside, join(runDir, "spool"));
  own(precious);
  expect(readRunFile(runDir, "spool/precious", 100)).toBeNull();
  expect(() => writeRunFile(runDir, "spool/precious", "x")).toThrow(
    /the folder of spool\/precious does not exist/,
  );
  removeRunFile(runDir, "spool/precious");
  expect(readFileSync(precious, "utf8")).toBe("precious\n");
});

test("unpacked code is its user's, links and hard links included, and has no setuid of root", async () => {
  await startAgent();
  const contextDigest = platform.addContext(
    handmade([
      { path: "sh", text: "x", mode: 0o6755 },
      { path: "hard", type: "Link", linkpath: "sh" },
      { path: "soft", type: "SymbolicLink", linkpath: "sh" },
      { path: "sub/file", text: "y" },
    ]),
  );
  const launch = launchOf("stat -c '%n %u %a' . sh hard sub sub/file; sleep 1000", {
    contextDigest,
  });
  platform.run(launch);
  await platform.up(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toHaveLength(5), patient);
  for (const line of platform.texts(launch)) {
    expect(line).toMatch(new RegExp(`^\\S+ ${owner.uid} [0-7]{3}$`));
  }
  platform.kill(launch);
  await platform.ended(launch);
});

test("the agent can remove code that the run's user does not own yet", async () => {
  const run = newRun();
  const work = run.newWork();
  writeFileSync(join(work, "half"), "");
  await run.remove();
  expect(existsSync(run.path)).toBe(false);
});

test("links of an archive that together lead outside are refused, and nothing is unpacked over them", async () => {
  await startAgent();
  const contextDigest = platform.addContext(
    handmade([
      { path: "here", type: "SymbolicLink", linkpath: "." },
      { path: "up", type: "SymbolicLink", linkpath: "here/.." },
      { path: "mine", type: "Link", linkpath: "up/../spec.json" },
      { path: "up/planted", text: "x" },
    ]),
  );
  const launch = launchOf("true", { contextDigest });
  platform.run(launch);
  expect((await platform.ended(launch)).exit).toMatchObject({
    code: 126,
    message: expect.stringContaining('the link "up" leads out of it'),
  });
  expect(existsSync(join(folderOf(launch), "work/planted"))).toBe(false);
});

test("a process of another user with the run's folder in its environment does not keep that run from ending", async () => {
  await startAgent();
  const victim = launchOf("sleep 1000", { experiment: "1" });
  platform.run(victim);
  await platform.up(victim);
  const run = join(folderOf(victim), "run");
  const attack = launchOf(
    `while true; do TRAINYARD_RUN_DIR=${run} sleep 0.01; done & while true; do TRAINYARD_RUN_DIR=${run} setsid sleep 1000; done & echo up; wait`,
  );
  platform.run(attack);
  await vi.waitFor(() => expect(platform.texts(attack)).toEqual(["up"]), patient);
  platform.kill(victim);
  expect((await platform.ended(victim)).killed).toBe(true);
  expect(platform.reported(attack.allocation)?.exit).toBeUndefined();
  platform.kill(attack);
  await platform.ended(attack);
});
