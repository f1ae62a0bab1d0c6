import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { directoryDisk } from "./directory-disk.ts";
import { removeTensorBoardFolder } from "./tensorboard-folder.ts";

const log = "00000000-0000-7000-8000-000000000001";
let root = "";

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "trainyard-tensorboard-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const notRemoved = { name: "Fault", code: "tensorboard_not_removed", retry: "later" };

test("a TensorBoard folder that the disk fails to remove is retried later", async () => {
  await mkdir(join(root, `tensorboard/${log}/experiment/1`), { recursive: true });
  const disk = {
    ...directoryDisk,
    removeFolder: () => Promise.reject(new Error("EACCES: permission denied")),
  };
  const storage = { type: "directory", container_path: root };
  await expect(removeTensorBoardFolder(storage, log, "1", disk)).rejects.toMatchObject(notRemoved);
  const absent = removeTensorBoardFolder(storage, log, "2", directoryDisk);
  await expect(absent).resolves.toBeUndefined();
});

test("a TensorBoard folder that cannot be read is retried later", async () => {
  const file = join(root, "file");
  await writeFile(file, "");
  const storage = { type: "directory", container_path: file };
  const removing = removeTensorBoardFolder(storage, log, "1", directoryDisk);
  await expect(removing).rejects.toMatchObject(notRemoved);
});
