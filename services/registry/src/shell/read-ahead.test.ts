import type { KnownDigest } from "@trainyard/blob";
import { expect, test } from "vitest";
import { registryLimits } from "../limits.ts";
import { ReadAheads } from "./read-ahead.ts";

/** Reads that end when the test releases them. */
function stage() {
  const begun: string[] = [];
  const ends = new Map<string, (digests: readonly KnownDigest[]) => void>();
  const readAheads = new ReadAheads((folder) => {
    begun.push(folder);
    return new Promise((resolve) => ends.set(folder, resolve));
  });
  return { readAheads, begun, end: (folder: string) => ends.get(folder)?.([]) };
}

test("no more folders are read at one time than allowed, even while completions wait for them", async () => {
  const { readAheads, begun, end } = stage();
  const folders = Array.from(
    { length: registryLimits.readAheadsAtOnceMax },
    (_, n) => `folder ${n}`,
  );
  for (const folder of folders) expect(readAheads.begin(folder, ["f"])).toBe(true);
  const taken = readAheads.take("folder 0");
  expect(readAheads.begin("another", ["f"])).toBe(false);
  expect(readAheads.begin("folder 1", ["f"])).toBe(true);
  expect(begun).toEqual(folders);
  expect(await readAheads.take("another")).toEqual([]);
  end("folder 0");
  expect(await taken).toEqual([]);
  expect(readAheads.begin("another", ["f"])).toBe(true);
  expect(begun).toEqual([...folders, "another"]);
});

test("a failed read makes room for the next, and yields no digests", async () => {
  const readAheads = new ReadAheads(() => Promise.reject(new Error("the thread ended")));
  for (let n = 0; n < 2 * registryLimits.readAheadsAtOnceMax; n += 1) {
    expect(readAheads.begin(`folder ${n}`, ["f"])).toBe(true);
    expect(await readAheads.take(`folder ${n}`)).toEqual([]);
  }
});
