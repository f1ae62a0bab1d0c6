/** Deletions in storages whose marker names another log, or an event that this log lacks: none happens. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  directoryDisk,
  markStore,
  readStorageMarker,
  seenStore,
  type StorageOwner,
  writeStorageMarker,
  writeStoreMarker,
} from "@trainyard/blob";
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

const condemned = ["CheckpointCondemned"];
const deleted = ["CheckpointCondemned", "CheckpointDeletionStarted", "CheckpointDeleted"];

const becomes = (checkpoint: string | undefined, expected: readonly string[]) =>
  vi.waitFor(async () => expect(await gc.retention(checkpoint ?? "")).toEqual(expected), soon);

async function waitsFor(checkpoint: string | undefined, why: string): Promise<void> {
  const text = "select why from checkpoint_gc.retries where checkpoint = $1";
  await vi.waitFor(async () => {
    const [row] = await gc.stage.sql<{ why: string }>(text, [checkpoint ?? ""]);
    expect(row?.why ?? "").toContain(why);
  }, soon);
}

type Case = readonly [name: string, owner: () => Promise<StorageOwner>, why: string];
const event = randomUUID();
const cases: readonly Case[] = [
  [
    "another log",
    async () => ({ log: randomUUID(), witness: { position: 1, id: event } }),
    "belongs to another cluster",
  ],
  [
    "an event beyond the end of the log, as after a restore",
    async () => ({
      log: await gc.stage.identity.id(),
      witness: { position: 999_999, id: event },
    }),
    "at position 999999",
  ],
  [
    "another event at a position of the log, as of a copy of the cluster",
    async () => ({ log: await gc.stage.identity.id(), witness: { position: 2, id: event } }),
    "at position 2",
  ],
];

/** This log with its last event, as an adoption writes it. */
async function own(): Promise<StorageOwner> {
  return { log: await gc.stage.identity.id(), witness: await gc.stage.identity.latest() };
}

/** The marker has an event that is not older than the one that started the deletion. */
async function expectOwn(owner: StorageOwner | undefined, since: number): Promise<void> {
  expect(owner?.log).toBe(await gc.stage.identity.id());
  expect(owner?.witness.position).toBeGreaterThan(since);
  expect(await gc.stage.identity.has(owner?.witness ?? { position: 1, id: "" })).toBe(true);
}

test.each(cases)(
  "no checkpoint in a directory is deleted while its marker names %s",
  async (_, owner, why) => {
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1]);
    const [checkpoint = ""] = checkpoints;
    await gc.endExperiment(experiment);
    const mark = { id: gc.storageId, owner: await owner() };
    await writeStorageMarker(gc.root, mark);
    await gc.start(0);
    await waitsFor(checkpoint, why);
    expect(await gc.retention(checkpoint)).toEqual(condemned);
    expect([gc.has(checkpoint), await readStorageMarker(gc.root)]).toEqual([
      true,
      { kind: "marked", ...mark },
    ]);
    const adopted = await own();
    await writeStorageMarker(gc.root, { id: gc.storageId, owner: adopted });
    await becomes(checkpoint, deleted);
    expect(gc.has(checkpoint)).toBe(false);
    const seen = await readStorageMarker(gc.root);
    await expectOwn(seen.kind === "marked" ? seen.owner : undefined, adopted.witness.position);
  },
);

test("a deletion that has started waits, too, and removes nothing more", async () => {
  const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1]);
  const [checkpoint = ""] = checkpoints;
  const lost = { log: await gc.stage.identity.id(), witness: { position: 999_999, id: event } };
  let removals = 0;
  const disk = {
    ...directoryDisk,
    async removeFolder(root: string, below: string): Promise<void> {
      removals += 1;
      if (removals > 1) return directoryDisk.removeFolder(root, below);
      await writeStorageMarker(gc.root, { id: gc.storageId, owner: lost });
      throw new Error("EIO");
    },
  };
  await gc.endExperiment(experiment);
  await gc.start(0, { disk });
  await waitsFor(checkpoint, "nothing is removed or replaced");
  expect([removals, await gc.retention(checkpoint)]).toEqual([1, deleted.slice(0, 2)]);
  await writeStorageMarker(gc.root, { id: gc.storageId, owner: await own() });
  await becomes(checkpoint, deleted);
  expect([removals, gc.has(checkpoint)]).toEqual([2, false]);
});

test("no checkpoint in a bucket is deleted while its marker names another log, or an event that the log lacks", async () => {
  await using server = await S3Server.start({ buckets: ["models"] });
  const folder = await mkdtemp(join(tmpdir(), "trainyard-gc-bucket-"));
  const file = join(folder, "credentials.json");
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key } = testUser;
  await writeFile(file, JSON.stringify({ s3: { access_key_id, secret_access_key } }), {
    mode: 0o600,
  });
  try {
    const { url: endpoint } = server;
    const opened = { bucket: "models", prefix: "", endpoint, credentials: testUser };
    await using store = openS3Store({ ...opened, clock: systemClock });
    const { id } = await markStore(store);
    const storage = { type: "s3", bucket: "models", endpoint_url: endpoint };
    const place = { root: "", storageId: id, storage };
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1], [], place);
    const [checkpoint = ""] = checkpoints;
    await store.put(`${checkpoint}/weights`, Buffer.from("w"));
    const isThere = async () => (await store.head(`${checkpoint}/weights`)) !== null;
    await gc.endExperiment(experiment);
    const [another, lost] = [await cases[0]?.[1](), await cases[1]?.[1]()];
    if (another === undefined || lost === undefined) throw new Error("there are three cases");
    await writeStoreMarker(store, { id, owner: another });
    await gc.start(
      0,
      {},
      {
        TRAINYARD_STORAGE_CREDENTIALS: file,
        TRAINYARD_STORAGE_ENDPOINTS: endpoint,
      },
    );
    await waitsFor(checkpoint, `s3://models at ${endpoint} belongs to another cluster`);
    await writeStoreMarker(store, { id, owner: lost });
    await waitsFor(checkpoint, "at position 999999");
    expect([await isThere(), await gc.retention(checkpoint)]).toEqual([true, condemned]);
    const adopted = await own();
    await writeStoreMarker(store, { id, owner: adopted });
    await becomes(checkpoint, deleted);
    expect(await isThere()).toBe(false);
    const seen = await seenStore(store);
    await expectOwn(seen.kind === "marked" ? seen.owner : undefined, adopted.witness.position);
  } finally {
    await gc.stop();
    await rm(folder, { recursive: true });
  }
}, 120_000);
