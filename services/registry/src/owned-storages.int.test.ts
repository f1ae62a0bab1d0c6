/** Storages whose marker names another log, an event that this log lacks, or nothing: directories, and an S3 server. */
import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  markStorage,
  readStorageMarker,
  seenStore,
  storageMarkerName as marker,
  type StorageOwner,
  writeStorageMarker,
  writeStoreMarker,
} from "@trainyard/blob";
import { RunEndWhy } from "@trainyard/contracts/events";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { registryLimits } from "./limits.ts";
import { BucketStage } from "./testing/bucket-stage.ts";
import { entry, experimentStoredIn, runEnded, TestRegistry } from "./testing/test-registry.ts";

const files = { weights: "the weights" };
const soon = { timeout: 90_000, interval: 50 };
const dayMs = 24 * 60 * 60 * 1000;
const unavailable = { kind: "unavailable" };
const event = randomUUID();
const anothers: StorageOwner = { log: randomUUID(), witness: { position: 1, id: event } };

/** The owner that a copy of the cluster, or this cluster before its log went back, has written. */
async function ahead({ stage }: TestRegistry): Promise<StorageOwner> {
  return { log: await stage.identity.id(), witness: { position: 999_999, id: event } };
}

const isOwn = async ({ stage }: TestRegistry, owner: StorageOwner | undefined) => {
  expect(owner?.log).toBe(await stage.identity.id());
  expect(await stage.identity.has(owner?.witness ?? { position: 1, id: "" })).toBe(true);
};

/** Waits until the registry has tried in vain to clear the files of a checkpoint. */
async function untilHeld({ stage }: TestRegistry, checkpoint: string): Promise<void> {
  await vi.waitFor(async () => {
    const text = "select tries from registry.unfinished_tries where checkpoint = $1";
    const [row] = await stage.sql<{ tries: number }>(text, [checkpoint]);
    expect(row?.tries ?? 0).toBeGreaterThan(0);
  }, soon);
}

