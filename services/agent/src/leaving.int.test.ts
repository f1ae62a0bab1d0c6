/** The checkpoints of a run whose process has ended, and the end of runs when their host goes down. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readStorageMarker, storageMarkerName } from "@trainyard/blob";
import { EndReason } from "@trainyard/contracts/events";
import { afterAll, expect, test, vi } from "vitest";
import { limits } from "./limits.ts";
import {
  areTensorBoardsSent,
  checkpointRootOf,
  storagePlaces,
} from "./shell/checkpoint-delivery.ts";
import { names, writeRecord } from "./state/layout.ts";
import { AgentStage } from "./testing/agent-stage.ts";
import { configured, launchOf, packed, removeFolders } from "./testing/examples.ts";

afterAll(removeFolders);

vi.setConfig({ testTimeout: 30_000 });
const patient = { timeout: 90_000, interval: 50 };
const first = "00000000-0000-4000-8000-00000000000f";
const second = "00000000-0000-4000-8000-00000000000a";

/** A script that leaves a checkpoint as the SDK does when the platform is unavailable. */
const sealing = (checkpoint: string, sealedMs: number, storageId?: string): string => {
  const manifest = [{ path: "model", bytes: 1, sha256: "ab" }];
  const told = { sealedMs, checkpoint, stepsCompleted: sealedMs, metadata: {}, manifest };
  const record = { ...told, ...(storageId && { storageId }) };
  return [
    `mkdir -p "$TRAINYARD_CHECKPOINT_ROOT/${checkpoint}" "$TRAINYARD_RUN_DIR/spool/checkpoints"`,
    `echo model > "$TRAINYARD_CHECKPOINT_ROOT/${checkpoint}/model"`,
    `echo '${JSON.stringify(record)}' > "$TRAINYARD_RUN_DIR/spool/checkpoints/${checkpoint}.json"`,
  ].join("; ");
};

test.concurrent("checkpoints that a process left are completed before its end is reported, the earliest first", async () => {
  await using stage = await AgentStage.start();
  const { platform, checkpoints } = stage;
  const storageId = "00000000-0000-4000-8000-0000000000cc";
  const launch = launchOf(`${sealing(first, 1, storageId)}; ${sealing(second, 2)}; exit 3`);
  platform.run(launch);
  const ended = await platform.ended(launch);
  expect([...platform.checkpoints.keys()]).toEqual([first, second]);
  expect(platform.checkpoints.get(first)).toEqual({
    declared: { checkpoint: first, stepsCompleted: 1, metadata: {}, storageId },
    manifest: [{ path: "model", bytes: 1, sha256: "ab" }],
  });
  // The SDK named no storage for the second checkpoint, so the agent uses the storage that contains the files.
  const seen = await readStorageMarker(checkpoints);
  expect(platform.checkpoints.get(second)?.declared).toMatchObject({
    storageId: seen.kind === "marked" ? seen.id : "",
  });
  expect(ended.exit?.code).toBe(3);
  expect([readdirSync(stage.spoolOf(launch)), existsSync(join(checkpoints, first))]).toEqual([
    [],
    true,
  ]);
});

test.concurrent("while the platform is unavailable a run's end is reported at once, and names the checkpoints that are not delivered, the most steps first", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  platform.checkpointStatus = 503;
  const launch = launchOf(`${sealing(first, 1)}; ${sealing(second, 2)}; exit 3`);
  platform.run(launch);
  const ended = await platform.ended(launch);
  expect(ended.exit?.code).toBe(3);
  expect(ended.sealed?.checkpoints).toEqual([
    { checkpoint: second, step: 2, bytes: 1 },
    { checkpoint: first, step: 1, bytes: 1 },
  ]);
  platform.checkpointStatus = 200;
  await vi.waitFor(
    () => expect([...platform.checkpoints.keys()]).toEqual([first, second]),
    patient,
  );
  await vi.waitFor(
    () => expect(platform.reported(launch.allocation)?.sealed).toBeUndefined(),
    patient,
  );
});

