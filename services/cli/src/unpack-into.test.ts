import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { create } from "tar";
import { afterEach, beforeEach, expect, test } from "vitest";
import { unpackInto } from "./unpack-into.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trainyard-unpack-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function packed(...paths: readonly string[]): Promise<ReadableStream<Uint8Array>> {
  const archive = create({ gzip: true, cwd: join(folder, "from"), preservePaths: true }, [
    ...paths,
  ]);
  return new Blob([Buffer.concat(await Readable.from(archive).toArray())]).stream();
}

test("files of any name are written under that name", async () => {
  const names = ["x:y", "c:\\z", "-rf *", "a'b", "..hidden", "\u202e\u{1f600}", "100%", "~"];
  await mkdir(join(folder, "from", "d:e"), { recursive: true });
  for (const name of names) await writeFile(join(folder, "from", name), "x");
  await writeFile(join(folder, "from", "d:e", "f:g"), "x");
  const to = join(folder, "to");
  await unpackInto(to, await packed(...names, "d:e"));
  expect((await readdir(to)).toSorted()).toEqual([...names, "d:e"].toSorted());
  expect(await readdir(join(to, "d:e"))).toEqual(["f:g"]);
});

test("an archive name that leaves the folder is refused, and an absolute one stays inside the folder", async () => {
  await mkdir(join(folder, "from"));
  const outside = join(folder, "outside");
  await writeFile(outside, "x");
  const to = join(folder, "deep", "to");
  await expect(unpackInto(to, await packed("../outside"))).rejects.toThrow("'..'");
  await unpackInto(to, await packed(outside));
  expect(await readdir(folder)).toEqual(["deep", "from", "outside"]);
});
