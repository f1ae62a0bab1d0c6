import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { list } from "tar";
import { expect, test } from "vitest";
import { packContext } from "./pack-context.ts";
import { UsageError } from "./usage-error.ts";

function folderOf(files: Readonly<Record<string, string>>): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "yard-context-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, ".."), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function pathsIn(bytes: Uint8Array): string[] {
  using folder = folderOf({});
  const file = join(folder.path, "context.tar.gz");
  writeFileSync(file, bytes);
  const paths: string[] = [];
  list({ file, sync: true, onReadEntry: (entry) => paths.push(entry.path) });
  return paths;
}

test("files that .trainyardignore and .detignore name are left out, like caches and version control", async () => {
  using folder = folderOf({
    "train.py": "",
    "models/net.py": "",
    "models/__pycache__/net.pyc": "",
    ".git/HEAD": "",
    "data/large.bin": "",
    "notes.txt": "",
    "keep/notes.txt": "",
    ".trainyardignore": "data/\n",
    ".detignore": "*.txt\n!keep/notes.txt\n",
  });
  const { bytes, files } = await packContext(folder.path, "code");
  const paths = pathsIn(bytes);
  expect(paths).toEqual([
    ".detignore",
    ".trainyardignore",
    "keep/notes.txt",
    "models/net.py",
    "train.py",
  ]);
  expect(files).toBe(paths.length);
});

test("files that local trainings without a cluster wrote are left out", async () => {
  using folder = folderOf({ "train.py": "", "trainyard-local/1/checkpoints/a/model.pt": "" });
  const { bytes } = await packContext(folder.path, "code");
  expect(pathsIn(bytes)).toEqual(["train.py"]);
});

test("a startup hook is detected, unless it is left out", async () => {
  using folder = folderOf({ "train.py": "", "startup-hook.sh": "" });
  expect((await packContext(folder.path, "code")).hasStartupHook).toBe(true);
  writeFileSync(join(folder.path, ".detignore"), "startup-hook.sh\n");
  expect((await packContext(folder.path, "code")).hasStartupHook).toBe(false);
});

test("the same files are packed to the same bytes, whatever their modification times", async () => {
  using one = folderOf({ "b.py": "1", "a.py": "2" });
  using other = folderOf({ "a.py": "2", "b.py": "1" });
  utimesSync(join(other.path, "a.py"), 1, 1);
  const [first, second] = [await packContext(one.path, "x"), await packContext(other.path, "y")];
  expect(Buffer.from(first.bytes).equals(Buffer.from(second.bytes))).toBe(true);
});

test("symbolic links are packed as links", async () => {
  using folder = folderOf({ "train.py": "" });
  symlinkSync("train.py", join(folder.path, "main.py"));
  expect(pathsIn((await packContext(folder.path, "x")).bytes)).toEqual(["main.py", "train.py"]);
});

test("a missing folder, a file, or a folder over the limit is refused with the name that the person used", async () => {
  using folder = folderOf({ file: "" });
  await expect(packContext(join(folder.path, "none"), "./none")).rejects.toThrow(
    new UsageError("The context folder ./none does not exist."),
  );
  await expect(packContext(join(folder.path, "file"), "file")).rejects.toThrow("is not a folder");
});

test("a file whose name begins with @ is packed", async () => {
  using folder = folderOf({ "@run.py": "" });
  expect(pathsIn((await packContext(folder.path, "x")).bytes)).toEqual(["./@run.py"]);
});

test("an empty folder is a context without files", async () => {
  using folder = folderOf({});
  const { bytes, files } = await packContext(folder.path, "x");
  expect(files).toBe(0);
  expect(pathsIn(bytes)).toEqual(["./"]);
});
