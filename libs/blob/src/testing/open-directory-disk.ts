import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { storageMarkerName } from "../marker-text.ts";
import type { OpenedDisk } from "../storage-contract.ts";
import type { StorageDisk } from "../storage-disk.ts";

/** Opens a disk, for its contract, with two storages in a temporary folder. */
export async function openDirectoryDisk(disk: StorageDisk): Promise<OpenedDisk> {
  const path = await mkdtemp(join(tmpdir(), "trainyard-storage-disk-"));
  const [root, elsewhere] = [join(path, "root"), join(path, "elsewhere")];
  await mkdir(root);
  await mkdir(elsewhere);
  return {
    disk,
    root,
    elsewhere,
    write: async (at, path, content) => {
      await mkdir(dirname(join(at, path)), { recursive: true });
      await writeFile(join(at, path), content);
    },
    has: async (at, path) => existsSync(join(at, path)),
    damage: (at) => writeFile(join(at, storageMarkerName), ""),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