test.concurrent("checkpoints of an ended run are counted until they are delivered, also after the run is forgotten and the agent restarts", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  platform.checkpointStatus = 503;
  const launch = launchOf(`${sealing(first, 1)}; ${sealing(second, 2)}; exit 0`);
  platform.run(launch);
  await platform.ended(launch);
  const counted = { checkpoints: 2, bytes: 2, runs: [launch.allocation] };
  expect(platform.report?.undelivered).toEqual(counted);
  platform.unwant(launch);
  await vi.waitFor(() => expect(platform.reported(launch.allocation)).toBeUndefined(), patient);
  expect(platform.report?.undelivered).toEqual(counted);
  const before = platform.report?.incarnation;
  await stage.stopAgent();
  await stage.startAgent();
  await vi.waitFor(() => expect(platform.report?.incarnation).not.toBe(before), patient);
  expect(platform.report?.undelivered).toEqual(counted);
  platform.checkpointStatus = 200;
  await vi.waitFor(() => expect(platform.report?.undelivered).toBeUndefined(), patient);
});

test.concurrent("checkpoints of a lost run are not counted, and stay", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  platform.checkpointStatus = 410;
  platform.checkpointCode = "history_lost";
  const launch = launchOf(`${sealing(first, 1)}; ${sealing(second, 2)}; exit 0`);
  platform.run(launch);
  const ended = await platform.ended(launch);
  expect(ended.sealed?.checkpoints).toHaveLength(2);
  await vi.waitFor(() => expect(platform.report?.undelivered).toBeUndefined(), patient);
  platform.unwant(launch);
  await vi.waitFor(() => expect(platform.reported(launch.allocation)).toBeUndefined(), patient);
  expect(platform.report?.undelivered).toBeUndefined();
  expect(readdirSync(stage.spoolOf(launch))).toHaveLength(2);
  platform.checkpointStatus = 200;
  platform.epoch += 1;
  platform.send();
  await vi.waitFor(() => expect(platform.checkpoints.size).toBe(2), patient);
});

test.concurrent("the end of a killed run names the last validation that it recorded; one without the SDK recorded none", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  const file = '"$TRAINYARD_RUN_DIR/spool/last-validation"';
  const record = `mkdir -p "$TRAINYARD_RUN_DIR/spool"; printf '%-31s\\n' 0-17 > ${file}`;
  const [killed, bare] = [launchOf(`${record}; echo up; exec sleep 1000`), launchOf("exit 0")];
  platform.run(killed);
  platform.run(bare);
  expect((await platform.ended(bare)).lastValidation).toBe("");
  const leader = await vi.waitFor(() => {
    const report = platform.reported(killed.allocation);
    if (!report?.pid) throw new Error("the run has not started");
    expect(existsSync(join(stage.folderOf(killed), "run/spool/last-validation"))).toBe(true);
    return report;
  }, patient);
  expect(leader.lastValidation).toBeUndefined();
  process.kill(leader.pid, "SIGKILL");
  const ended = await platform.ended(killed);
  expect([ended.exit?.signal, ended.lastValidation]).toEqual(["SIGKILL", "0-17"]);
});

test.concurrent("undelivered checkpoints of a living process are named in the report", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  const launch = launchOf(`${sealing(first, 1)}; echo up; exec sleep 1000`);
  platform.run(launch);
  await vi.waitFor(
    () =>
      expect(platform.reported(launch.allocation)).toMatchObject({
        sealed: { checkpoints: [{ checkpoint: first }] },
      }),
    patient,
  );
  expect([...platform.checkpoints.keys()]).toEqual([]);
});

test.concurrent("an end names only as many checkpoints as a report has room for, and no files that are not records", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  platform.checkpointStatus = 503;
  const many = limits.sealedNamedMax + 5;
  const ids = Array.from(
    { length: many },
    (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
  );
  const launch = launchOf(
    `${ids.map((id, n) => sealing(id, n + 1)).join("; ")}
     echo '{"checkpoint": "${first}"}' > "$TRAINYARD_RUN_DIR/spool/checkpoints/${first}.json"
     echo '{' > "$TRAINYARD_RUN_DIR/spool/checkpoints/${second}.json"`,
  );
  platform.run(launch);
  const { sealed } = await platform.ended(launch);
  const steps = sealed?.checkpoints.map(({ step }) => step);
  expect(steps).toEqual(Array.from({ length: limits.sealedNamedMax }, (_, n) => many - n));
});

