/** A storage in which a container puts links in the place of folders, before the agent works there or meanwhile. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newFolder, removeFolders } from "../testing/examples.ts";
import { makeTensorBoardFolders } from "../users/tensorboard-folders.ts";
import { markPlace, removeCheckpoint, storagePlace } from "./storage-place.ts";

afterAll(removeFolders);

const checkpoint = "00000000-0000-4000-8000-000000000001";
const names = Array.from({ length: 100 }, (_, at) => `f${at}`);

function filled(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const name of names) writeFileSync(join(folder, name), "precious");
  return folder;
}

test.each([
  ["/c", "/c", { trusted: "/c", below: "" }],
  ["/c/team/a", "/c/", { trusted: "/c", below: "team/a" }],
  ["/c/..a", "/c", { trusted: "/c", below: "..a" }],
  ["/cc", "/c", { trusted: "/cc", below: "" }],
  ["/other", "", { trusted: "/other", below: "" }],
])("links are followed to the operator's folder only: %s in %s", (root, own, place) => {
  expect(storagePlace(root, own)).toEqual(place);
});

test("the removal of a checkpoint follows no link that appears meanwhile", async () => {
  const [root, outside] = [newFolder(), filled(join(newFolder(), "outside"))];
  const folder = filled(join(root, checkpoint, "in"));
  const swapped = new Promise<void>((resolve) => {
    const watcher = watch(folder, () => {
      watcher.close();
      renameSync(folder, join(root, "aside"));
      symlinkSync(outside, folder);
      resolve();
    });
  });
  // The folder is no longer there where its turn comes: the next attempt removes the rest.
  await removeCheckpoint(storagePlace(root, root), checkpoint).catch(() => undefined);
  await swapped;
  expect(readdirSync(outside)).toHaveLength(names.length);
});

test("no link in the place of the storage leads to a removal or a marker", async () => {
  const [own, outside] = [newFolder(), newFolder()];
  filled(join(outside, checkpoint));
  symlinkSync(outside, join(own, "team"));
  const place = storagePlace(join(own, "team"), own);
  await removeCheckpoint(place, checkpoint);
  expect(await markPlace(place)).toBeUndefined();
  expect(readdirSync(outside)).toEqual([checkpoint]);
  rmSync(join(own, "team"));
  mkdirSync(join(own, "team"));
  expect(await markPlace(place)).toMatch(/^[0-9a-f-]{36}$/);
  expect(readdirSync(join(own, "team"))).toEqual([".trainyard-storage"]);
});

/** Puts a link in the place of a folder and the folder in its place again, without a pause. */
const swapping = `
import os, sys
path, outside = sys.argv[1:]
os.write(1, b"x")
while True:
    try:
        os.rename(path, path + ".aside")
        os.symlink(outside, path)
        os.unlink(path)
        os.rmdir(path + ".aside")
    except OSError:
        pass
`;

test("no folder outside is opened to all users while the shared folders are made", async () => {
  const [storage, outside] = [newFolder(), newFolder()];
  chmodSync(outside, 0o700);
  mkdirSync(join(storage, "tensorboard"));
  chmodSync(join(storage, "tensorboard"), 0o3777);
  const swapper = spawn("python3", ["-c", swapping, join(storage, "tensorboard/log"), outside], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(swapper.stdout, "data");
    for (let times = 0; times < 3_000; times += 1) makeTensorBoardFolders(storage, "log");
  } finally {
    swapper.kill("SIGKILL");
    await once(swapper, "close");
  }
  expect([statSync(outside).mode & 0o7777, readdirSync(outside)]).toEqual([0o700, []]);
  rmSync(join(storage, "tensorboard"), { recursive: true });
  mkdirSync(join(storage, "tensorboard"));
  chmodSync(join(storage, "tensorboard"), 0o3777);
  makeTensorBoardFolders(storage, "log");
  const made = join(storage, "tensorboard/log/experiment");
  expect([existsSync(made), statSync(made).mode & 0o7777]).toEqual([true, 0o3777]);
});
