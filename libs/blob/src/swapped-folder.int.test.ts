/** Tests of a checkpoint's folder that a training process replaces by a link, before or during the removal. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  watch,
} from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeCheckpointFiles, removeCheckpointFolder } from "./checkpoint-folder.ts";
import { directoryDisk } from "./directory-disk.ts";
import { markStorage } from "./storage-marker.ts";
import { removeTensorBoardFolder } from "./tensorboard-folder.ts";

const log = "00000000-0000-7000-8000-000000000001";
const mine = "00000000-0000-4000-8000-000000000001";
const others = "00000000-0000-4000-8000-000000000002";
const names = Array.from({ length: 100 }, (_, at) => `f${at}`);

let root = "";
let storageId = "";

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "trainyard-swapped-"));
  storageId = await markStorage(root);
  await fill(others);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function fill(folder: string): Promise<void> {
  await mkdir(join(root, folder), { recursive: true });
  for (const name of names) await writeFile(join(root, folder, name), "precious");
}

/** Moves a folder aside at its first change, and puts a link to the other checkpoint in its place. */
function exchanging(folder: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(join(root, folder), () => {
      watcher.close();
      renameSync(join(root, folder), join(root, "aside"));
      symlinkSync(join(root, others), join(root, folder));
      resolve();
    });
  });
}

const section = () => ({ type: "directory", container_path: root });

test("the removal of a checkpoint's files does not follow a link in the place of its folder", async () => {
  await symlink(others, join(root, mine));
  await removeCheckpointFiles(section(), mine, ["**"], directoryDisk).catch(() => {});
  expect(readdirSync(join(root, others))).toHaveLength(names.length);
});

test.each([
  ["a checkpoint", mine, () => removeCheckpointFolder(section(), mine, storageId, directoryDisk)],
  [
    "TensorBoard files",
    `tensorboard/${log}/experiment/7`,
    () => removeTensorBoardFolder(section(), log, "7", directoryDisk),
  ],
])(
  "the removal of %s does not follow a link that replaces a folder meanwhile",
  async (_, folder, remove) => {
    await fill(join(folder, "sub"));
    const exchanged = exchanging(join(folder, "sub"));
    await remove().catch(() => {});
    await exchanged;
    expect(readdirSync(join(root, others))).toHaveLength(names.length);
    await remove();
    expect(existsSync(join(root, folder))).toBe(false);
    expect(readdirSync(join(root, others))).toHaveLength(names.length);
  },
);

test("the removal of a checkpoint removes a link in the place of its folder, and not its target", async () => {
  await symlink(others, join(root, mine));
  await removeCheckpointFolder(section(), mine, storageId, directoryDisk);
  expect(readdirSync(root)).not.toContain(mine);
  expect(readdirSync(join(root, others))).toHaveLength(names.length);
});

test("TensorBoard files behind a link are not removed", async () => {
  await fill("elsewhere/7");
  await mkdir(join(root, "tensorboard", log), { recursive: true });
  await symlink(join(root, "elsewhere"), join(root, "tensorboard", log, "experiment"));
  await removeTensorBoardFolder(section(), log, "7", directoryDisk);
  expect(readdirSync(join(root, "elsewhere/7"))).toHaveLength(names.length);
});
