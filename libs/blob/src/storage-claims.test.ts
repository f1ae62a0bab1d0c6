import { randomUUID } from "node:crypto";
import { ManualClock } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { readMarkerText, type StorageMark, type StorageOwner } from "./marker-text.ts";
import { writeStoreMarker } from "./objects/checkpoint-objects.ts";
import { markedPlace, type OwnLog, StorageClaims } from "./storage-claims.ts";
import { MemoryBucket, openMemoryStore } from "./testing/memory-objects.ts";
import { MemoryDisk } from "./testing/memory-disk.ts";

/** A log of these events; the first names it. */
function logOf(...ids: readonly string[]): OwnLog {
  return {
    id: async () => ids[0] ?? "",
    latest: async () => ({ position: ids.length, id: ids.at(-1) ?? "" }),
    has: async ({ position, id }) => ids[position - 1] === id,
  };
}

const id = randomUUID();
const [first, second, third, lost] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
const claims = new StorageClaims(logOf(first, second, third));
const owner = (log: string, position: number, event: string): StorageOwner => {
  return { log, witness: { position, id: event } };
};

async function rootWith(mark: StorageMark) {
  const disk = new MemoryDisk();
  await disk.mark("/c", mark.id);
  await disk.renew("/c", mark);
  return markedPlace({ type: "directory", container_path: "/c" }, null, disk);
}

async function bucketWith(mark: StorageMark) {
  const store = openMemoryStore(new MemoryBucket(new ManualClock()));
  await writeStoreMarker(store, mark);
  const section = { type: "s3", bucket: "models", endpoint_url: "https://minio.internal" };
  return markedPlace(section, store, new MemoryDisk());
}

describe.each([
  ["a directory", rootWith, "/c"],
  ["a bucket", bucketWith, "'s3://models at https://minio.internal'"],
])("%s", (_, placeWith, shown) => {
  test("with a marker that names no log is claimed before files are removed", async () => {
    const place = await placeWith({ id });
    expect(await claims.problem(place)).toBeNull();
    await claims.secure(place, id, 2);
    expect(await place.seen()).toEqual({ kind: "marked", id, owner: owner(first, 3, third) });
  });

  test("gets a witness at or after the event that starts a removal, and no write without need", async () => {
    const place = await placeWith({ id, owner: owner(first, 2, second) });
    await claims.secure(place, id, 2);
    expect(await place.seen()).toMatchObject({ owner: owner(first, 2, second) });
    await claims.secure(place, id, 3);
    expect(await place.seen()).toMatchObject({ owner: owner(first, 3, third) });
  });

  test("of another log is held, and says whose it is and what to do", async () => {
    const mark = { id, owner: owner(lost, 3, third) };
    const place = await placeWith(mark);
    const problem = await claims.problem(place);
    expect(problem).toContain(`names the log ${lost}, and the log of this cluster is ${first}`);
    expect(problem).toContain(`yard storage adopt ${shown}`);
    expect(await claims.anotherLog(place.name, await place.seen())).toBe(problem);
    const held = { code: "storage_held", retry: "later" };
    await expect(claims.secure(place, id, 1)).rejects.toMatchObject(held);
    await expect(claims.renew(place, id)).rejects.toMatchObject(held);
    expect(await place.seen()).toEqual({ kind: "marked", ...mark });
  });

  test.each([
    ["beyond the end of the log", 9, lost],
    ["another at its position", 2, lost],
  ])(
    "with a witness that the log lacks (%s) is held, and no other log's",
    async (_what, at, event) => {
      const mark = { id, owner: owner(first, at, event) };
      const place = await placeWith(mark);
      expect(await claims.problem(place)).toContain(`the event ${event} at position ${at}`);
      expect(await claims.anotherLog(place.name, await place.seen())).toBeNull();
      await expect(claims.renew(place, id)).rejects.toMatchObject({ code: "storage_held" });
      expect(await place.seen()).toEqual({ kind: "marked", ...mark });
    },
  );

  test("with another id is not claimed", async () => {
    const place = await placeWith({ id });
    await claims.secure(place, randomUUID(), 3);
    expect(await place.seen()).toEqual({ kind: "marked", id });
  });
});

test.each([
  ["a log without a witness", `${id}\nlog ${first}\n`],
  ["a witness without a log", `${id}\nwitness 1 ${first}\n`],
  ["a position that is none", `${id}\nlog ${first}\nwitness 0 ${first}\n`],
  ["a log that is no id", `${id}\nlog x\nwitness 1 ${first}\n`],
])("a marker with %s is damaged", (_, text) => {
  expect(readMarkerText(text)).toEqual({ kind: "damaged" });
});
