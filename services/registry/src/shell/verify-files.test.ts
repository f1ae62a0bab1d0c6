import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifyFiles } from "./verify-files.ts";

let root = "";
let folders = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "trainyard-verify-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  folders += 1;
  const folder = join(root, String(folders));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

const entry = (path: string, content: string) => ({
  path,
  bytes: Buffer.byteLength(content),
  sha256: createHash("sha256").update(content).digest("hex"),
});

describe("the files of a checkpoint", () => {
  test("are verified when each has its size and digest, whatever else lies there", async () => {
    const large = "x".repeat(3_000_000);
    const folder = await folderWith({ "a/b/weights": large, empty: "", other: "o" });
    const manifest = [entry("a/b/weights", large), entry("empty", "")];
    expect(await verifyFiles(folder, manifest)).toEqual({ kind: "verified" });
  });

  test.each([
    ["is shorter", { f: "tru" }, "has 3 bytes, and the manifest says 9"],
    ["has other content", { f: "truncatex" }, "has SHA-256"],
    ["is missing", { g: "" }, "is missing"],
    ["is a folder", { "f/g": "" }, "is no file"],
  ])("differ when one %s, which is named", async (_, files, detail) => {
    const folder = await folderWith(files as unknown as Record<string, string>);
    const verdict = await verifyFiles(folder, [entry("f", "truncated")]);
    expect(verdict).toMatchObject({ kind: "differs", path: "f" });
    expect(verdict.kind === "differs" && verdict.detail).toContain(detail);
  });

  test("are not what a link names, nor what lies behind one", async () => {
    const folder = await folderWith({ real: "r", "deep/f": "f" });
    await symlink(join(folder, "real"), join(folder, "link"));
    await symlink(join(folder, "deep"), join(folder, "way"));
    await symlink("/etc", join(folder, "out"));
    for (const path of ["link", "way/f", "out/hostname"]) {
      const verdict = await verifyFiles(folder, [entry(path, "r")]);
      expect(verdict, path).toMatchObject({ kind: "differs", path });
    }
  });

  test("are missing when the folder was never made", async () => {
    const verdict = await verifyFiles(join(root, "never"), [entry("f", "f")]);
    expect(verdict).toMatchObject({ kind: "differs", detail: "is missing" });
  });

  test("are not judged while the storage is away", async () => {
    const verdict = await verifyFiles(join(root, "unmounted", "x"), [entry("f", "f")]);
    expect(verdict).toMatchObject({ kind: "unreadable" });
  });

  test("are missing when no file can have such a name", async () => {
    const folder = await folderWith({ f: "f" });
    const path = "x".repeat(300);
    expect(await verifyFiles(folder, [entry(path, "f")])).toMatchObject({ kind: "differs", path });
  });

  test("are no pipes, which would never end", async () => {
    const folder = await folderWith({ f: "f" });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const verdict = await verifyFiles(folder, [entry("pipe", "")]);
    expect(verdict).toMatchObject({ kind: "differs", path: "pipe", detail: "is no file" });
  });

  test("are missing behind a link to itself", async () => {
    const folder = await folderWith({ f: "f" });
    await symlink(join(folder, "loop"), join(folder, "loop"));
    const verdict = await verifyFiles(folder, [entry("loop", "f")]);
    expect(verdict).toMatchObject({ kind: "differs", path: "loop" });
  });
});
