import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { create } from "tar";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { unpackSave } from "./unpack-save.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trainyard-save-"));
  await mkdir(join(folder, "work", "notes", "empty"), { recursive: true });
  await mkdir(join(folder, "save", "files", "data"), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const to = (...path: readonly string[]) => join(folder, "to", ...path);
const in2020 = 1_577_836_800;

/** Packs paths of the folder `work` as the first archive of a save. */
const archive = (paths: readonly string[]) =>
  create(
    {
      ...{ cwd: join(folder, "work"), file: join(folder, "save", "small-1.tar") },
      ...{ noDirRecurse: true, preservePaths: true },
    },
    [...paths],
  );

async function unpacked(description: object): Promise<void> {
  const told = { format: "trainyard-work/1", archives: ["small-1.tar"], large: [], ...description };
  await writeFile(join(folder, "save", "work.json"), JSON.stringify(told));
  const packed = create({ gzip: true, cwd: join(folder, "save") }, ["."]);
  const body = new Blob([Buffer.concat(await Readable.from(packed).toArray())]).stream();
  await unpackSave(to(), body);
}

test("files, modes, times, links and empty folders of a save are as they were", async () => {
  const work = join(folder, "work");
  await writeFile(join(work, "notes", "run.sh"), "echo hi\n");
  await chmod(join(work, "notes", "run.sh"), 0o750);
  await utimes(join(work, "notes", "run.sh"), in2020, in2020);
  await symlink("notes/run.sh", join(work, "inside"));
  await symlink("/etc/hosts", join(work, "outside"));
  await writeFile(join(work, "x:y"), "drive");
  await chmod(join(work, "notes"), 0o500);
  await archive(["notes", "notes/empty", "notes/run.sh", "inside", "outside", "x:y"]);
  await writeFile(join(folder, "save", "files", "data", "a%0A.bin"), "large");
  const large = { file: "files/data/a%0A.bin", mode: 0o4640, mtime: in2020 * 1e9 };
  await unpacked({ large: [{ path: "data/a\n.bin", ...large }] });

  expect((await readdir(to())).toSorted()).toEqual(["data", "inside", "notes", "outside", "x:y"]);
  expect(await readFile(to("inside"), "utf8")).toBe("echo hi\n");
  expect(await readlink(to("outside"))).toBe("/etc/hosts");
  expect(await readdir(to("notes", "empty"))).toEqual([]);
  const script = await stat(to("notes", "run.sh"));
  expect([script.mode & 0o7777, script.mtimeMs]).toEqual([0o750, in2020 * 1_000]);
  expect((await stat(to("notes"))).mode & 0o7777).toBe(0o500);
  // The bits that change the user of a program are the task's, not the caller's.
  const data = await stat(to("data", "a\n.bin"));
  expect([data.mode & 0o7777, data.mtimeMs]).toEqual([0o640, in2020 * 1_000]);
  expect(await readdir(folder)).toEqual(["save", "to", "work"]);
  await chmod(to("notes"), 0o700);
  await chmod(join(work, "notes"), 0o700);
});

describe("a save whose files would lead out of the folder is refused, and leaves nothing", () => {
  const large = { file: "files/a", mode: 0o600, mtime: 0 };
  beforeEach(async () => {
    await writeFile(join(folder, "save", "files", "a"), "a");
    await symlink(folder, join(folder, "work", "link"));
    await archive(["link"]);
  });

  test.each([
    ["a path above it", { large: [{ ...large, path: "../a" }] }],
    ["an absolute path", { large: [{ ...large, path: "/tmp/a" }] }],
    ["a file of another folder", { large: [{ ...large, path: "a", file: "../work/link" }] }],
    ["an archive of another folder", { archives: ["../small-1.tar"] }],
    ["the folder itself", { large: [{ ...large, path: "." }] }],
    ["a file below a link", { large: [{ ...large, path: "link/a" }] }],
  ])("%s", async (_, description) => {
    await expect(unpacked(description)).rejects.toThrow();
    expect(await readdir(folder)).toEqual(["save", "work"]);
  });
});

test("a save is unpacked into a new or empty folder only", async () => {
  await archive(["notes"]);
  await mkdir(to());
  await unpacked({});
  expect(await readdir(to())).toEqual(["notes"]);
  await expect(unpacked({})).rejects.toThrow("name a new or an empty folder");
  await expect(unpacked({ format: "trainyard-work/9" })).rejects.toThrow();
  expect((await lstat(to("notes"))).isDirectory()).toBe(true);
});

test("a save of a later format is refused with a sentence", async () => {
  await archive(["notes"]);
  await expect(unpacked({ format: "trainyard-work/9" })).rejects.toThrow("update yard");
});
