/** A storage that the registry's host and the writer see differently, and one that was declared without an id. */
import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { markStorage, readStorageMarker } from "@trainyard/blob";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runEnded, TestRegistry } from "./testing/test-registry.ts";

let registry: TestRegistry;
const soon = { timeout: 90_000, interval: 100 };

beforeAll(async () => {
  registry = await TestRegistry.start();
});
afterAll(() => registry[Symbol.asyncDispose]());

/** The failures of storages that the registry has counted, by their fault. */
async function failures(fault: string): Promise<number> {
  const text = await (await fetch(`${registry.service.address()}/metrics`)).text();
  const sample = new RegExp(
    `^trainyard_registry_storage_failures_total{.*"directory".*"${fault}".* (\\d+)$`,
    "m",
  );
  return Number(sample.exec(text)?.[1]);
}

const rejectedAs = (code: string) => ({ kind: "rejected", rejection: { rejected: code } });

describe("a storage that two hosts see differently", () => {
  /** The registry's host sees an empty folder at the path; the files are elsewhere. */
  async function unmounted<Result>(seen: () => Promise<Result>): Promise<Result> {
    await rename(registry.storage, `${registry.storage}.share`);
    await mkdir(registry.storage);
    try {
      return await seen();
    } finally {
      await rm(registry.storage, { recursive: true });
      await rename(`${registry.storage}.share`, registry.storage);
    }
  }

  test("yields no verdict, and the checkpoint completes once the storage is mounted", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    const manifest = await registry.write(checkpoint, { weights: "w" });
    const seen = await unmounted(() => registry.complete(checkpoint, trial, manifest));
    expect(seen).toEqual({ kind: "unavailable" });
    expect(await failures("storage_unreadable")).toBe(1);
    expect(await registry.names(checkpoint)).toEqual(["CheckpointDeclared"]);
    expect(await registry.complete(checkpoint, trial, manifest)).toMatchObject({ kind: "ok" });
    const [declared] = await registry.stage.events(`checkpoint-${checkpoint}`);
    expect(declared?.data).toMatchObject({ storageId: registry.storageId });
  });

  test("yields no verdict when another storage is mounted at the path", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    const manifest = await registry.write(checkpoint, { weights: "w" });
    const seen = await unmounted(async () => {
      await markStorage(registry.storage);
      return registry.complete(checkpoint, trial, manifest);
    });
    expect(seen).toEqual({ kind: "unavailable" });
    expect(await registry.names(checkpoint)).toEqual(["CheckpointDeclared"]);
  });

  test("takes no checkpoint that was written to another storage at the path, and counts it", async () => {
    const storageId = randomUUID();
    const { answer } = await registry.declareIn({ trial: await registry.newTrial(), storageId });
    expect(answer).toMatchObject(rejectedAs("storage_not_known"));
    expect(await failures("storage_not_known")).toBe(1);
  });

  test("keeps the files of a failed checkpoint until it is mounted again", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    await registry.write(checkpoint, { weights: "w" });
    const left = async () =>
      (await registry.stage.sql("select checkpoint from registry.unfinished where state = 'void'"))
        .map((row) => row["checkpoint"])
        .includes(checkpoint);
    await unmounted(async () => {
      await registry.stage.tell(`trial-${trial}`, runEnded(1));
      await vi.waitFor(async () => expect(await left()).toBe(true), soon);
      const [group] = (await registry.storages()).filter(({ leftOver }) => leftOver > 0);
      expect(group).toMatchObject({ root: registry.storage, storageId: registry.storageId });
      expect(await left()).toBe(true);
    });
    expect(registry.has(checkpoint, "weights")).toBe(true);
    await vi.waitFor(() => expect(registry.has(checkpoint)).toBe(false), soon);
  });

  test("never gets a marker from the registry", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    const manifest = await registry.write(checkpoint, { weights: "w" });
    const seen = await unmounted(async () => {
      await registry.complete(checkpoint, trial, manifest);
      return readStorageMarker(registry.storage);
    });
    expect(seen).toEqual({ kind: "unmarked" });
  });
});

