import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@trainyard/testing";
import { describe, expect, test, vi } from "vitest";
import { systemClock } from "@trainyard/kernel/system-clock";
import { ProcessDisk } from "./process-disk.ts";
import { storageDiskContract } from "./storage-contract.ts";
import { openHangingDisk } from "./testing/hanging-disk.ts";
import { openDirectoryDisk } from "./testing/open-directory-disk.ts";

const newFolder = () => mkdtemp(join(tmpdir(), "trainyard-process-disk-"));

describe("a directory that child processes read and write", () => {
  storageDiskContract(async () => {
    const disk = new ProcessDisk(systemClock);
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
    using disk = new ProcessDisk(systemClock);
    const root = await newFolder();
    await mkdir(join(root, "c/deep"), { recursive: true });
    for (const name of ["c/a", "c/deep/a", "c/deep/b"]) await writeFile(join(root, name), "xx");
    const removed = await disk.removeFiles(root, "c", ["**/a"]);
    expect(removed).toEqual({ files: 2, bytes: 4 });
    expect(existsSync(join(root, "c/deep/b"))).toBe(true);
    await expect(disk.removeFolder(join(root, "c/deep/b"), "x")).rejects.toThrow("ENOTDIR");
    await rm(root, { recursive: true });
  });
});

test("a root that hangs holds up no other root, occupies one process, and ends with its disk", async () => {
  const started = await watchChildren();
  const disk = openHangingDisk(systemClock);
  const hanging = Array.from({ length: 4 }, () =>
    expect(disk.seen("/hanging")).rejects.toMatchObject({ code: "worker_lost", retry: "later" }),
  );
  for (const path of ["/a", "/b"]) expect(await disk.seen(path)).toEqual({ kind: "unmarked" });
  expect(await started()).toHaveLength(2);
  disk[Symbol.dispose]();
  await Promise.all(hanging);
});

test("no process is started before a call, and one without calls ends after a while", async () => {
  const started = await watchChildren();
  const clock = new ManualClock();
  using disk = new ProcessDisk(clock);
  expect(await started()).toEqual([]);
  await disk.seen("/a");
  await clock.advance(29_000);
  await disk.seen("/b");
  await clock.advance(29_000);
  expect(await started()).toHaveLength(1);
  await clock.advance(1_000);
  await vi.waitFor(async () => expect(await started()).toEqual([]), 10_000);
  expect(await disk.seen("/a")).toEqual({ kind: "unmarked" });
});

test("the calls of a process that is lost are retried later, and the next call starts another", async () => {
  const started = await watchChildren();
  using disk = new ProcessDisk(systemClock);
  const root = await newFolder();
  await mkdir(join(root, "c"));
  await writeFile(join(root, "c/f"), "f".repeat(1_000_000));
  const file = await disk.read(root, "c", "f");
  const [pid] = await started();
  process.kill(Number(pid), "SIGKILL");
  const rest = async () => {
    for await (const _ of file.content);
  };
  await expect(rest()).rejects.toMatchObject({ code: "worker_lost", retry: "later" });
  expect(await disk.seen(root)).toEqual({ kind: "unmarked" });
  await rm(root, { recursive: true });
});

/** Returns a function that returns the processes that this one has started since. */
async function watchChildren(): Promise<() => Promise<readonly string[]>> {
  const before = new Set(await children());
  return async () => (await children()).filter((pid) => !before.has(pid));
}

async function children(): Promise<readonly string[]> {
  const tasks = await readdir("/proc/self/task");
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/self/task/${task}/children`, "utf8").catch(() => "")),
  );
  return lists.join(" ").split(" ").filter(Boolean);
}
