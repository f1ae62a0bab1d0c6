import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ProcessDisk } from "./process-disk.ts";
import { storageDiskContract } from "./storage-contract.ts";
import { openDirectoryDisk } from "./testing/open-directory-disk.ts";

const newFolder = () => mkdtemp(join(tmpdir(), "trainyard-process-disk-"));

describe("a directory that child processes read and write", () => {
  storageDiskContract(async () => {
    const disk = new ProcessDisk();
    const opened = await openDirectoryDisk(disk);
    return {
      ...opened,
      [Symbol.asyncDispose]: async () => {
        disk[Symbol.dispose]();
        await opened[Symbol.asyncDispose]();
      },
    };
  });

  test("loses exactly the files that match, and the error of a call names its cause", async () => {
    using disk = new ProcessDisk();
    const root = await newFolder();
    await mkdir(join(root, "c/deep"), { recursive: true });
    for (const name of ["c/a", "c/deep/a", "c/deep/b"]) await writeFile(join(root, name), "xx");
    const removed = await disk.removeFiles(root, "c", (path) => path.endsWith("a"));
    expect(removed).toEqual({ files: 2, bytes: 4 });
    expect(existsSync(join(root, "c/deep/b"))).toBe(true);
    await expect(disk.removeFolder(join(root, "c/deep/b"), "x")).rejects.toThrow("ENOTDIR");
    await rm(root, { recursive: true });
  });
});

test("a call that hangs holds up no other call, and ends with its disk", async () => {
  const disk = new ProcessDisk(new URL("./testing/hanging-worker.ts", import.meta.url));
  const hanging = expect(disk.seen("/hanging")).rejects.toMatchObject({
    code: "worker_lost",
    retry: "later",
  });
  for (const path of ["/a", "/b"]) expect(await disk.seen(path)).toEqual({ kind: "unmarked" });
  disk[Symbol.dispose]();
  await hanging;
});