describe("a bucket", () => {
  let bucket: BucketStage;
  const heldOf = async () => (await bucket.registry.storages())[0]?.held ?? "";
  const probe = () =>
    bucket.registry.stage.ask("registry", "ProbeStorage", { storage: bucket.section });
  const ownerOf = async () => {
    const seen = await seenStore(bucket.store);
    return seen.kind === "marked" ? seen.owner : undefined;
  };
  const idOf = async () => {
    const seen = await seenStore(bucket.store);
    return seen.kind === "marked" ? seen.id : "";
  };
  /** A checkpoint that its run did not complete, with one file. */
  const abandoned = async () => {
    const { checkpoint, trial } = await bucket.sent(files);
    await bucket.registry.stage.tell(`trial-${trial}`, runEnded(1));
    return checkpoint;
  };
  const isThere = (checkpoint: string) => bucket.keys().includes(`${checkpoint}/weights`);

  beforeAll(async () => {
    bucket = await BucketStage.start();
    await vi.waitFor(() => bucket.registry.plan(randomUUID()), soon);
  });
  afterAll(() => bucket[Symbol.asyncDispose]());

  test("is marked with the cluster's log, and the marker is renewed after a completion", async () => {
    const stored = await bucket.sent(files);
    const first = await ownerOf();
    await isOwn(bucket.registry, first);
    await bucket.decided(stored);
    await vi.waitFor(async () => {
      expect((await ownerOf())?.witness.position).toBeGreaterThan(first?.witness.position ?? 0);
    }, soon);
    await isOwn(bucket.registry, await ownerOf());
    expect(await probe()).toMatchObject({ kind: "ok", reply: { problems: [] } });
    expect(await heldOf()).toBe("");
  });

  test("of another cluster is refused at submit and for declarations, and loses no file until it is adopted", async () => {
    const id = await idOf();
    const waiting = await abandoned();
    await writeStoreMarker(bucket.store, { id, owner: anothers });
    await bucket.registry.restart();
    const told = expect.stringContaining(`its marker names the log ${anothers.log}`);
    expect(await probe()).toMatchObject({ kind: "ok", reply: { problems: [told] } });
    expect(await heldOf()).toEqual(told);
    const trial = await bucket.newTrial();
    expect((await bucket.registry.declareIn({ trial })).answer).toEqual(unavailable);
    await untilHeld(bucket.registry, waiting);
    const unknown = randomUUID();
    await bucket.store.put(`${unknown}/x`, Buffer.from("x"));
    bucket.age(unknown, 20 * dayMs);
    const audit = { root: bucket.root, reason: "tidy", deleteOlderThanMs: 14 * dayMs };
    expect(await bucket.registry.stage.ask("registry", "AuditStorage", audit)).toMatchObject({
      reply: { roots: [{ problem: told }] },
    });
    expect(bucket.keys()).toContain(`${unknown}/x`);
    expect(isThere(waiting)).toBe(true);
    expect(await ownerOf()).toEqual(anothers);

    const adopted = await bucket.registry.adopt(bucket.root, "");
    expect(adopted).toMatchObject({ kind: "ok", reply: { storageId: id } });
    await isOwn(bucket.registry, await ownerOf());
    expect((await bucket.registry.declareIn({ trial })).answer).toMatchObject({ kind: "ok" });
    await vi.waitFor(() => expect(isThere(waiting)).toBe(false), soon);
  }, 120_000);

  test("with a witness that the log lacks takes checkpoints, and loses no file, nor is a TensorBoard file replaced", async () => {
    const id = await idOf();
    const lost = await ahead(bucket.registry);
    const waiting = await abandoned();
    await writeStoreMarker(bucket.store, { id, owner: lost });
    await bucket.completed(files);
    const trial = await bucket.newTrial();
    const request = { trial, run: 1, files: [entry("events", "1")], beginnings: [] };
    const boards = () => bucket.registry.stage.ask("registry", "PlanTensorBoard", request);
    expect(await boards()).toEqual(unavailable);
    await untilHeld(bucket.registry, waiting);
    expect(isThere(waiting)).toBe(true);
    expect(await ownerOf()).toEqual(lost);
    expect(await heldOf()).toContain("at position 999999");
    await bucket.registry.adopt(bucket.root, "");
    expect(await boards()).toMatchObject({ kind: "ok" });
    await vi.waitFor(() => expect(isThere(waiting)).toBe(false), soon);
  }, 120_000);

  test("that lost its marker gets no new id by itself, and the known one by an adoption", async () => {
    const id = await idOf();
    await bucket.store.delete([marker]);
    await bucket.registry.restart();
    const stored = { trial: await bucket.newTrial(), checkpoint: randomUUID() };
    expect((await bucket.registry.declareIn(stored)).answer).toEqual(unavailable);
    expect(await seenStore(bucket.store)).toEqual({ kind: "unmarked" });
    expect(await heldOf()).toContain("yard storage adopt");
    expect(await bucket.registry.adopt(bucket.root, "")).toMatchObject({ kind: "ok" });
    expect(await idOf()).toBe(id);
    expect((await bucket.registry.declareIn(stored)).answer).toMatchObject({ kind: "ok" });
  });

  test("that is another one is not adopted: none of the checkpoints is there", async () => {
    const objects = bucket.server.buckets.get("models")?.objects;
    const kept = new Map(objects);
    objects?.clear();
    expect(await bucket.registry.adopt(bucket.root, "")).toMatchObject({
      rejection: { rejected: "storage_not_matching" },
    });
    for (const [key, object] of kept) objects?.set(key, object);
  });

  test("of one cluster is not used by a second one", async () => {
    await using second = await TestRegistry.start(bucket.variables);
    await second.stage.tell("experiment-5", experimentStoredIn(bucket.section));
    await vi.waitFor(() => second.plan(randomUUID()), soon);
    const { answer } = await second.declareIn({ trial: await second.newTrial("5") });
    expect(answer).toEqual(unavailable);
    await isOwn(bucket.registry, await ownerOf());
  }, 120_000);
});

