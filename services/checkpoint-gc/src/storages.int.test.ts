/** Tests of the service with a storage that its host does not see, or sees differently from the checkpoints' writer. */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { directoryDisk, markStorage, storageStreamId } from "@trainyard/blob";
import { ManualClock, SilentServer } from "@trainyard/testing";
import pg from "pg";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { gcLimits } from "./limits.ts";
import { CheckpointIndex } from "./shell/index-view.ts";
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

/** Returns why the deletion of a checkpoint waits, from the table of retries. */
async function why(checkpoint: string): Promise<string> {
  const text = "select why from checkpoint_gc.retries where checkpoint = $1";
  const [row] = await gc.stage.sql<{ why: string }>(text, [checkpoint]);
  return row?.why ?? "";
}

describe("checkpoint-gc with a storage that two hosts see differently", () => {
  test.each([
    ["an empty folder", "is the storage mounted here", async () => {}],
    [
      "another storage",
      "is not the same storage here",
      async () => void (await markStorage(gc.root)),
    ],
  ])("has nothing deleted while this host sees %s", async (_, told, asSeen) => {
    await gc.start(0);
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1]);
    const [checkpoint = ""] = checkpoints;
    const share = `${gc.root}.share`;
    await rename(gc.root, share);
    await mkdir(gc.root);
    await asSeen();
    await gc.endExperiment(experiment);
    await becomes(checkpoint, condemned);
    await vi.waitFor(async () => expect(await why(checkpoint)).toContain(told), soon);
    expect(await gc.retention(checkpoint)).toEqual(condemned);
    await rm(gc.root, { recursive: true });
    await rename(share, gc.root);
    expect(gc.has(checkpoint)).toBe(true);
    await becomes(checkpoint, deleted);
    expect(gc.has(checkpoint)).toBe(false);
  });

  test("deletes at once, after a wrong clock is corrected, a checkpoint that it put off by days", async () => {
    await gc.start(0);
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1]);
    const [checkpoint = ""] = checkpoints;
    await rename(gc.root, `${gc.root}.share`);
    await gc.endExperiment(experiment);
    await vi.waitFor(async () => expect(await why(checkpoint)).not.toBe(""), soon);
    await gc.stop();
    await gc.stage.sql("update checkpoint_gc.retries set next_ms = next_ms + 5 * 86400000");
    await rename(`${gc.root}.share`, gc.root);
    await gc.start(0);
    await becomes(checkpoint, deleted);
  });

  test("keeps what was declared without its id, logs a warning, and deletes it once the storage is adopted", async () => {
    await gc.start(0);
    const older = { root: gc.root, storageId: "" };
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1], [], older);
    const [checkpoint = ""] = checkpoints;
    await gc.endExperiment(experiment);
    await becomes(checkpoint, condemned);
    const adopt = `yard storage adopt ${gc.root}`;
    await vi.waitFor(async () => expect(await why(checkpoint)).toContain(adopt), soon);
    expect(await gc.retention(checkpoint)).toEqual(condemned);
    expect(gc.has(checkpoint)).toBe(true);
    const { root, storageId } = gc;
    await gc.stage.tell(`storage-${storageStreamId(root)}`, {
      type: "StorageAdopted",
      data: { root, storageId, replacedIds: [], by: "ada" },
    });
    await becomes(checkpoint, deleted);
    expect(gc.has(checkpoint)).toBe(false);
    expect(await why(checkpoint)).toBe("");
  });

  test("retries with growing delays", async () => {
    await gc.start(600);
    const older = { root: gc.root, storageId: "" };
    const { checkpoints } = await gc.trained([0, 0, 0], [1], [], older);
    await gc.settled();
    await gc.stop();
    const pool = new pg.Pool({ connectionString: gc.stage.variables["TRAINYARD_POSTGRES_URL"] });
    try {
      const logger = pino({ enabled: false });
      const index = new CheckpointIndex(pool, new ManualClock(), logger, () => {});
      const [checkpoint = ""] = checkpoints;
      const waits: number[] = [];
      for (let tries = 0; tries < 12; tries += 1) {
        await index.putOff(checkpoint, 1_000_000, "away");
        const [row] = await gc.stage.sql<{ next_ms: number }>(
          "select next_ms from checkpoint_gc.retries where checkpoint = $1",
          [checkpoint],
        );
        waits.push((row?.next_ms ?? 0) - 1_000_000);
      }
      const { retryFirstMs, retryLastMs } = gcLimits;
      expect(waits.slice(0, 3)).toEqual([retryFirstMs, 2 * retryFirstMs, 4 * retryFirstMs]);
      expect(waits.at(-1)).toBe(retryLastMs);
      await index.forgetRetries(checkpoint);
    } finally {
      await pool.end();
    }
  });

  test("repeats a deletion that a vanished storage interrupted", async () => {
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], [1]);
    const [gone = ""] = checkpoints;
    let away = false;
    const disk = {
      ...directoryDisk,
      removeFolder: async (root: string, below: string) => {
        if (!away) await rename(gc.root, `${gc.root}.away`);
        away = true;
        await directoryDisk.removeFolder(root, below);
      },
    };
    await gc.start(0, { disk });
    await gc.endExperiment(experiment);
    await becomes(gone, ["CheckpointCondemned", "CheckpointDeletionStarted"]);
    await vi.waitFor(async () => expect(await why(gone)).toContain("is the storage mounted"), soon);
    expect((await gc.retention(gone)).length).toBe(2);
    await rename(`${gc.root}.away`, gc.root);
    expect(gc.has(gone)).toBe(true);
    await becomes(gone, deleted);
    expect(gc.has(gone)).toBe(false);
  });
});