describe("a checkpoint that was declared without the id of its storage", () => {
  let other: TestRegistry;
  const root = () => other.storage;

  beforeAll(async () => {
    other = await TestRegistry.start();
  });
  afterAll(() => other[Symbol.asyncDispose]());

  const declaredBefore = async () => {
    const trial = await other.newTrial();
    const { checkpoint } = await other.declareIn({ trial });
    const manifest = await other.write(checkpoint, { weights: "0123456789" });
    return { trial, checkpoint, manifest };
  };

  test("may complete, and neither fails nor is cleared until its storage is adopted", async () => {
    const whole = await declaredBefore();
    const completed = await other.complete(whole.checkpoint, whole.trial, whole.manifest);
    expect(completed).toMatchObject({ kind: "ok" });
    const plan = await other.plan(whole.checkpoint);
    expect(plan.kind === "ok" && "storageId" in plan.reply).toBe(false);

    const cut = await declaredBefore();
    await writeFile(join(root(), cut.checkpoint, "weights"), "012345678x");
    const failing = () => other.complete(cut.checkpoint, cut.trial, cut.manifest);
    expect(await failing()).toEqual({ kind: "unavailable" });
    expect(await other.names(cut.checkpoint)).toEqual(["CheckpointDeclared"]);

    const [group] = await other.storages();
    expect(group).toMatchObject({ root: root(), storageId: "", countsAs: "", checkpoints: 2 });
    expect(group?.examples).toEqual([whole.checkpoint]);

    const unknown = await other.adopt(join(root(), "elsewhere"), other.storageId);
    expect(unknown).toMatchObject(rejectedAs("storage_not_found"));
    expect(unknown).toMatchObject({ rejection: { detail: expect.stringContaining(root()) } });
    expect(await other.adopt(root(), "no id")).toMatchObject(rejectedAs("invalid_request"));
    const adopted = await other.adopt(root(), other.storageId);
    expect(adopted).toMatchObject({ kind: "ok", reply: { checkpoints: 2 } });
    expect((await other.storages())[0]).toMatchObject({ countsAs: other.storageId });

    expect(await failing()).toMatchObject(rejectedAs("checkpoint_incomplete"));
    await vi.waitFor(() => expect(other.has(cut.checkpoint)).toBe(false), soon);
    const replanned = await other.plan(whole.checkpoint);
    expect(replanned).toMatchObject({ kind: "ok", reply: { storageId: other.storageId } });
  });

  test("gets the id when its writer declares it again with the id", async () => {
    const trial = await other.newTrial();
    const { checkpoint } = await other.declareIn({ trial });
    const { storageId } = other;
    const again = await other.declareIn({ trial, checkpoint, storageId });
    expect(again.answer).toMatchObject({ kind: "ok" });
    await other.declareIn({ trial, checkpoint, storageId: randomUUID() });
    const events = await other.stage.events(`checkpoint-${checkpoint}`);
    expect(events.map(({ data }) => ("storageId" in data ? data.storageId : ""))).toEqual([
      "",
      storageId,
    ]);
  });

  test("belongs to the adopted storage, even if the storage lost its marker", async () => {
    const trial = await other.newTrial();
    // Complete checkpoints tie the root to their storage.
    await other.stored(trial);
    const lost = randomUUID();
    const { checkpoint, answer } = await other.declareIn({ trial, storageId: lost });
    expect(answer).toMatchObject(rejectedAs("storage_not_known"));
    expect(await other.adopt(root(), other.storageId, lost)).toMatchObject({ kind: "ok" });
    const again = await other.declareIn({ trial, checkpoint, storageId: lost });
    expect(again.answer).toMatchObject({ kind: "ok" });
    const manifest = await other.write(checkpoint, { weights: "w" });
    expect(await other.complete(checkpoint, trial, manifest)).toMatchObject({ kind: "ok" });
  });

  test("is refused with an invalid id", async () => {
    const trial = await other.newTrial();
    const { answer } = await other.declareIn({ trial, storageId: "../x" });
    expect(answer).toMatchObject(rejectedAs("invalid_checkpoint"));
  });
});
