/** The folder of a task on an agent: it is HOME, is saved while the task runs and at its end, and comes back. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Plain } from "@trainyard/contracts";
import type { Launch } from "@trainyard/contracts/agent";
import { afterAll, describe, expect, test, vi } from "vitest";
import { AgentStage } from "./testing/agent-stage.ts";
import { configured, packed, removeFolders, taskOf } from "./testing/examples.ts";
import { startTunnelDoor } from "./testing/tunnel-door.ts";

afterAll(removeFolders);
vi.setConfig({ testTimeout: 60_000 });
const patient = { timeout: 60_000, interval: 20 };

const kept = configured({ keep_work: true });

const keptBy = (script: string, more: Partial<Plain<Launch>> = {}): Plain<Launch> =>
  taskOf("command", script, { ...kept, ...more });

/** The next run of a task, from its last save. */
function resumed(stage: AgentStage, launch: Plain<Launch>, script: string): Plain<Launch> {
  const id = launch.task?.id ?? "";
  const entrypoint = { case: "shell", value: script } as const;
  const latestCheckpoint = [...stage.platform.checkpoints.keys()].at(-1) ?? "";
  const run = launch.run + 1;
  return { ...launch, run, allocation: `${id}#${run}`, entrypoint, latestCheckpoint };
}

