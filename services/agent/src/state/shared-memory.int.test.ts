/** Tests the count of unused shared memory in a folder that plays /dev/shm. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { unusedBytes } from "./shared-memory.ts";

afterAll(removeFolders);

const block = 4096;
const nowMs = Date.now();

function writeFile(folder: string, name: string, ageMs = 3_600_000): string {
  const path = join(folder, name);
  writeFileSync(path, Buffer.alloc(block, 1));
  utimesSync(path, new Date(nowMs), new Date(nowMs - ageMs));
  return path;
}

test("files of runs that no process maps or has open are counted, and used, young and other users' files are not", async () => {
  const folder = newFolder();
  writeFile(folder, "psm_left");
  writeFile(folder, "psm_left_too");
  writeFile(folder, "psm_young", 1_000);
  mkdirSync(join(folder, "a-folder"));
  const mapped = writeFile(folder, "psm_mapped");
  const open = writeFile(folder, "psm_open");
  const script = `import mmap, sys
file = open("${mapped}", "r+b"); memory = mmap.mmap(file.fileno(), 0); file.close()
file = open("${open}"); print("up", flush=True); sys.stdin.read()`;
  const user = spawn("python3", ["-S", "-E", "-c", script], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    await once(user.stdout, "data");
    expect(unusedBytes(folder, (uid) => uid === process.getuid?.(), nowMs)).toBe(2 * block);
    expect(unusedBytes(folder, () => false, nowMs)).toBe(0);
  } finally {
    user.stdin.end();
    await once(user, "exit");
  }
  expect(unusedBytes(folder, () => true, nowMs)).toBe(4 * block);
  expect(unusedBytes(join(folder, "missing"), () => true, nowMs)).toBe(0);
});
