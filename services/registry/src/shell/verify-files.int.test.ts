import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { directoryDisk, markStorage, storageMarkerName } from "@trainyard/blob";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { placeOf, verifyFiles } from "./verify-files.ts";

let root = "";
let storageId = "";
let folders = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "trainyard-verify-"));
  storageId = await markStorage(root);
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  folders += 1;
  const folder = join(root, String(folders));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

const entry = (path: string, content: string) => ({
  path,
  bytes: Buffer.byteLength(content),
  sha256: createHash("sha256").update(content).digest("hex"),
});

describe("the files of a checkpoint", () => {
  test("are verified when each has its size and digest, whatever else is in the folder", async () => {
    const large = "x".repeat(3_000_000);
    const folder = await folderWith({ "a/b/weights": large, empty: "", other: "o" });
    const manifest = [entry("a/b/weights", large), entry("empty", "")];
    expect(await verifyFiles(directoryDisk, { folder, storageId }, manifest)).toEqual({
      kind: "verified",
    });
  });

  test.each([
    ["is longer", { f: "truncated!" }, "has 10 bytes, and the manifest says 9"],
    ["has other content", { f: "truncatex" }, "has SHA-256"],
    ["is a folder", { "f/g": "" }, "is not a file"],
  ])("differ when one %s, and the verdict names it", async (_, files, detail) => {
    const folder = await folderWith(files as unknown as Record<string, string>);
    const verdict = await verifyFiles(directoryDisk, { folder, storageId }, [
      entry("f", "truncated"),
    ]);
    expect(verdict).toMatchObject({ kind: "differs", path: "f" });
    expect(verdict.kind === "differs" && verdict.detail).toContain(detail);
  });

  test("do not count as present if they are links or below links", async () => {
    const folder = await folderWith({ real: "r", "deep/f": "f" });
    await symlink(join(folder, "real"), join(folder, "link"));
    await symlink(join(folder, "deep"), join(folder, "way"));
    await symlink("/etc", join(folder, "out"));
    for (const path of ["link", "way/f", "out/hostname"]) {
      const verdict = await verifyFiles(directoryDisk, { folder, storageId }, [entry(path, "r")]);
      expect(verdict, path).toMatchObject({ kind: "differs", path });
    }
  });

  test.each([
    ["is missing", { g: "" }, "is missing"],
    ["is shorter", { f: "tru" }, "has 3 bytes, and the manifest says 9"],
  ])("are absent when one %s, as in a cache of names and sizes", async (_, files, detail) => {
    const folder = await folderWith(files as unknown as Record<string, string>);
    const place = { folder, storageId };
    const verdict = await verifyFiles(directoryDisk, place, [entry("f", "truncated")]);
    expect(verdict).toEqual({ kind: "absent", path: "f", detail });
  });

  test("are absent if the whole folder is missing", async () => {
    const verdict = await verifyFiles(directoryDisk, { folder: join(root, "never"), storageId }, [
      entry("f", "f"),
    ]);
    expect(verdict).toMatchObject({ kind: "absent", path: "f" });
  });

  test("are not judged while the storage is unavailable", async () => {
    const folder = join(root, "unmounted", "x");
    const verdict = await verifyFiles(directoryDisk, { folder, storageId }, [entry("f", "f")]);
    expect(verdict).toMatchObject({ kind: "unreadable" });
  });

  test("are not judged in an empty folder, the mount point of a storage", async () => {
    const mountPoint = join(root, "mount-point");
    await mkdir(mountPoint);
    const folder = join(mountPoint, "x");
    const verdict = await verifyFiles(directoryDisk, { folder, storageId }, [entry("f", "f")]);
    expect(verdict).toMatchObject({ kind: "unreadable" });
    expect(verdict.kind === "unreadable" && verdict.detail).toContain(
      "is the storage mounted here",
    );
  });

  test("are not judged in another storage, and the message has both ids", async () => {
    const other = join(root, "other");
    await mkdir(join(other, "x"), { recursive: true });
    const otherId = await markStorage(other);
    const verdict = await verifyFiles(directoryDisk, { folder: join(other, "x"), storageId }, [
      entry("f", "f"),
    ]);
    const detail = verdict.kind === "unreadable" ? verdict.detail : "";
    for (const part of ["not the same storage", other, storageId, otherId]) {
      expect(detail).toContain(part);
    }
  });

  test("that differ are not judged if their storage is unknown", async () => {
    const folder = await folderWith({ f: "tru" });
    const verdict = await verifyFiles(directoryDisk, { folder, storageId: "" }, [
      entry("f", "truncated"),
    ]);
    expect(verdict).toMatchObject({ kind: "unreadable" });
    const detail = verdict.kind === "unreadable" ? verdict.detail : "";
    expect(detail).toContain("has 3 bytes");
    expect(detail).toContain("yard storage adopt");
  });

  test("are verified also if their storage is unknown", async () => {
    const folder = await folderWith({ f: "whole" });
    const verdict = await verifyFiles(directoryDisk, { folder, storageId: "" }, [
      entry("f", "whole"),
    ]);
    expect(verdict).toEqual({ kind: "verified" });
  });

  test("are not judged if the storage becomes unavailable while they are read", async () => {
    const share = join(root, "share");
    await mkdir(share);
    const id = await markStorage(share);
    const folder = join(share, "x");
    await mkdir(folder);
    // The file is so large that the marker is gone before it is hashed.
    const large = "x".repeat(64 * 1024 * 1024);
    await writeFile(join(folder, "f"), large);
    const verdict = verifyFiles(directoryDisk, { folder, storageId: id }, [
      entry("f", large.replace(/x$/, "y")),
    ]);
    const marked = setInterval(() => void rm(join(share, storageMarkerName), { force: true }), 1);
    expect(await verdict).toMatchObject({ kind: "unreadable" });
    clearInterval(marked);
  });

  test("are missing if no file can have the name", async () => {
    const folder = await folderWith({ f: "f" });
    const path = "x".repeat(300);
    expect(
      await verifyFiles(directoryDisk, { folder, storageId }, [entry(path, "f")]),
    ).toMatchObject({
      kind: "differs",
      path,
    });
  });

  test("may not be pipes, which would block the reader", async () => {
    const folder = await folderWith({ f: "f" });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const verdict = await verifyFiles(directoryDisk, { folder, storageId }, [entry("pipe", "")]);
    expect(verdict).toMatchObject({ kind: "differs", path: "pipe", detail: "is not a file" });
  });

  test("are missing behind a link to itself", async () => {
    const folder = await folderWith({ f: "f" });
    await symlink(join(folder, "loop"), join(folder, "loop"));
    const verdict = await verifyFiles(directoryDisk, { folder, storageId }, [entry("loop", "f")]);
    expect(verdict).toMatchObject({ kind: "differs", path: "loop" });
  });
});

