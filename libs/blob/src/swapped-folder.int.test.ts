/** Tests of a checkpoint's folder that a training process has replaced by a link. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeCheckpointFiles } from "./checkpoint-folder.ts";
import { directoryDisk } from "./storage-disk.ts";

const mine = "00000000-0000-4000-8000-000000000001";
const others = "00000000-0000-4000-8000-000000000002";

test("the removal of a checkpoint's files does not follow a link in the place of its folder", async () => {
  const root = mkdtempSync(join(tmpdir(), "trainyard-swapped-"));
  try {
    await mkdir(join(root, others));
    await writeFile(join(root, others, "weights"), "precious");
    await symlink(others, join(root, mine));
    const storage = { type: "directory", container_path: root };
    await removeCheckpointFiles(storage, mine, () => true, directoryDisk).catch(() => {});
    expect(existsSync(join(root, others, "weights"))).toBe(true);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
