/** The contract suite of `StorageDisk`: the test file of each adapter calls it. */
import { createHash, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { removeCheckpointFolder } from "./checkpoint-folder.ts";
import type { ExpectedFile } from "./compare-files.ts";
import type { StorageDisk } from "./storage-disk.ts";

/** Two hosts mount one storage at `root`; host `elsewhere` also has another storage at another path. */
export type OpenedDisk = AsyncDisposable & {
  readonly disk: StorageDisk;
  readonly root: string;
  readonly elsewhere: string;
  /** `write` creates a file below a root, with its folders; `has` returns whether it exists. */
  write(root: string, path: string, content: string): Promise<void>;
  has(root: string, path: string): Promise<boolean>;
  /** Leaves the marker without an id, like a crash or a user's mistake. */
  damage(root: string): Promise<void>;
};

const checkpoint = "00000000-0000-4000-8000-000000000001";
const section = (root: string) => ({ type: "directory", container_path: root });
const weights = `${checkpoint}/deep/weights`;
const later = { code: "checkpoint_not_removed", retry: "later" };

export function storageDiskContract(open: () => Promise<OpenedDisk>): void {
  markerContract(open);
  removalContract(open);
  listingContract(open);
  comparisonContract(open);
  readingContract(open);
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
    await opened.write(root, weights, "w");
    await removeCheckpointFolder(section(root), checkpoint, id, disk);
    expect(await opened.has(root, weights)).toBe(false);
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
    await opened.write(opened.root, weights, "w");
    await seen(opened);
    const { disk, root } = opened;
    const removing = removeCheckpointFolder(section(root), checkpoint, randomUUID(), disk);
    await expect(removing).rejects.toMatchObject(later);
    await expect(removing).rejects.toThrow(why);
    expect(await opened.has(root, weights)).toBe(true);
  });

  test("a checkpoint that was declared without a storage id is not removed", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    await disk.mark(root, randomUUID());
    await opened.write(root, weights, "w");
    const removing = removeCheckpointFolder(section(root), checkpoint, "", disk);
    await expect(removing).rejects.toMatchObject(later);
    await expect(removing).rejects.toThrow(`yard storage adopt ${root}`);
    expect(await opened.has(root, weights)).toBe(true);
  });
}

const expected = (path: string, content: string): ExpectedFile => ({
  path,
  bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
});

function listingContract(open: () => Promise<OpenedDisk>): void {
  test("the files of a folder are listed, sorted, up to a number", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    for (const path of ["b", "a/c", "a/a"]) await opened.write(root, `${checkpoint}/${path}`, "x");
    expect(await disk.files(root, checkpoint, 10)).toEqual({ files: ["a/a", "a/c", "b"] });
    expect(await disk.files(root, checkpoint, 2)).toEqual({ problem: "has more than 2 files" });
    expect(await disk.files(root, "absent", 2)).toEqual({ files: [] });
    expect(await disk.names(root)).toEqual([checkpoint]);
  });

  test("a folder has an owner and the time of its last change, and an absent one has neither", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    await opened.write(root, weights, "w");
    const changedAtMs = await disk.changedAtMs(root, checkpoint);
    expect(await disk.ownerOf(root, checkpoint)).toBeGreaterThanOrEqual(0);
    expect(await disk.ownerOf(root, "absent")).toBeNull();
    expect(await disk.changedAtMs(root, "absent")).toBe(Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await opened.write(root, weights, "v");
    expect(await disk.changedAtMs(root, checkpoint)).toBeGreaterThan(changedAtMs);
  });

  test("the files that match a pattern are removed and counted", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    for (const path of ["a", "deep/a", "deep/b"]) {
      await opened.write(root, `${checkpoint}/${path}`, "xx");
    }
    expect(await disk.removeFiles(root, checkpoint, ["**/a"])).toEqual({ files: 2, bytes: 4 });
    expect(await disk.files(root, checkpoint, 9)).toEqual({ files: ["deep/b"] });
    expect(await disk.removeFiles(root, "absent", ["**"])).toEqual({ files: 0, bytes: 0 });
  });
}

function comparisonContract(open: () => Promise<OpenedDisk>): void {
  test("files are the same if each has its size and digest, whatever else is in the folder", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    await opened.write(root, `${checkpoint}/a`, "a");
    await opened.write(root, `${checkpoint}/deep/b`, "");
    const files = [expected("a", "a"), { path: "deep/b", bytes: 0 }];
    const same = { kind: "compared", differences: [], extras: [] };
    expect(await disk.compare(root, checkpoint, files)).toEqual(same);
    expect(await disk.compare(root, "absent", files)).toEqual({ kind: "absent" });
  });

  test("a comparison ends with the first difference, or lists all and the extra names", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    for (const path of ["flipped", "resized", "extra"]) {
      await opened.write(root, `${checkpoint}/${path}`, "abc");
    }
    const files = [expected("flipped", "abd"), expected("resized", "ab"), expected("missing", "a")];
    const first = await disk.compare(root, checkpoint, files);
    expect(first).toMatchObject({ differences: { length: 1 } });
    const all = await disk.compare(root, checkpoint, files, { every: true });
    const kinds = all.kind === "compared" ? all.differences.map(({ kind }) => kind) : [];
    expect(kinds.toSorted()).toEqual(["flipped", "missing", "resized"]);
    expect(all).toMatchObject({ extras: ["extra"] });
  });

  test("a file that is unchanged since its digest became known is not read again", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    await opened.write(root, weights, "content");
    const [known] = await disk.digests(root, checkpoint, ["deep/weights", "missing"], 7);
    if (known === undefined) throw new Error("the file was not read");
    expect(known).toMatchObject({ path: "deep/weights", sha256: expected("", "content").sha256 });
    // This digest is wrong: a comparison that reads the file would notice.
    const wrong = { ...known, sha256: expected("", "another").sha256 ?? "" };
    const files = [expected("deep/weights", "another")];
    const compare = () => disk.compare(root, checkpoint, files, { known: [wrong] });
    expect(await compare()).toMatchObject({ kind: "compared", differences: [] });
    await opened.write(root, weights, "CONTENT");
    expect(await compare()).toMatchObject({ differences: [{ kind: "flipped" }] });
    expect(await disk.digests(root, checkpoint, ["deep/weights"], 6)).toEqual([]);
  });
}

function readingContract(open: () => Promise<OpenedDisk>): void {
  test("a file is read in pieces that together are its content", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    const content = "0123456789".repeat(100_000);
    await opened.write(root, weights, content);
    await using file = await disk.read(root, checkpoint, "deep/weights");
    expect(file.bytes).toBe(content.length);
    const chunks: Uint8Array[] = [];
    for await (const chunk of file.content) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(content);
  });

  test("a file may be closed before it is read to its end, and an absent one cannot be opened", async () => {
    await using opened = await open();
    const { disk, root } = opened;
    await opened.write(root, weights, "x".repeat(1_000_000));
    {
      await using file = await disk.read(root, checkpoint, "deep/weights");
      for await (const _ of file.content) break;
      await using unread = await disk.read(root, checkpoint, "deep/weights");
      expect(unread.bytes).toBe(1_000_000);
    }
    await expect(disk.read(root, checkpoint, "absent")).rejects.toThrow("ENOENT");
    expect(await disk.seen(root)).toEqual({ kind: "unmarked" });
  });
}