describe("a directory", () => {
  let registry: TestRegistry;
  const ownerOf = async () => {
    const seen = await readStorageMarker(registry.storage);
    return seen.kind === "marked" ? seen.owner : undefined;
  };
  const write = (owner: StorageOwner) =>
    writeStorageMarker(registry.storage, { id: registry.storageId, owner });
  const abandoned = async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    await registry.write(checkpoint, files);
    await registry.stage.tell(`trial-${trial}`, runEnded(1));
    return checkpoint;
  };

  beforeAll(async () => {
    registry = await TestRegistry.start();
    await vi.waitFor(() => registry.plan(randomUUID()), soon);
  });
  afterAll(() => registry[Symbol.asyncDispose]());

  test("that a host has marked is claimed for the cluster after the first completion", async () => {
    expect(await ownerOf()).toBeUndefined();
    await registry.stored(await registry.newTrial());
    await vi.waitFor(async () => isOwn(registry, await ownerOf()), soon);
  });

  test("of another cluster takes no checkpoint, and none of its files is cleared", async () => {
    const waiting = await abandoned();
    await write(anothers);
    await untilHeld(registry, waiting);
    await registry.restart();
    const { answer } = await registry.declare(await registry.newTrial());
    expect(answer).toEqual(unavailable);
    const section = { type: "directory", container_path: registry.storage };
    const told = expect.stringContaining("belongs to another cluster");
    const probed = await registry.stage.ask("registry", "ProbeStorage", { storage: section });
    expect(probed).toMatchObject({ kind: "ok", reply: { problems: [told] } });
    expect((await registry.storages())[0]).toMatchObject({ held: told });
    expect(registry.has(waiting)).toBe(true);
    expect(await ownerOf()).toEqual(anothers);
    await write(await ahead(registry));
    expect((await registry.declare(await registry.newTrial())).answer).toMatchObject({
      kind: "ok",
    });
    await write({
      log: await registry.stage.identity.id(),
      witness: await registry.stage.identity.latest(),
    });
    await vi.waitFor(() => expect(registry.has(waiting)).toBe(false), soon);
  }, 120_000);

  test("with a witness that the log lacks completes checkpoints and clears none", async () => {
    const lost = await ahead(registry);
    await write(lost);
    const waiting = await abandoned();
    const { answer } = await registry.stored(await registry.newTrial());
    expect(answer).toMatchObject({ kind: "ok" });
    await untilHeld(registry, waiting);
    expect(registry.has(waiting)).toBe(true);
    expect(await ownerOf()).toEqual(lost);
  });

  test("with another id than its checkpoints have takes no checkpoint until it is adopted", async () => {
    const trial = await registry.newTrial();
    await rm(join(registry.storage, marker));
    const another = await markStorage(registry.storage);
    const { checkpoint, answer } = await registry.declareIn({ trial, storageId: another });
    expect(answer).toMatchObject({
      kind: "rejected",
      rejection: { rejected: "storage_not_known" },
    });
    expect(await registry.names(checkpoint)).toEqual([]);
    // Nor is one given up meanwhile that an agent may still deliver.
    const named = randomUUID();
    const ended = runEnded(1, RunEndWhy.FINISHED, [named]);
    await registry.stage.tell(`trial-${await registry.newTrial()}`, ended);
    await registry.restart({ aheadMs: registryLimits.namedMs + 60_000 });
    await untilHeld(registry, named);
    expect(await registry.names(named)).toEqual([]);
    await registry.adopt(registry.storage, another);
    const again = await registry.declareIn({ trial, checkpoint, storageId: another });
    expect(again.answer).toMatchObject({ kind: "ok" });
    await writeFile(join(registry.storage, marker), "");
    expect((await registry.storages())[0]?.held).toContain("is damaged");
  });
});
