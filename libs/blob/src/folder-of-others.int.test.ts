import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FolderOfOthers, NotInside } from "./folder-of-others.ts";

let scratch: string;
let folder: FolderOfOthers;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "trainyard-others-"));
  await mkdir(join(scratch, "root/mine/deep"), { recursive: true });
  await mkdir(join(scratch, "outside/deep"), { recursive: true });
  await writeFile(join(scratch, "root/mine/deep/file"), "inside");
  await writeFile(join(scratch, "outside/deep/file"), "outside");
  const opened = await FolderOfOthers.open(join(scratch, "root"), "mine");
  if (opened === null) throw new Error("it is there");
  folder = opened;
});

afterEach(() => rm(scratch, { recursive: true, force: true }));

async function textOf(path: string): Promise<string> {
  const { handle } = await folder.file(path);
  await using opened = handle;
  return opened.readFile("utf8");
}

test("a file in the folder is read and listed, and the target of a link is not", async () => {
  await symlink(join(scratch, "outside"), join(scratch, "root/mine/link"));
  await symlink(join(scratch, "outside/deep/file"), join(scratch, "root/mine/deep/link"));
  expect(await textOf("deep/file")).toBe("inside");
  expect(await folder.files(10)).toEqual(["deep/file"]);
  await expect(folder.files(0)).rejects.toThrow("has more than 0 files");
});

test("a link above the root is followed, and a link below it is refused", async () => {
  await symlink(join(scratch, "root"), join(scratch, "root-by-link"));
  const byLink = await FolderOfOthers.open(join(scratch, "root-by-link"), "mine");
  expect(await byLink?.files(10)).toEqual(["deep/file"]);
  await symlink(join(scratch, "outside"), join(scratch, "root/other"));
  const root = join(scratch, "root");
  await expect(FolderOfOthers.open(root, "other")).rejects.toThrow(NotInside);
  await expect(FolderOfOthers.open(root, "other/deep")).rejects.toThrow(NotInside);
  expect(await FolderOfOthers.open(root, "absent")).toBeNull();
  expect(await FolderOfOthers.open(join(scratch, "absent"), "mine")).toBeNull();
});

test("links, pipes, folders and the targets of links do not count as files", async () => {
  await symlink("file", join(scratch, "root/mine/deep/link"));
  await symlink(join(scratch, "outside/deep"), join(scratch, "root/mine/way"));
  execFileSync("mkfifo", [join(scratch, "root/mine/pipe")]);
  for (const path of ["deep/link", "way/file", "pipe", "deep", "deep/file/more"]) {
    await expect(folder.file(path), path).rejects.toThrow(NotInside);
  }
  await expect(folder.file("absent")).rejects.toMatchObject({ code: "ENOENT" });
});

test("a folder that is swapped for a link while a file is opened never exposes a file outside", async () => {
  const [place, aside] = [join(scratch, "root/mine/deep"), join(scratch, "root/aside")];
  let over = false;
  const exchanging = (async () => {
    while (!over) {
      await rename(place, aside);
      await symlink(join(scratch, "outside/deep"), place);
      await rm(place);
      await rename(aside, place);
      // In step with the reads below, each of them could find the folder away.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
    }
  })();
  const seen = new Map<string, number>();
  for (let n = 0; n < 2_000 || !seen.has("inside") || !seen.has("NotInside"); n += 1) {
    const text = await textOf("deep/file").catch((error: unknown) => (error as Error).name);
    seen.set(text, (seen.get(text) ?? 0) + 1);
  }
  over = true;
  await exchanging;
  expect([...seen.keys()]).not.toContain("outside");
  expect(seen.get("inside")).toBeGreaterThan(0);
  expect(seen.get("NotInside")).toBeGreaterThan(0);
});
