import { ManualClock } from "@trainyard/testing";
import { expect, test, vi } from "vitest";
import { BrakedDisk } from "./braked-disk.ts";
import { StoreBrake } from "./objects/store-brake.ts";
import type { StorageDisk } from "./storage-disk.ts";
import { MemoryDisk } from "./testing/memory-disk.ts";

const seenMs = 3_000;
const workMs = 60_000;
const restMs = 5_000;
const never = () => new Promise<never>(() => {});

/** A disk in memory with a file, some of whose calls are replaced. */
function stage(replaced: Partial<StorageDisk> = {}) {
  const clock = new ManualClock();
  const memory = new MemoryDisk();
  memory.at("/c").write("x/f", "content");
  const looks: string[] = [];
  const look = memory.seen.bind(memory);
  const seen = (root: string) => {
    looks.push(root);
    return root === "/hanging" ? never() : look(root);
  };
  const calls = Object.assign(memory, { seen, ...replaced });
  const brake = new StoreBrake({ clock, restMs, atOnceMax: 2 });
  return { clock, looks, disk: new BrakedDisk({ disk: calls, brake, clock, seenMs, workMs }) };
}

const away = { code: "storage_away", retry: "later" };

test("a root that does not answer is a fault with its path, and is not asked again for a while", async () => {
  const { clock, looks, disk } = stage();
  const files = disk.files("/hanging", "x", 10);
  const failed = expect(files).rejects.toMatchObject(away);
  const named = expect(files).rejects.toThrow("/hanging cannot be used now");
  await clock.advance(seenMs);
  await Promise.all([failed, named]);
  await expect(disk.removeFolder("/hanging", "x")).rejects.toMatchObject(away);
  expect(looks).toEqual(["/hanging"]);
  expect(await disk.files("/c", "x", 10)).toEqual({ files: ["f"] });
  await clock.advance(restMs);
  const again = expect(disk.names("/hanging")).rejects.toMatchObject(away);
  await clock.advance(seenMs);
  await again;
  expect(looks.filter((root) => root === "/hanging")).toHaveLength(2);
});

test("a removal that hangs is waited for a limited time, or until its caller stops", async () => {
  const { clock, disk } = stage({ removeFolder: never });
  const removing = expect(disk.removeFolder("/c", "x")).rejects.toMatchObject(away);
  await clock.advance(workMs);
  await removing;
  await clock.advance(restMs);
  const stop = new AbortController();
  const stopped = expect(disk.until(stop.signal).removeFolder("/c", "x")).rejects.toThrow("stops");
  await clock.advance(0);
  stop.abort();
  await stopped;
});

test("a comparison of sizes is waited for a limited time, and one of contents has no limit", async () => {
  const { clock, disk } = stage({ compare: never });
  const sizes = expect(disk.compare("/c", "x", [{ path: "f", bytes: 7 }])).rejects.toMatchObject(
    away,
  );
  let ended = false;
  const file = { path: "f", bytes: 7, sha256: "0".repeat(64) };
  void disk.compare("/c", "x", [file]).finally(() => (ended = true));
  await clock.advance(workMs);
  await sizes;
  expect(ended).toBe(false);
});

test("a file whose content hangs breaks off after a limited time, and its closing is not waited for", async () => {
  const opened = {
    ...{ bytes: 7, mode: 0o644, changedAtMs: 0 },
    content: { [Symbol.asyncIterator]: () => ({ next: never }) },
    [Symbol.asyncDispose]: never,
  };
  const { clock, disk } = stage({ read: async () => opened });
  const reading = (async () => {
    await using file = await disk.read("/c", "x", "f");
    for await (const _ of file.content);
  })();
  const failed = expect(reading).rejects.toMatchObject(away);
  await clock.advance(workMs);
  await clock.advance(seenMs);
  await failed;
});

test("a few folders of a root are hashed at once, in order, and another root does not wait for them", async () => {
  const ends = new Map<string, () => void>();
  const begun: string[] = [];
  const compare: StorageDisk["compare"] = async (root, below) => {
    begun.push(`${root}/${below}`);
    if (root === "/c") await new Promise<void>((resolve) => ends.set(below, resolve));
    return { kind: "compared", differences: [], extras: [] };
  };
  const { disk } = stage({ compare });
  const files = [{ path: "f", bytes: 1, sha256: "a" }];
  const all = ["1", "2", "3", "4", "5"].map((below) => disk.compare("/c", below, files));
  await disk.compare("/d", "1", files);
  expect(begun).toEqual(["/c/1", "/c/2", "/c/3", "/d/1"]);
  for (const below of ["2", "1", "3", "4", "5"]) {
    await vi.waitFor(() => expect(ends.has(below)).toBe(true));
    ends.get(below)?.();
  }
  await Promise.all(all);
  expect(begun.slice(4)).toEqual(["/c/4", "/c/5"]);
});