describe("a file that was read ahead", () => {
  const digestsAhead = (folder: string, paths: readonly string[], bytesMax = 1024 ** 3) =>
    directoryDisk.digests(...placeOf({ folder }), paths, bytesMax);
  const ahead = async (folder: string, path = "f") => {
    const [known] = await digestsAhead(folder, [path]);
    if (known === undefined) throw new Error(`${path} was not read`);
    return known;
  };

  test("is not read again while it is unchanged", async () => {
    const folder = await folderWith({ f: "content" });
    const known = await ahead(folder);
    expect(known.sha256).toBe(entry("f", "content").sha256);
    // This digest is wrong: a verification that reads the file would notice.
    const other = { ...known, sha256: entry("f", "another").sha256 };
    const verdict = await verifyFiles(
      directoryDisk,
      { folder, storageId },
      [entry("f", "another")],
      [other],
    );
    expect(verdict).toEqual({ kind: "verified" });
  });

  test("is read again if it has changed, even with the old size and modification time", async () => {
    const folder = await folderWith({ f: "content" });
    const file = join(folder, "f");
    const known = await ahead(folder);
    await writeFile(file, "CONTENT");
    await utimes(file, 1, 1);
    const manifest = [entry("f", "content")];
    const verdict = await verifyFiles(directoryDisk, { folder, storageId }, manifest, [known]);
    expect(verdict).toMatchObject({ kind: "differs", path: "f" });
    await rm(file);
    await writeFile(file, "content");
    expect(await verifyFiles(directoryDisk, { folder, storageId }, manifest, [known])).toEqual({
      kind: "verified",
    });
  });

  test("has a digest only if it did not change while it was read", async () => {
    const folder = await folderWith({ f: "x".repeat(32 * 1024 * 1024) });
    const changing = setInterval(() => void utimes(join(folder, "f"), 1, 1), 1);
    expect(await digestsAhead(folder, ["f"])).toEqual([]);
    clearInterval(changing);
  });

  test("must be a file of the folder: a link, a folder and a missing name have no digest", async () => {
    const folder = await folderWith({ f: "f", "deep/g": "g" });
    await symlink(join(folder, "f"), join(folder, "link"));
    for (const path of ["link", "deep", "missing"]) {
      expect(await digestsAhead(folder, [path]), path).toEqual([]);
    }
  });

  test("is dropped when the files together exceed the byte limit; holes count", async () => {
    const folder = await folderWith({ a: "aaaa", hole: "", b: "bbbb" });
    await truncate(join(folder, "hole"), 1024 ** 4);
    expect(await digestsAhead(folder, ["a", "hole", "b"], 7)).toHaveLength(1);
    const known = await digestsAhead(folder, ["a", "hole", "b"], 8);
    expect(known.map(({ path }) => path)).toEqual(["a", "b"]);
    expect(await digestsAhead(folder, ["hole"])).toEqual([]);
  });
});
