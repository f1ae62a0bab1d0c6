import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  checkpointFolder,
  checkpointRoot,
  checkpointStorage,
  removeCheckpointFiles,
  removeCheckpointFolder,
  storageOfCheckpoint,
  storageStreamId,
} from "./checkpoint-folder.ts";
import { directoryDisk } from "./directory-disk.ts";
import { markStorage } from "./storage-marker.ts";

const uuid = "00000000-0000-4000-8000-000000000001";

async function root(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "trainyard-checkpoints-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

describe("the folder of a checkpoint", () => {
  test.each([
    [{ type: "directory", container_path: "/c" }, "/c"],
    [{ type: "shared_fs", host_path: "/h", storage_path: "" }, "/h"],
    [{ type: "shared_fs", host_path: "/h", storage_path: "a/b" }, "/h/a/b"],
    [{ type: "shared_fs", host_path: "/h", storage_path: "/h/x" }, "/h/x"],
  ])("of storage %j is below %s", (storage, expected) => {
    expect(checkpointRoot(storage)).toBe(expected);
    expect(checkpointFolder(storage, uuid)).toBe(`${expected}/${uuid}`);
  });

  test.each([
    [{ type: "s3", bucket: "b" }],
    [{ type: "directory", container_path: "relative" }],
    [{ type: "directory" }],
    [{}],
  ])("is null for storage %j, which is no directory", (storage) => {
    expect(checkpointRoot(storage)).toBeNull();
  });

  test.each([
    [null, "/d"],
    [{ type: "directory", container_path: "/c" }, "/c"],
    [{ type: "directory", container_path: "mine" }, "/d/mine"],
    [{ type: "shared_fs", host_path: "mine", storage_path: "a" }, "/d/mine/a"],
    [{ type: "s3", bucket: "b" }, null],
  ])(
    "of an experiment with checkpoint_storage %j is below %s when the cluster's directory is /d",
    (section, expected) => {
      expect(checkpointRoot(checkpointStorage(section, "/d"))).toBe(expected);
    },
  );

  test("is null for a name that is no checkpoint id", () => {
    expect(checkpointFolder({ type: "directory", container_path: "/c" }, "../x")).toBeNull();
    // The SDK writes TensorBoard files to this folder: no deletion of a checkpoint may reach it.
    expect(checkpointFolder({ type: "directory", container_path: "/c" }, "tensorboard")).toBeNull();
  });
});

describe("the removal of a checkpoint", () => {
  test("deletes the folder with its content, and a second removal changes nothing", async () => {
    await using dir = await root();
    const id = await markStorage(dir.path);
    const storage = { type: "directory", container_path: dir.path };
    await mkdir(join(dir.path, uuid, "deep"), { recursive: true });
    await writeFile(join(dir.path, uuid, "deep", "weights"), "w");
    await removeCheckpointFolder(storage, uuid, id, directoryDisk);
    expect(existsSync(join(dir.path, uuid))).toBe(false);
    await removeCheckpointFolder(storage, uuid, id, directoryDisk);
  });

  test("is retried later when the disk fails to remove single files", async () => {
    await using dir = await root();
    const storage = { type: "directory", container_path: dir.path };
    await writeFile(join(dir.path, uuid), "a file in the folder's place");
    const removing = removeCheckpointFiles(storage, uuid, ["**"], directoryDisk);
    await expect(removing).rejects.toMatchObject({
      code: "checkpoint_not_removed",
      retry: "later",
    });
  });

  test("never follows a link out of the folder", async () => {
    await using dir = await root();
    await using outside = await root();
    const id = await markStorage(dir.path);
    await writeFile(join(outside.path, "precious"), "p");
    await mkdir(join(dir.path, uuid));
    await symlink(outside.path, join(dir.path, uuid, "link"));
    const storage = { type: "directory", container_path: dir.path };
    await removeCheckpointFolder(storage, uuid, id, directoryDisk);
    expect(existsSync(join(outside.path, "precious"))).toBe(true);
  });

  test("is retried later when the root is not mounted", async () => {
    const storage = { type: "directory", container_path: "/nonexistent/root" };
    const removing = removeCheckpointFolder(storage, uuid, uuid, directoryDisk);
    await expect(removing).rejects.toMatchObject({ retry: "later" });
  });

  test("fails when the storage is unmounted during the removal", async () => {
    const id = "00000000-0000-4000-8000-0000000000aa";
    const looks = [{ kind: "marked", id } as const, { kind: "unmarked" } as const];
    const vanishing = {
      seen: async () => looks.shift() ?? ({ kind: "unmarked" } as const),
      removeFolder: async () => {},
    };
    const storage = { type: "directory", container_path: "/c" };
    const removing = removeCheckpointFolder(storage, uuid, id, vanishing);
    await expect(removing).rejects.toMatchObject({ retry: "later" });
  });
});

describe("the storage of a checkpoint", () => {
  test.each([
    ["the id that it was declared with", "a", { id: "", replaced: [] }, "a"],
    ["the declared id, even if another id was adopted", "a", { id: "b", replaced: [] }, "a"],
    ["the adopted id, when none was declared", undefined, { id: "b", replaced: [] }, "b"],
    ["the adopted id, when that replaces the declared one", "a", { id: "b", replaced: ["a"] }, "b"],
    ["unknown, when none was declared or adopted", undefined, { id: "", replaced: [] }, ""],
  ])("is %s", (_, declared, adoption, expected) => {
    expect(storageOfCheckpoint(declared, adoption)).toBe(expected);
  });

  test("is recorded in a stream whose id is a hash of the root's path", () => {
    expect(storageStreamId("/c")).toMatch(/^[0-9a-f]{32}$/);
    expect(storageStreamId("/c/ü-1")).not.toBe(storageStreamId("/c/ü-2"));
  });
});
