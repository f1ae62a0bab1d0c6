import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { directoryDisk } from "./directory-disk.ts";
import { removeTensorBoardFolder } from "./tensorboard-folder.ts";

let root = "";

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "trainyard-tensorboard-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const notRemoved = { name: "Fault", code: "tensorboard_not_removed", retry: "later" };

test("a TensorBoard folder that the disk fails to remove is retried later", async () => {
  await mkdir(join(root, "tensorboard/experiment/1"), { recursive: true });
  const disk = {
    ...directoryDisk,
    removeFolder: () => Promise.reject(new Error("EACCES: permission denied")),
  };
  const storage = { type: "directory", container_path: root };
  await expect(removeTensorBoardFolder(storage, "1", disk)).rejects.toMatchObject(notRemoved);
  await expect(removeTensorBoardFolder(storage, "2", directoryDisk)).resolves.toBeUndefined();
});

test("a TensorBoard folder that cannot be read is retried later", async () => {
  const file = join(root, "file");
  await writeFile(file, "");
  const storage = { type: "directory", container_path: file };
  const removing = removeTensorBoardFolder(storage, "1", directoryDisk);
  await expect(removing).rejects.toMatchObject(notRemoved);
});
