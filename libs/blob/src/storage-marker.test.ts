import { existsSync, type PathLike } from "node:fs";
import {
  cp,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  unlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { directoryDisk } from "./directory-disk.ts";
import { openDirectoryDisk } from "./testing/open-directory-disk.ts";
import { storageDiskContract } from "./storage-contract.ts";
import { isStorageId, storageMarkerName } from "./marker-text.ts";
import {
  markStorage,
  problemOfStorage,
  readStorageMarker,
  writeStorageMarker,
} from "./storage-marker.ts";

async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "trainyard-storage-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

describe("a directory as a storage", () => {
  storageDiskContract(() => openDirectoryDisk(directoryDisk));

  test("has only the marker in its root, and the marker's text explains its purpose", async () => {
    await using root = await folder();
    const id = await markStorage(root.path);
    expect(isStorageId(id)).toBe(true);
    expect(await readdir(root.path)).toEqual([storageMarkerName]);
    const text = await readFile(join(root.path, storageMarkerName), "utf8");
    expect(text.split("\n")[0]).toBe(id);
    expect(text).toContain("Leave this file where it is");
  });

  test("that was copied with its marker is the same storage", async () => {
    await using root = await folder();
    await using copy = await folder();
    const id = await markStorage(root.path);
    await cp(root.path, join(copy.path, "c"), { recursive: true });
    expect(await readStorageMarker(join(copy.path, "c"))).toEqual({ kind: "marked", id });
  });

  test.each(["", "garbage", "00000000-0000-4000-8000", "\n00000000-0000-4000-8000-000000000001"])(
    "with the marker content %j belongs to no cluster until the marker is repaired",
    async (content) => {
      await using root = await folder();
      await writeFile(join(root.path, storageMarkerName), content);
      expect(await readStorageMarker(root.path)).toEqual({ kind: "damaged" });
      const id = "00000000-0000-4000-8000-0000000000aa";
      await writeStorageMarker(root.path, { id });
      expect(await readStorageMarker(root.path)).toEqual({ kind: "marked", id });
      expect(await readdir(root.path)).toEqual([storageMarkerName]);
    },
  );

  test("is not read from a link or a folder in the marker's place", async () => {
    await using root = await folder();
    await using other = await folder();
    await markStorage(other.path);
    await symlink(join(other.path, storageMarkerName), join(root.path, storageMarkerName));
    expect((await readStorageMarker(root.path)).kind).toBe("unreadable");
    await unlink(join(root.path, storageMarkerName));
    await mkdir(join(root.path, storageMarkerName));
    expect((await readStorageMarker(root.path)).kind).toBe("damaged");
  });

  test("that two hosts mark at the same moment has one id for both", async () => {
    await using root = await folder();
    const others: string[] = [];
    const late = async (from: PathLike, to: PathLike) => {
      others.push(await markStorage(root.path));
      await link(from, to);
    };
    const found = await markStorage(root.path, undefined, late);
    expect([found]).toEqual(others);
    expect(await readStorageMarker(root.path)).toEqual({ kind: "marked", id: found });
    expect(await readdir(root.path)).toEqual([storageMarkerName]);
  });

  test("on a file system without links is marked exactly once", async () => {
    await using root = await folder();
    const noLinks = () => Promise.reject(Object.assign(new Error("no links"), { code: "EPERM" }));
    const marks = Array.from({ length: 4 }, () => markStorage(root.path, undefined, noLinks));
    const ids = (await Promise.allSettled(marks)).flatMap((mark) =>
      mark.status === "fulfilled" ? [mark.value] : [],
    );
    // A host that finds the file before its id is written waits; all hosts get the same id.
    expect(ids.length).toBeGreaterThan(0);
    expect(await readStorageMarker(root.path)).toEqual({ kind: "marked", id: ids[0] });
    expect(new Set(ids).size).toBe(1);
    expect(await readdir(root.path)).toEqual([storageMarkerName]);
  });

  test("keeps the marker that was linked, even if the file server's answer to the link is lost", async () => {
    await using root = await folder();
    const lossy = async (from: PathLike, to: PathLike) => {
      await link(from, to);
      throw Object.assign(new Error("already there"), { code: "EEXIST" });
    };
    const id = "00000000-0000-4000-8000-0000000000aa";
    expect(await markStorage(root.path, id, lossy)).toBe(id);
  });

  test("that does not exist is unmarked, and marking does not create it", async () => {
    await using root = await folder();
    const missing = join(root.path, "missing");
    expect(await readStorageMarker(missing)).toEqual({ kind: "unmarked" });
    await expect(markStorage(missing)).rejects.toMatchObject({ retry: "later" });
    expect(existsSync(missing)).toBe(false);
  });

  test("without write permission fails with a message that names the remedy", async () => {
    await using root = await folder();
    const refused = () => Promise.reject(Object.assign(new Error("EACCES"), { code: "EACCES" }));
    const marking = markStorage(root.path, undefined, refused);
    await expect(marking).rejects.toThrow("give the user of this process write permission there");
    expect(await readdir(root.path)).toEqual([]);
  });
});

test("every message about a storage names the path and the remedy", () => {
  const [expected, other] = ["id-expected", "id-other"];
  const told = (seen: Parameters<typeof problemOfStorage>[2], id = expected) =>
    problemOfStorage("/c", id, seen) ?? "";
  expect(told({ kind: "marked", id: expected })).toBe("");
  const differs = told({ kind: "marked", id: other });
  for (const part of ["/c", "not the same storage", expected, other, "mount"]) {
    expect(differs).toContain(part);
  }
  expect(told({ kind: "unmarked" })).toContain("is the storage mounted here?");
  expect(told({ kind: "damaged" })).toContain("yard storage adopt /c");
  expect(told({ kind: "unreadable", detail: "EIO" })).toContain(
    "/c/.trainyard-storage cannot be read on this host: EIO",
  );
  expect(told({ kind: "marked", id: other }, "")).toContain("declared without a storage id");
});
