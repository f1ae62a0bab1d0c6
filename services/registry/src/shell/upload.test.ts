import { createHash } from "node:crypto";
import { type ObjectStore } from "@trainyard/blob";
import { MemoryBucket, openMemoryStore } from "@trainyard/blob/testing";
import { ManualClock } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { registryLimits } from "../limits.ts";
import { claimOf, Planning } from "./upload.ts";

test("an answer has at most its maximum of parts, over all files", () => {
  const claim = claimOf(4);
  expect([claim(2), claim(3), claim(1)]).toEqual([2, 2, 0]);
});

test("an answer has no parts only if no part is left to send", () => {
  const claim = claimOf(3);
  expect([claim(0), claim(5)]).toEqual([0, 3]);
  expect(claimOf(3)(0)).toBe(0);
});

const partBytes = 10;
const sha256 = createHash("sha256").update("x").digest("hex");
const fileOf = (path: string, parts: number) => {
  const partSha256 = Array.from({ length: parts }, () => sha256);
  return { path, bytes: partBytes * parts, sha256, partSha256, md5: "" };
};

describe("a plan", () => {
  test("of many very large files signs at most one answer's parts, and counts all missing bytes", async () => {
    const clock = new ManualClock();
    await using store = openMemoryStore(new MemoryBucket(clock), { partBytes });
    const unchanged = { copy: async () => null };
    const planning = new Planning({ clock, unchanged }, store, () => null);
    const files = Array.from({ length: 20 }, (_, index) => fileOf(`f${index}`, 9_000));
    const planned = await planning.plan("c", files);
    const parts = planned.files.flatMap((file) => file.parts);
    expect(parts).toHaveLength(registryLimits.partsPlannedMax);
    expect(planned.missingBytes).toBe(20 * 9_000 * partBytes);
  });

  /** A store whose plans for these checkpoints wait until they are released. */
  function slowStore(clock: ManualClock) {
    const gate = Promise.withResolvers<void>();
    const store = openMemoryStore(new MemoryBucket(clock), { partBytes });
    const slow: ObjectStore = Object.assign(Object.create(store) as ObjectStore, {
      list: (below: string) => store.list(below),
      planUpload: async (...given: Parameters<ObjectStore["planUpload"]>) => {
        await gate.promise;
        return store.planUpload(...given);
      },
    });
    return { slow, go: () => gate.resolve() };
  }

  test("that takes long is returned when it is ready, and makes no copy", async () => {
    const clock = new ManualClock();
    const { slow, go } = slowStore(clock);
    const planning = new Planning(
      { clock, unchanged: { copy: async () => null } },
      slow,
      () => null,
    );
    const planned = planning.plan("c", [fileOf("a", 2)]);
    await clock.advance(registryLimits.verifyWaitMs);
    go();
    expect((await planned).files[0]?.parts).toHaveLength(2);
  });

  test("is postponed if a copy takes long, even one that begins late", async () => {
    const clock = new ManualClock();
    const never = { copy: () => new Promise<never>(() => undefined) };
    await using store = openMemoryStore(new MemoryBucket(clock), { partBytes });
    const planned = new Planning({ clock, unchanged: never }, store, () => "from").plan("c", [
      fileOf("a", 2),
    ]);
    planned.catch(() => undefined);
    await clock.advance(registryLimits.verifyWaitMs);
    await expect(planned).rejects.toMatchObject({ code: "being_copied", retry: "later" });

    const { slow, go } = slowStore(clock);
    const files = [...Array.from({ length: 16 }, (_, at) => fileOf(`f${at}`, 2)), fileOf("b", 2)];
    const source = (file: { readonly bytes: number }) => (file.bytes === 30 ? "from" : null);
    const late = new Planning({ clock, unchanged: never }, slow, source).plan("c", [
      ...files,
      fileOf("copied", 3),
    ]);
    late.catch(() => undefined);
    await clock.advance(registryLimits.verifyWaitMs);
    go();
    await expect(late).rejects.toMatchObject({ code: "being_copied" });
  });
});
