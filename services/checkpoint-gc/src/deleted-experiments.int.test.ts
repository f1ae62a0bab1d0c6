/** Tests of the checkpoints of experiments that people delete. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { markStorage, storageMarkerName } from "@trainyard/blob";
import { openS3Store } from "@trainyard/blob/s3";
import { systemClock } from "@trainyard/kernel/system-clock";
import { S3Server, testUser } from "@trainyard/testing/s3";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { soon, TestGc } from "./testing/test-gc.ts";

let gc: TestGc;

beforeAll(async () => {
  gc = await TestGc.open();
});
afterEach(() => gc.stop());
afterAll(() => gc[Symbol.asyncDispose]());

const deleted = ["CheckpointCondemned", "CheckpointDeletionStarted", "CheckpointDeleted"];
const keepAll = [9, 9, 9] as const;

const becomes = (checkpoint: string | undefined, expected: readonly string[]) =>
  vi.waitFor(async () => expect(await gc.retention(checkpoint ?? "")).toEqual(expected), soon);

const request = (experiment: string) =>
  gc.stage.tell(`experiment-${experiment}`, {
    type: "ExperimentDeletionRequested",
    data: { graceEndMs: 1, reason: "" },
  });
const undo = (experiment: string) =>
  gc.stage.tell(`experiment-${experiment}`, { type: "ExperimentDeletionUndone", data: {} });
const endGrace = (experiment: string) =>
  gc.stage.tell(`experiment-${experiment}`, { type: "ExperimentDeleted", data: {} });

async function preview(experiment: string) {
  const answer = await gc.stage.ask("checkpoint-gc", "PreviewExperimentDeletion", { experiment });
  return answer.kind === "ok" ? answer.reply : answer;
}

test("during the grace no checkpoint is deleted, not even one that was condemned before; after an undo it is", async () => {
  await gc.start(1);
  const { experiment, checkpoints } = await gc.trained([0, 0, 1], [1, 2]);
  await gc.endExperiment(experiment);
  const [first, last] = checkpoints;
  await becomes(first, ["CheckpointCondemned"]);
  await request(experiment);
  await vi.waitFor(async () => {
    const retries = await gc.stage.sql<{ why: string }>(
      `select why from checkpoint_gc.retries where checkpoint = '${first}'`,
    );
    expect(retries[0]?.why).toContain("may still be undone");
  }, soon);
  expect(gc.has(first ?? "")).toBe(true);
  await undo(experiment);
  await becomes(first, deleted);
  expect(await gc.retention(last ?? "")).toEqual([]);
});

test("after the grace all checkpoints of a deleted experiment are removed, whatever its policy keeps", async () => {
  await gc.start(600);
  const { experiment, checkpoints } = await gc.trained([...keepAll], [1, null, 3]);
  await gc.endExperiment(experiment);
  expect(await preview(experiment)).toEqual({ checkpoints: 3, held: [] });
  await request(experiment);
  await gc.settled();
  expect(checkpoints.map((one) => gc.has(one))).toEqual([true, true, true]);
  await endGrace(experiment);
  for (const checkpoint of checkpoints) await becomes(checkpoint, deleted);
  expect(checkpoints.map((one) => gc.has(one))).toEqual([false, false, false]);
});

test("a checkpoint that a version pins or a fork begins from stays until they release it, and the preview names it", async () => {
  await gc.start(600);
  const { experiment, trial, checkpoints } = await gc.trained([...keepAll], [1, 2, 3]);
  const [pinned = "", source = "", other] = checkpoints;
  await gc.endExperiment(experiment);
  await gc.stage.tell(`checkpoint-${pinned}`, {
    type: "CheckpointPinned",
    data: { by: "u1", holder: "version 1 of model iris", reason: "" },
  });
  const named = { source_trial_id: trial, source_checkpoint_uuid: source };
  const fork = await gc.experiment([...keepAll], named);
  await gc.trial(`${fork}.1`, source);
  const shown = await preview(experiment);
  expect(shown).toMatchObject({ checkpoints: 3 });
  const held = "held" in shown ? shown.held : [];
  expect(new Set(held.map(({ checkpoint }) => checkpoint))).toEqual(new Set([pinned, source]));
  expect(held.find(({ checkpoint }) => checkpoint === pinned)?.why).toBe(
    "version 1 of model iris pinned it",
  );
  await request(experiment);
  await endGrace(experiment);
  await becomes(other, deleted);
  await gc.settled();
  expect([gc.has(pinned), gc.has(source)]).toEqual([true, true]);
  await gc.endTrial(`${fork}.1`);
  await gc.endExperiment(fork);
  await becomes(source, deleted);
  await gc.stage.tell(`checkpoint-${pinned}`, {
    type: "CheckpointUnpinned",
    data: { by: "u1", holder: "version 1 of model iris" },
  });
  await becomes(pinned, deleted);
});

test("a checkpoint of a deleted experiment is also removed if it completes after the deletion", async () => {
  await gc.start(600);
  const { experiment, trial } = await gc.trained([...keepAll], [1]);
  await gc.endExperiment(experiment);
  await request(experiment);
  await endGrace(experiment);
  const late = await gc.checkpoint(trial, 9, null);
  await becomes(late, deleted);
  expect(gc.has(late)).toBe(false);
});

test("TensorBoard files of a deleted experiment are removed after the grace, those of other experiments stay, and no link is followed", async () => {
  await gc.start(600);
  const boards = await gc.tensorBoards();
  const board = (experiment: string) => join(boards, experiment);
  const made = async () => {
    const { experiment } = await gc.trained([...keepAll], [1]);
    await gc.endExperiment(experiment);
    await mkdir(join(board(experiment), "trial", `${experiment}.1`), { recursive: true });
    await writeFile(join(board(experiment), "trial", `${experiment}.1`, "events"), "e");
    return experiment;
  };
  const [gone, other, linked] = [await made(), await made(), await made()];
  const target = join(gc.root, "elsewhere");
  await rename(board(linked), target);
  await symlink(target, board(linked));
  await request(gone);
  await gc.settled();
  expect(existsSync(board(gone))).toBe(true);
  for (const experiment of [gone, linked]) await endGrace(experiment);
  await vi.waitFor(async () => {
    expect(existsSync(board(gone))).toBe(false);
    expect(await gc.stage.sql("select from checkpoint_gc.tensorboards")).toEqual([]);
  }, soon);
  expect([existsSync(board(other)), existsSync(join(target, "trial"))]).toEqual([true, true]);
});

test("TensorBoard files of a deleted experiment wait while this host sees another storage", async () => {
  await gc.start(600);
  const { experiment } = await gc.trained([...keepAll], [1]);
  await gc.endExperiment(experiment);
  const board = join(await gc.tensorBoards(), experiment);
  await mkdir(board, { recursive: true });
  const marker = join(gc.root, storageMarkerName);
  const text = await readFile(marker, "utf8");
  await writeFile(
    marker,
    text.replace(/^[0-9a-f]/, (digit) => (digit === "0" ? "1" : "0")),
  );
  await endGrace(experiment);
  await vi.waitFor(async () => {
    const sql = `select why from checkpoint_gc.retries where checkpoint = '${experiment}'`;
    const [row] = await gc.stage.sql<{ why: string }>(sql);
    expect(row?.why).toContain("not the same storage");
  }, soon);
  expect(existsSync(board)).toBe(true);
  await writeFile(marker, text);
  await vi.waitFor(() => expect(existsSync(board)).toBe(false), soon);
});

test("TensorBoard files of a deleted experiment are removed from its tensorboard_storage, once this host sees it", async () => {
  await gc.start(600);
  const boards = await mkdtemp(join(tmpdir(), "trainyard-boards-"));
  try {
    const tensorboard_storage = { type: "shared_fs", host_path: boards, storage_path: "b" };
    // The experiment never had a checkpoint.
    const experiment = await gc.experiment([...keepAll], {}, { tensorboard_storage });
    await gc.endExperiment(experiment);
    const below = await gc.tensorBoards("");
    const folderIn = (root: string) => join(root, below, experiment);
    const root = join(boards, "b");
    for (const one of [root, gc.root]) await mkdir(folderIn(one), { recursive: true });
    await endGrace(experiment);
    await vi.waitFor(async () => {
      const sql = `select why from checkpoint_gc.retries where checkpoint = '${experiment}'`;
      const [row] = await gc.stage.sql<{ why: string }>(sql);
      expect(row?.why).toBe(
        `${root} has no ${storageMarkerName} on this host: is the storage mounted here?`,
      );
    }, soon);
    expect(existsSync(folderIn(root))).toBe(true);
    await markStorage(root);
    await vi.waitFor(() => expect(existsSync(folderIn(root))).toBe(false), soon);
    // TensorBoard files beside the checkpoints stay, because the experiment has a tensorboard_storage.
    expect(existsSync(folderIn(gc.root))).toBe(true);
  } finally {
    await rm(boards, { recursive: true, force: true });
  }
});

test("TensorBoard files of a deleted experiment that never had a checkpoint are removed from the bucket of its configuration", async () => {
  await using server = await S3Server.start({ buckets: ["models"] });
  const credentials = join(gc.root, "credentials.json");
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = testUser;
  const s3 = { access_key_id, secret_access_key };
  await writeFile(credentials, JSON.stringify({ s3 }), { mode: 0o600 });
  const variables = {
    TRAINYARD_STORAGE_CREDENTIALS: credentials,
    TRAINYARD_STORAGE_ENDPOINTS: server.url,
  };
  const place = { bucket: "models", endpoint: server.url, credentials: testUser };
  await using store = openS3Store({ ...place, clock: systemClock });
  await gc.start(600, {}, variables);
  const checkpoint_storage = { type: "s3", bucket: "models", endpoint_url: server.url };
  const experiment = await gc.experiment([...keepAll], {}, { checkpoint_storage });
  const boards = await gc.tensorBoards("");
  const [own, other] = [experiment, "999"].map((id) => `${boards}/${id}/trial/${id}.1/events`);
  for (const key of [own, other]) await store.put(key ?? "", Buffer.from("e"));
  await gc.endExperiment(experiment);
  await endGrace(experiment);
  await vi.waitFor(async () => expect(await store.head(own ?? "")).toBeNull(), 20_000);
  expect(await store.head(other ?? "")).not.toBeNull();
});

test("the rows of a deleted experiment go with its last checkpoint, and those of others stay and are missed", async () => {
  await gc.start(600);
  const { experiment, checkpoints } = await gc.trained([...keepAll], [1, 2, 3]);
  const other = await gc.trained([...keepAll], [4]);
  const [pinned = "", second = ""] = checkpoints;
  await gc.endExperiment(experiment);
  const pin = { by: "u1", holder: "version 1 of model iris" };
  await gc.stage.tell(`checkpoint-${pinned}`, {
    type: "CheckpointPinned",
    data: { ...pin, reason: "" },
  });
  const rows = async (id: string) => {
    const of = (table: string, where: string) =>
      gc.stage.sql(`select from checkpoint_gc.${table} where ${where}`);
    const found = await Promise.all([
      of("checkpoints", `experiment = '${id}'`),
      of("validations", `trial like '${id}.%'`),
      of("leftovers", `experiment = '${id}'`),
    ]);
    return found.map(({ length }) => length);
  };
  await endGrace(experiment);
  await becomes(second, deleted);
  await gc.settled();
  expect(await rows(experiment)).toEqual([3, 3, 1]);
  await gc.stage.tell(`checkpoint-${pinned}`, { type: "CheckpointUnpinned", data: pin });
  await becomes(pinned, deleted);
  await vi.waitFor(async () => expect(await rows(experiment)).toEqual([0, 0, 0]), 20_000);
  expect(await rows(other.experiment)).toEqual([1, 1, 0]);
  // The rows may be missing in a comparison with the log, and those of a live experiment may not.
  const [verified = ""] = Object.values(await gc.stage.verify());
  expect(verified).toBe("");
  await gc.stage.sql(
    `delete from checkpoint_gc.checkpoints where experiment = '${other.experiment}'`,
  );
  const [missing = ""] = Object.values(await gc.stage.verify());
  expect(missing).toContain("it is missing");
});

test("a fork that was continued keeps the checkpoint that its trials begin from until it ends", async () => {
  await gc.start(600);
  const { experiment, trial, checkpoints } = await gc.trained([...keepAll], [1, 2]);
  const [source = "", other] = checkpoints;
  await gc.endExperiment(experiment);
  const named = { source_trial_id: trial, source_checkpoint_uuid: source };
  const fork = await gc.experiment([...keepAll], named);
  await gc.trial(`${fork}.1`, source);
  await gc.endTrial(`${fork}.1`);
  await gc.endExperiment(fork);
  const continued = { continuation: 1, request: "r", maxTrials: 2 };
  await gc.stage.tell(`experiment-${fork}`, { type: "ExperimentContinued", data: continued });
  await request(experiment);
  await endGrace(experiment);
  await becomes(other, deleted);
  await gc.settled();
  expect(gc.has(source)).toBe(true);
  await gc.endExperiment(fork);
  await becomes(source, deleted);
});