/** Credentials for a test server that checks none. */
async function storeVariables(endpoint: string): Promise<Readonly<Record<string, string>>> {
  const file = join(await mkdtemp(join(tmpdir(), "trainyard-gc-")), "storage.json");
  const s3 = { access_key_id: "key", secret_access_key: "secret" };
  await writeFile(file, JSON.stringify({ s3 }), { mode: 0o600 });
  return { TRAINYARD_STORAGE_CREDENTIALS: file, TRAINYARD_STORAGE_ENDPOINTS: endpoint };
}

describe("more checkpoints of an unavailable storage than one pass handles", () => {
  const many = gcLimits.page + 5;
  const others = () => ({ root: gc.root, storageId: gc.storageId, firstDigit: "f" });
  const losses = Array.from({ length: many }, () => null);

  test("do not delay those of another storage before their deletion has started", async () => {
    const away = { root: join(gc.root, "away"), storageId: randomUUID(), firstDigit: "0" };
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], losses, [], away);
    const other = await gc.trained([0, 0, 0], [1, 2, 3], [], others());
    await gc.endExperiment(experiment);
    await gc.endExperiment(other.experiment);
    await gc.start(0);
    for (const checkpoint of other.checkpoints) await becomes(checkpoint, deleted);
    for (const checkpoint of checkpoints) expect(await gc.retention(checkpoint)).toEqual(condemned);
  });

  test("do not delay those of another storage once their deletion has started", async () => {
    const root = join(gc.root, "failing");
    await mkdir(root);
    const failing = { root, storageId: await markStorage(root), firstDigit: "0" };
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], losses, [], failing);
    const other = await gc.trained([0, 0, 0], [1, 2, 3], [], others());
    await gc.endExperiment(experiment);
    await gc.endExperiment(other.experiment);
    const disk = {
      ...directoryDisk,
      removeFolder: async (root: string, below: string) => {
        if (root === failing.root) throw new Error("EIO: i/o error");
        await directoryDisk.removeFolder(root, below);
      },
    };
    await gc.start(0, { disk });
    for (const checkpoint of other.checkpoints) await becomes(checkpoint, deleted);
    for (const checkpoint of checkpoints) {
      expect((await gc.retention(checkpoint)).includes("CheckpointDeleted")).toBe(false);
    }
  });

  test("do not delay those of another storage while their object store is silent, which a pass asks once", async () => {
    await using silent = await SilentServer.start();
    const storage = { type: "s3", bucket: "models", endpoint_url: silent.url };
    const store = { root: "", storageId: randomUUID(), firstDigit: "0", storage };
    const { experiment, checkpoints } = await gc.trained([0, 0, 0], losses, [], store);
    const other = await gc.trained([0, 0, 0], [1, 2, 3], [], others());
    await gc.endExperiment(experiment);
    await gc.endExperiment(other.experiment);
    const started = performance.now();
    await gc.start(
      0,
      {},
      {
        ...(await storeVariables(silent.url)),
        TRAINYARD_STORAGE_SILENCE_SECONDS: "2",
      },
    );
    for (const checkpoint of other.checkpoints) await becomes(checkpoint, deleted);
    for (const checkpoint of checkpoints) expect(await gc.retention(checkpoint)).toEqual(condemned);
    expect(await why(checkpoints[0] ?? "")).toContain("s3://models cannot read");
    // A pass takes two attempts of 2 s each. If each checkpoint waited for the store, the first page would take 400 s.
    const passesMax = (performance.now() - started) / 4_000 + 1;
    expect(silent.connections).toBeLessThanOrEqual(2 * Math.ceil(passesMax));
  });
});