describe.concurrent("a task that keeps its work", () => {
  test("starts in its HOME with its context, is saved before its end is reported, and continues with the same files", async () => {
    await using stage = await AgentStage.start();
    const { platform } = stage;
    const contextDigest = platform.addContext(await packed({ "sub/data.txt": "data" }));
    const launch = keptBy(
      `[ "$PWD" = "$HOME" ] && cat sub/data.txt && echo work > notes && ln -s notes link && chmod 640 notes && mkdir empty .cache && touch .cache/x && head -c 9000000 /dev/urandom > large; exit 3`,
      { contextDigest },
    );
    platform.run(launch);
    const ended = await platform.ended(launch);
    expect([ended.exit?.code, ended.unsaved]).toEqual([3, undefined]);
    const [[checkpoint, save] = []] = [...platform.checkpoints];
    expect(save?.declared).toMatchObject({
      stepsCompleted: 1_000_001,
      metadata: { format: "trainyard-work/1", files: expect.any(Number) },
    });
    expect(readdirSync(join(stage.checkpoints, checkpoint ?? "")).sort()).toEqual([
      "files",
      "small-1.tar",
      "work.json",
    ]);
    const next = resumed(
      stage,
      launch,
      "find . -mindepth 1 -not -path './.packages*' | sort; stat -c %a notes; readlink link; cksum large",
    );
    const large = readFileSync(join(stage.folderOf(launch), "work/kept/large"));
    platform.run(next);
    await platform.ended(next);
    const texts = platform.texts(next);
    expect(texts[0]).toBe(
      `the files of ${launch.task?.id} are back; variables of its kernels are gone`,
    );
    expect(texts.slice(1, -1)).toEqual([
      ...["./empty", "./large", "./link", "./notes", "./sub", "./sub/data.txt"],
      ...["640", "notes"],
    ]);
    expect(texts.at(-1)).toContain(String(large.length));
    // Nothing has changed but for the directory entries of the new folder.
    expect(platform.checkpoints.size).toBe(2);
  });

  test("is saved while it runs, and again at its end only if something has changed", async () => {
    await using stage = await AgentStage.start({ workEveryMs: 100 });
    const { platform } = stage;
    const launch = keptBy(
      "echo one > notes; while [ ! -e go ]; do sleep 0.05; done; echo two > notes; exit 0",
    );
    platform.run(launch);
    await vi.waitFor(() => expect(platform.checkpoints.size).toBeGreaterThan(0), patient);
    const { size } = platform.checkpoints;
    await stage.stopAgent();
    writeFileSync(join(stage.folderOf(launch), "work/kept/go"), "");
    await stage.startAgent();
    await platform.ended(launch);
    const last = [...platform.checkpoints.values()].at(-1);
    expect(platform.checkpoints.size).toBeGreaterThan(size);
    expect(last?.declared).toMatchObject({ metadata: { format: "trainyard-work/1" } });
    const steps = [...platform.checkpoints.values()].map(
      ({ declared }) => (declared as { stepsCompleted: number }).stepsCompleted,
    );
    expect(steps).toEqual([...new Set(steps)].toSorted((a, b) => a - b));
  });

  test("is saved after a kill, and its end names the save that waits for the platform", async () => {
    await using stage = await AgentStage.start();
    const { platform } = stage;
    platform.checkpointStatus = 503;
    const launch = keptBy("echo one > notes; sleep 600");
    platform.run(launch);
    await platform.up(launch);
    const notes = join(stage.folderOf(launch), "work/kept/notes");
    await vi.waitFor(() => expect(existsSync(notes)).toBe(true), patient);
    platform.kill(launch);
    const ended = await platform.ended(launch);
    expect(ended.sealed?.checkpoints).toMatchObject([{ step: 1_000_001 }]);
    platform.checkpointStatus = 200;
    await vi.waitFor(() => expect(platform.checkpoints.size).toBe(1), patient);
  });

  test("shows people the size of its folder, and the age of its last save once that is delivered", async () => {
    const behind = { url: null as string | null };
    await using door = await startTunnelDoor(() => behind.url);
    const variables = { TRAINYARD_API_URL: door.url };
    await using stage = await AgentStage.start({ workEveryMs: 500, variables });
    const { platform } = stage;
    const launch = keptBy("echo one > notes; sleep 600");
    platform.run(launch);
    await platform.up(launch);
    const use = async (): Promise<unknown> => {
      const stream = await door.dials.at(-1)?.tunnel.open("use");
      return JSON.parse(stream === undefined ? "{}" : await text(stream));
    };
    const size = { folderBytes: expect.any(Number), folderFiles: expect.any(Number) };
    const known = async () => await use().catch(() => ({}));
    await expect.poll(known, patient).toMatchObject(size);
    expect(await use()).not.toHaveProperty("savedSecondsAgo");
    behind.url = platform.url;
    const saved = { ...size, savedSecondsAgo: expect.any(Number) };
    await expect.poll(known, patient).toMatchObject(saved);
    platform.kill(launch);
    await platform.ended(launch);
  });

  test("is not restored beyond the limits of the agent, and its run fails with one sentence", async () => {
    await using stage = await AgentStage.start({ variables: { TRAINYARD_AGENT_WORK_FILES: "30" } });
    const { platform, checkpoints } = stage;
    const launch = keptBy("echo mine > notes");
    platform.run(launch);
    await platform.ended(launch);
    // Somebody who may write into the storage puts another save in its place.
    const [[checkpoint, save] = []] = [...platform.checkpoints];
    const forged = join(checkpoints, checkpoint ?? "");
    const folders = Array.from({ length: 31 }, (_, at) => `f${at}`);
    execFileSync("sh", [
      "-c",
      `cd "$1" && mkdir d && (cd d && mkdir ${folders.join(" ")})`,
      "sh",
      forged,
    ]);
    execFileSync("tar", ["-C", join(forged, "d"), "-cf", join(forged, "small-1.tar"), ...folders]);
    const bytes = readFileSync(join(forged, "small-1.tar"));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    for (const entry of (save?.manifest ?? []) as readonly { path: string }[]) {
      if (entry.path === "small-1.tar") Object.assign(entry, { bytes: bytes.length, sha256 });
    }
    const next = resumed(stage, launch, "cat notes");
    platform.run(next);
    const { exit } = await platform.ended(next);
    expect(exit?.message).toBe(
      `the save ${checkpoint} of ${launch.task?.id} cannot be restored: it has more than 30 files, the most that are restored (TRAINYARD_AGENT_WORK_BYTES and TRAINYARD_AGENT_WORK_FILES of the agent)`,
    );
    expect(existsSync(join(stage.folderOf(next), "work/kept"))).toBe(false);
  });

  test("is not saved beyond its limit: its end says so, with the host and the path, and the folder stays", async () => {
    await using stage = await AgentStage.start({
      variables: { TRAINYARD_AGENT_WORK_FILES: "3" },
    });
    const { platform } = stage;
    const launch = keptBy("touch 1 2 3 4");
    platform.run(launch);
    const ended = await platform.ended(launch);
    const path = join(stage.folderOf(launch), "work/kept");
    expect(ended.unsaved).toMatch(/^the folder of t\d+ is not saved: it has more than 3 files/);
    expect(ended.unsaved).toContain(`(agent rack) in ${path}`);
    expect(platform.texts(launch)).toContain(ended.unsaved);
    expect(platform.checkpoints.size).toBe(0);
    expect(readdirSync(path)).toEqual(expect.arrayContaining(["1", "2", "3", "4"]));
  });

  test("is not started with a save that is damaged, and says which one", async () => {
    await using stage = await AgentStage.start();
    const { platform } = stage;
    const launch = keptBy("echo one > notes");
    platform.run(launch);
    await platform.ended(launch);
    const next = resumed(stage, launch, "cat notes");
    writeFileSync(join(stage.checkpoints, next.latestCheckpoint, "small-1.tar"), "damaged");
    platform.run(next);
    const ended = await platform.ended(next);
    expect([ended.exit?.code, ended.exit?.message]).toEqual([
      126,
      expect.stringMatching(
        `the save ${next.latestCheckpoint} of ${launch.task?.id} cannot be restored.*"yard checkpoint verify ${next.latestCheckpoint}"`,
      ),
    ]);
  });

  test("says in its end that its save was refused, and keeps the folder", async () => {
    await using stage = await AgentStage.start();
    const { platform } = stage;
    platform.checkpointStatus = 409;
    const launch = keptBy("echo one > notes");
    platform.run(launch);
    const ended = await platform.ended(launch);
    expect(ended.unsaved).toContain("is not saved: the platform has refused its last save");
    expect(existsSync(join(stage.folderOf(launch), "work/kept/notes"))).toBe(true);
  });

  test("sends its saves to an object store, and leaves no copy of them here", async () => {
    await using stage = await AgentStage.start({ workEveryMs: 100 });
    const { platform } = stage;
    platform.store = "s3://saves";
    const storage = configured({ checkpoint_storage: { type: "s3", bucket: "saves" } });
    const script =
      "head -c 9000000 /dev/zero > large; while [ ! -e go ]; do sleep 0.05; done; echo two > notes";
    const launch = keptBy(script, { checkpointStorage: storage.checkpointStorage });
    platform.run(launch);
    const staged = join(stage.folderOf(launch), "saves/checkpoints");
    // The first saves may have files whose changes have the same time as they.
    await vi.waitFor(() => expect(platform.checkpoints.size).toBeGreaterThan(0), patient);
    const large = (checkpoint: string) => join(staged, checkpoint, "files/large");
    await vi.waitFor(() => {
      const found = [...platform.checkpoints.keys()].filter((one) => existsSync(large(one)));
      expect(found.length).toBeGreaterThan(0);
    }, patient);
    writeFileSync(join(stage.folderOf(launch), "work/kept/go"), "");
    const ended = await platform.ended(launch);
    expect(ended.unsaved).toBeUndefined();
    await vi.waitFor(() => expect(existsSync(staged)).toBe(false), patient);
    const [last] = [...platform.checkpoints].slice(-1);
    expect(platform.uploads).toContain(last?.[0]);
    const files = (last?.[1].manifest ?? []) as { path: string }[];
    expect(files.map(({ path }) => path)).toEqual(["files/large", "small-1.tar", "work.json"]);
  });
});
