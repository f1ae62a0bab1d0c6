/** The contract suite of `StorageDisk`: the test file of each adapter calls it. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { removeCheckpointFolder } from "./checkpoint-folder.ts";
import type { StorageDisk } from "./storage-disk.ts";

/** Two hosts mount one storage at `root`; host `elsewhere` also has another storage at another path. */
export type OpenedDisk = AsyncDisposable & {
  readonly disk: StorageDisk;
  readonly root: string;
  readonly elsewhere: string;
  /** `write` creates a checkpoint's folder below a root; `has` returns whether it exists. */
  write(root: string, checkpoint: string): Promise<void>;
  has(root: string, checkpoint: string): Promise<boolean>;
  /** Leaves the marker without an id, like a crash or a user's mistake. */
  damage(root: string): Promise<void>;
};

const checkpoint = "00000000-0000-4000-8000-000000000001";
const section = (root: string) => ({ type: "directory", container_path: root });
const later = { code: "checkpoint_not_removed", retry: "later" };

export function storageDiskContract(open: () => Promise<OpenedDisk>): void {
  markerContract(open);
  removalContract(open);
}

function markerContract(open: () => Promise<OpenedDisk>): void {
  test("a new storage is unmarked, and reading its marker does not mark it", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    expect(await disk.seen(root)).toEqual({ kind: "unmarked" });
    expect(await disk.seen(root)).toEqual({ kind: "unmarked" });
  });

  test("a storage keeps its first id", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    const id = randomUUID();
    expect(await disk.mark(root, id)).toBe(id);
    expect(await disk.mark(root, randomUUID())).toBe(id);
    expect(await disk.seen(root)).toEqual({ kind: "marked", id });
  });

  test("hosts that mark a storage at the same time agree on one id", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    const ids = await Promise.all(Array.from({ length: 8 }, () => disk.mark(root, randomUUID())));
    expect(new Set(ids).size).toBe(1);
  });

  test("two storages have different ids", async () => {
    await using opened = await open();
    const { disk, root, elsewhere } = opened;
    const id = await disk.mark(root, randomUUID());
    expect(await disk.mark(elsewhere, randomUUID())).not.toBe(id);
  });

  test("a marker is renewed with the log and its witness, and keeps its id", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    const id = await disk.mark(root, randomUUID());
    for (const position of [7, 8]) {
      const owner = { log: randomUUID(), witness: { position, id: randomUUID() } };
      await disk.renew(root, { id, owner });
      expect(await disk.seen(root)).toEqual({ kind: "marked", id, owner });
      expect(await disk.mark(root, randomUUID())).toBe(id);
    }
  });

  test("a marker that is absent, damaged or another storage's is not renewed", async () => {
    await using opened = await open();
    const { disk, root, elsewhere } = opened;
    const refused = { code: "storage_not_marked", retry: "later" };
    await expect(disk.renew(root, { id: randomUUID() })).rejects.toMatchObject(refused);
    expect(await disk.seen(root)).toEqual({ kind: "unmarked" });
    await opened.damage(root);
    await expect(disk.renew(root, { id: randomUUID() })).rejects.toMatchObject(refused);
    expect(await disk.seen(root)).toEqual({ kind: "damaged" });
    const id = await disk.mark(elsewhere, randomUUID());
    await expect(disk.renew(elsewhere, { id: randomUUID() })).rejects.toMatchObject(refused);
    expect(await disk.seen(elsewhere)).toEqual({ kind: "marked", id });
  });

  test("a damaged marker has no id and stays unchanged", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    await opened.damage(root);
    expect(await disk.seen(root)).toEqual({ kind: "damaged" });
    const marking = disk.mark(root, randomUUID());
    await expect(marking).rejects.toMatchObject({ code: "storage_not_marked", retry: "later" });
    expect(await disk.seen(root)).toEqual({ kind: "damaged" });
  });
}

function removalContract(open: () => Promise<OpenedDisk>): void {
  test("a checkpoint is removed from its storage, and a second removal does nothing", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    const id = await disk.mark(root, randomUUID());
    await opened.write(root, checkpoint);
    await removeCheckpointFolder(section(root), checkpoint, id, disk);
    expect(await opened.has(root, checkpoint)).toBe(false);
    await removeCheckpointFolder(section(root), checkpoint, id, disk);
  });

  test.each([
    ["an unmarked storage", async () => {}, "is the storage mounted here"],
    ["a damaged marker", (opened: OpenedDisk) => opened.damage(opened.root), "is damaged"],
    [
      "another storage at the same path",
      async ({ disk, root }: OpenedDisk) => void (await disk.mark(root, randomUUID())),
      "is not the same storage here",
    ],
  ])("nothing is removed, nor counts as removed, where a host sees %s", async (_, seen, why) => {
    await using opened = await open();
    await opened.write(opened.root, checkpoint);
    await seen(opened);
    const { disk, root } = opened;
    const removing = removeCheckpointFolder(section(root), checkpoint, randomUUID(), disk);
    await expect(removing).rejects.toMatchObject(later);
    await expect(removing).rejects.toThrow(why);
    expect(await opened.has(root, checkpoint)).toBe(true);
  });

  test("a checkpoint that was declared without a storage id is not removed", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    await disk.mark(root, randomUUID());
    await opened.write(root, checkpoint);
    const removing = removeCheckpointFolder(section(root), checkpoint, "", disk);
    await expect(removing).rejects.toMatchObject(later);
    await expect(removing).rejects.toThrow(`yard storage adopt ${root}`);
    expect(await opened.has(root, checkpoint)).toBe(true);
  });
}