test.concurrent("a checkpoint that has to wait does not delay other checkpoints of the run", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  platform.tooEarly.add(first);
  const launch = launchOf(`${sealing(first, 1)}; ${sealing(second, 2)}`);
  platform.run(launch);
  await vi.waitFor(() => expect([...platform.checkpoints.keys()]).toEqual([second]), patient);
  // The end may also name the other one, whose answer the agent has not read yet.
  const { sealed } = await platform.ended(launch);
  expect(sealed?.checkpoints.map(({ checkpoint }) => checkpoint)).toContain(first);
  platform.tooEarly.clear();
  await vi.waitFor(
    () => expect([...platform.checkpoints.keys()]).toEqual([second, first]),
    patient,
  );
});

test.concurrent("a full disk that prevents the record of delivered files does not delay the end of a run", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  const launch = launchOf(`${sealing(first, 1)}; echo up; exec sleep 1000`);
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  // A folder at the draft's path makes writing the record fail, as a full disk does.
  mkdirSync(join(stage.folderOf(launch), `.${names.delivered}.${process.pid}.new`));
  platform.kill(launch);
  const { killed } = await platform.ended(launch);
  expect(killed).toBe(true);
  expect([...platform.checkpoints.keys()]).toEqual([first]);
});

test.concurrent("a checkpoint that could not be completed in time is retried later, also by the next agent process", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  platform.checkpointStatus = 503;
  const launch = launchOf(`${sealing(first, 1)}; echo up; exec sleep 1000`);
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  platform.kill(launch);
  await platform.ended(launch);
  await stage.stopAgent();
  await stage.startAgent();
  platform.checkpointStatus = 200;
  await vi.waitFor(() => expect([...platform.checkpoints.keys()]).toEqual([first]), patient);
  await vi.waitFor(() => expect(readdirSync(stage.spoolOf(launch))).toEqual([]), patient);
});

test.concurrent("a sealed checkpoint is kept even when it is refused for good; only incomplete folders are removed", async () => {
  await using stage = await AgentStage.start();
  const { platform, checkpoints } = stage;
  platform.checkpointStatus = 409;
  platform.checkpoints.set(second, { declared: {}, manifest: [] });
  const begun = "00000000-0000-4000-8000-00000000000b";
  const outside = join(checkpoints, "kept");
  mkdirSync(outside);
  const launch = launchOf(
    `${sealing(first, 1)}; ${sealing(second, 2)}; mkdir "$TRAINYARD_CHECKPOINT_ROOT/${begun}"
     touch "$TRAINYARD_RUN_DIR/spool/checkpoints/${begun}.begun" "$TRAINYARD_RUN_DIR/spool/checkpoints/kept.begun"`,
  );
  platform.run(launch);
  await platform.ended(launch);
  const folders = readdirSync(checkpoints).filter((name) => name !== storageMarkerName);
  expect(folders.toSorted()).toEqual([second, first, "kept"]);
  // A file that names no checkpoint is left alone, inside the spool and beside it.
  expect(readdirSync(stage.spoolOf(launch))).toEqual(["kept.begun"]);
});

test.concurrent("a host that does not see the storage's folder does not mark a new storage at its path", async () => {
  await using stage = await AgentStage.start();
  const { platform, checkpoints } = stage;
  const record = sealing(first, 1);
  const launch = launchOf(`${record}; rm -r "$TRAINYARD_CHECKPOINT_ROOT/${first}"`);
  platform.run(launch);
  await platform.ended(launch);
  expect(await readStorageMarker(checkpoints)).toEqual({ kind: "unmarked" });
  expect(platform.checkpoints.get(first)?.declared).not.toHaveProperty("storageId");
});

test.concurrent("a spool that cannot be read does not delay the end of a run", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  const launch = launchOf(
    'mkdir "$TRAINYARD_RUN_DIR/spool"; echo x > "$TRAINYARD_RUN_DIR/spool/checkpoints"',
  );
  platform.run(launch);
  expect((await platform.ended(launch)).exit?.code).toBe(0);
});

