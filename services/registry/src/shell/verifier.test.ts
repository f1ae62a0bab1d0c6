import { MemoryBucket, openMemoryStore } from "@trainyard/blob/testing";
import { ManualClock } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { registryLimits } from "../limits.ts";
import { Verifier } from "./verifier.ts";
import type { Place } from "./verify.ts";
import type { Verdict } from "./verify-files.ts";

const directory: Place = { folder: "/c/x", storageId: "s" };
const manifest = [{ path: "f", bytes: 7, sha256: "0".repeat(64) }];
const verified: Verdict = { kind: "verified" };

function stage(place = directory) {
  const clock = new ManualClock();
  const reads: PromiseWithResolvers<Verdict>[] = [];
  const bytes: number[] = [];
  const refused: string[] = [];
  const read = () => {
    const result = Promise.withResolvers<Verdict>();
    reads.push(result);
    return result.promise;
  };
  const verifier = new Verifier(read, clock, {
    verified: (count) => void bytes.push(count),
    storageRefused: (_fault, kind) => void refused.push(kind),
  });
  return { clock, reads, bytes, refused, verify: () => verifier.verify(place, manifest, "d") };
}

describe("a verification", () => {
  test("that takes long asks its caller to retry, and the retry gets the result", async () => {
    const { clock, reads, verify } = stage();
    const first = expect(verify()).rejects.toMatchObject({
      code: "being_verified",
      retry: "later",
    });
    await clock.advance(registryLimits.verifyWaitMs);
    await first;
    reads[0]?.resolve(verified);
    expect(await verify()).toEqual(verified);
    expect(reads.length).toBe(1);
  });

  test("that two callers request at once runs once", async () => {
    const { reads, bytes, verify } = stage();
    const both = Promise.all([verify(), verify()]);
    reads[0]?.resolve(verified);
    expect(await both).toEqual([verified, verified]);
    expect([reads.length, bytes]).toEqual([1, [7]]);
  });

  test("runs again if it is requested after its result was returned", async () => {
    const { reads, verify } = stage();
    const first = verify();
    reads[0]?.resolve({ kind: "differs", path: "f", detail: "is missing" });
    expect(await first).toMatchObject({ kind: "differs" });
    const second = verify();
    reads[1]?.resolve(verified);
    expect(await second).toEqual(verified);
  });

  test("has no verdict while the storage cannot be read, which is counted, or if the thread is lost", async () => {
    const { reads, refused, verify } = stage();
    const unreadable = expect(verify()).rejects.toMatchObject({ retry: "later" });
    reads[0]?.resolve({ kind: "unreadable", detail: "not there" });
    await unreadable;
    expect(refused).toEqual(["directory"]);
    const lost = expect(verify()).rejects.toThrow("lost");
    reads[1]?.reject(new Error("lost"));
    await lost;
    const third = verify();
    reads[2]?.resolve(verified);
    expect(await third).toEqual(verified);
  });

  test("that finds an object not stored yet counts no failure: another host may still send it", async () => {
    const store = openMemoryStore(new MemoryBucket(new ManualClock()));
    const objects = { store, section: {}, checkpoint: "c", entries: [], storageId: "s" };
    const { reads, refused, verify } = stage(objects);
    const unreadable = expect(verify()).rejects.toMatchObject({ retry: "later" });
    reads[0]?.resolve({ kind: "unreadable", detail: '"f" is not stored yet' });
    await unreadable;
    expect(refused).toEqual([]);
  });

  test("of a missing folder reports it as missing only after some minutes", async () => {
    const { clock, reads, verify } = stage();
    const absent: Verdict = { kind: "absent", path: "f", detail: "is missing" };
    const asked = (read: number) => {
      const verdict = verify();
      reads[read]?.resolve(absent);
      return verdict;
    };
    await expect(asked(0)).rejects.toMatchObject({ code: "storage_unreadable", retry: "later" });
    await clock.advance(registryLimits.folderMissingMs - 1);
    await expect(asked(1)).rejects.toMatchObject({ retry: "later" });
    await clock.advance(1);
    expect(await asked(2)).toEqual({ kind: "differs", path: "f", detail: "is missing" });
  });

  test("of a missing folder starts its time again after the folder was seen or the storage was unreadable", async () => {
    const { clock, reads, verify } = stage();
    const verdicts: Verdict[] = [
      { kind: "absent", path: "f", detail: "is missing" },
      { kind: "unreadable", detail: "is the storage mounted here?" },
      { kind: "absent", path: "f", detail: "is missing" },
    ];
    for (const [read, verdict] of verdicts.entries()) {
      const asked = expect(verify()).rejects.toMatchObject({ retry: "later" });
      reads[read]?.resolve(verdict);
      await asked;
      await clock.advance(registryLimits.folderMissingMs);
    }
  });
});
