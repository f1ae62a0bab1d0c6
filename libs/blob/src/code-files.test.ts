import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { create } from "tar";
import { afterAll, beforeAll, expect, it } from "vitest";
import { codeFile, codeFiles } from "./code-files.ts";

const { signal } = new AbortController();
const large = "x".repeat(300_000);
let folder: string;
let packed: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "code-files-"));
  await mkdir(join(folder, "lib"));
  await writeFile(join(folder, "train.py"), "print(1)\n");
  await writeFile(join(folder, "lib/data.py"), large);
  await writeFile(join(folder, "empty"), "");
  await symlink("train.py", join(folder, "main.py"));
  const pack = create({ gzip: true, cwd: folder }, ["./train.py", "lib", "empty", "main.py"]);
  packed = await buffer(pack as AsyncIterable<Buffer>);
});
afterAll(() => rm(folder, { recursive: true }));

const stream = (): Readable => Readable.from([packed]);
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

it("codeFiles lists the files of packed code by path, with sizes and digests, and links without content", async () => {
  expect(await codeFiles(stream(), signal)).toEqual([
    { path: "empty", bytes: 0, sha256: sha256(""), link: "" },
    { path: "lib/data.py", bytes: 300_000, sha256: sha256(large), link: "" },
    { path: "main.py", bytes: 0, sha256: "", link: "train.py" },
    { path: "train.py", bytes: 9, sha256: sha256("print(1)\n"), link: "" },
  ]);
});

it("codeFiles returns the contents of the files that the caller keeps", async () => {
  const files = await codeFiles(stream(), signal, (path, bytes) => path !== "empty" && bytes < 100);
  const kept = files.filter(({ content }) => content !== undefined);
  expect(kept.map(({ path, content }) => `${path} ${String(content)}`)).toEqual([
    "train.py print(1)\n",
  ]);
});

it("codeFile reads at most the given number of bytes of a file", async () => {
  expect((await codeFile(stream(), "train.py", 100, signal))?.toString()).toBe("print(1)\n");
  expect((await codeFile(stream(), "lib/data.py", 70_000, signal))?.toString()).toBe(
    large.slice(0, 70_000),
  );
  expect(await codeFile(stream(), "empty", 100, signal)).toEqual(Buffer.alloc(0));
  for (const path of ["lib", "nothing", "../train.py"]) {
    expect(await codeFile(stream(), path, 100, signal)).toBeNull();
  }
});

it("codeFiles throws on truncated code, and stops when the caller aborts", async () => {
  const cut = Readable.from([packed.subarray(0, packed.length / 2)]);
  await expect(codeFiles(cut, signal)).rejects.toThrow();
  await expect(codeFiles(stream(), AbortSignal.abort())).rejects.toThrow("aborted");
});