test("the agent derives the checkpoint folder from the configuration, as the registry does", () => {
  const rootOf = (checkpoint_storage: Record<string, string> | undefined, checkpointDir: string) =>
    checkpointRootOf(
      launchOf("true", configured({ ...(checkpoint_storage && { checkpoint_storage }) })),
      checkpointDir,
    );
  expect(rootOf(undefined, "/d")).toBe("/d");
  expect(rootOf(undefined, "")).toBeNull();
  expect(rootOf({ type: "directory", container_path: "mine" }, "/d")).toBe("/d/mine");
  expect(rootOf({ type: "directory", container_path: "mine" }, "")).toBeNull();
  expect(rootOf({ type: "shared_fs", host_path: "/h", storage_path: "a" }, "")).toBe("/h/a");
  expect(rootOf({ type: "s3", bucket: "b" }, "/d")).toBeNull();
});

test("TensorBoard files have a root of their own only if the configuration names a storage for them", () => {
  const rootOf = (tensorboard_storage?: Record<string, string>) => {
    const checkpoint_storage = { type: "s3", bucket: "b" };
    const config = { checkpoint_storage, ...(tensorboard_storage && { tensorboard_storage }) };
    const launch = launchOf("true", configured(config));
    const agent = { checkpointDir: "/d", checkpointDiskShare: 0.5 };
    return [storagePlaces(launch, agent).tensorboardRoot, areTensorBoardsSent(launch)];
  };
  expect(rootOf()).toEqual([null, true]);
  expect(rootOf({ type: "shared_fs", host_path: "/h", storage_path: "a" })).toEqual([
    "/h/a",
    false,
  ]);
  expect(rootOf({ type: "gcs", bucket: "boards" })).toEqual(["", true]);
});

test.concurrent("a host that shuts down ends runs without the SDK by a signal, and their end counts as no failure", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  const gentle = launchOf(
    "trap 'echo leaving; exit 0' TERM; echo up; while :; do sleep 0.05; done",
  );
  const other = launchOf("echo up; exec sleep 1000");
  for (const launch of [gentle, other]) {
    platform.run(launch);
    await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  }
  await stage.shutDownRuns();
  expect(platform.texts(gentle)).toContain("leaving");
  for (const launch of [gentle, other]) {
    const { exit, killed } = await platform.ended(launch);
    expect(exit).toMatchObject({ signal: "", message: "the agent was shut down with its runs" });
    expect([exit?.code, killed]).toEqual([undefined, false]);
  }
});

test.concurrent("a script that uses the SDK is asked to stop first: it stores a checkpoint and exits by itself", async () => {
  await using stage = await AgentStage.start();
  const { platform, checkpoints } = stage;
  const script = `
import time, trainyard
with trainyard.init() as ctx:
    print("up", flush=True)
    while not ctx.preempt.should_preempt():
        time.sleep(0.01)
    with ctx.checkpoint.store_path({"steps_completed": 7}) as (path, uuid):
        (path / "model").write_text("weights")
    print(ctx.preempt.why, uuid, flush=True)
`;
  const contextDigest = platform.addContext(await packed({ "train.py": script }));
  const launch = launchOf("python3 train.py", { contextDigest });
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  await stage.shutDownRuns();
  const ended = await platform.ended(launch);
  expect(ended).toMatchObject({ killed: false, exit: { code: 0 } });
  expect(ended.endRecord).toEqual({ reason: EndReason.ACKNOWLEDGED_STOP, message: "shutdown" });
  const [checkpoint = ""] = platform.checkpoints.keys();
  expect(platform.texts(launch)).toEqual(["up", `shutdown ${checkpoint}`]);
  expect(readFileSync(join(checkpoints, checkpoint, "model"), "utf8")).toBe("weights");
});

test.concurrent("a script that continues after a request to stop is ended when its grace period is over", async () => {
  await using stage = await AgentStage.start();
  const { platform } = stage;
  const launch = launchOf('mkdir "$TRAINYARD_RUN_DIR/spool"; echo up; exec sleep 1000');
  platform.run(launch);
  await vi.waitFor(() => expect(platform.texts(launch)).toEqual(["up"]), patient);
  const asked = { why: "shutdown", atMs: Date.now() - limits.stopGraceMs } as const;
  writeRecord(stage.folderOf(launch), names.stop, asked);
  const { exit } = await platform.ended(launch);
  expect(exit).toMatchObject({ signal: "", message: "the agent was shut down with its runs" });
});
