import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "tar";
import { afterEach, beforeEach, expect, test } from "vitest";
import { BadArchive, unpack } from "./unpack.ts";

let scratch: string;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "trainyard-unpack-"));
  await mkdir(join(scratch, "code"));
  await mkdir(join(scratch, "work"));
});

afterEach(() => rm(scratch, { recursive: true, force: true }));

async function packed(): Promise<string> {
  const file = join(scratch, "code.tar.gz");
  await create({ file, cwd: join(scratch, "code"), gzip: true, portable: true }, ["."]);
  return file;
}

test("the files of an archive are unpacked with their modes", async () => {
  await writeFile(join(scratch, "code/train.sh"), "echo", { mode: 0o755 });
  await unpack(await packed(), join(scratch, "work"));
  expect(await readFile(join(scratch, "work/train.sh"), "utf8")).toBe("echo");
  expect((await stat(join(scratch, "work/train.sh"))).mode & 0o100).toBe(0o100);
});

test("a truncated archive counts as a bad one, and a missing target folder does not", async () => {
  await writeFile(join(scratch, "code/train.py"), "x".repeat(10_000));
  const file = await packed();
  await expect(unpack(file, join(scratch, "none"))).rejects.not.toThrow(BadArchive);
  await truncate(file, 40);
  await expect(unpack(file, join(scratch, "work"))).rejects.toThrow(BadArchive);
});

test("a small archive with large content is unpacked in bounded memory", async () => {
  await writeFile(join(scratch, "code/zeros"), "");
  await truncate(join(scratch, "code/zeros"), 400 * 1024 * 1024);
  const file = await packed();
  const script = `
    import { unpack } from ${JSON.stringify(new URL("./unpack.ts", import.meta.url).href)};
    const before = process.resourceUsage().maxRSS;
    await unpack(${JSON.stringify(file)}, ${JSON.stringify(join(scratch, "work"))});
    console.log((process.resourceUsage().maxRSS - before) / 1024);
  `;
  const parameters = ["--input-type=module-typescript", "-e", script];
  const grownMiB = Number(execFileSync(process.execPath, parameters, { timeout: 200_000 }));
  expect((await stat(join(scratch, "work/zeros"))).size).toBe(400 * 1024 * 1024);
  expect(grownMiB).toBeLessThan(200);
});
