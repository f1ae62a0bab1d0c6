import { describe, expect, test } from "vitest";
import { removeCheckpointFolder } from "../checkpoint-folder.ts";
import { storageDiskContract } from "../storage-contract.ts";
import { MemoryDisk, MemoryStorage } from "./memory-disk.ts";

describe("a host in memory", () => {
  storageDiskContract(async () => {
    const disk = new MemoryDisk();
    return {
      disk,
      root: "/c",
      elsewhere: "/d",
      write: async (root, path, content) => disk.at(root).write(path, content),
      has: async (root, path) => disk.at(root).paths.includes(path),
      damage: async (root) => {
        disk.at(root).marker = "";
      },
      [Symbol.asyncDispose]: async () => {},
    };
  });

  test("sees the mounted storage, and an empty folder where nothing is mounted", async () => {
    const share = new MemoryStorage();
    const [writer, reader] = [new MemoryDisk(), new MemoryDisk()];
    writer.mount("/c", share);
    const checkpoint = "00000000-0000-4000-8000-000000000001";
    const id = await writer.mark("/c", "00000000-0000-4000-8000-0000000000aa");
    share.write(`${checkpoint}/weights`, "w");
    const storage = { type: "directory", container_path: "/c" };
    const removing = removeCheckpointFolder(storage, checkpoint, id, reader);
    await expect(removing).rejects.toMatchObject({ retry: "later" });
    reader.mount("/c", share);
    await removeCheckpointFolder(storage, checkpoint, id, reader);
    expect(share.paths).toEqual([]);
  });
});
