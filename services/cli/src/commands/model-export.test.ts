import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type ModelVersion, ModelVersionSchema } from "@trainyard/contracts/api";
import { create } from "tar";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exportVersion } from "./model-export.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "trainyard-export-"));
  await mkdir(join(folder, "files"));
  await writeFile(join(folder, "files", "weights.bin"), "w");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const codec = codecOf<Plain<ModelVersion>>(ModelVersionSchema);
const version = codec.decode(
  JSON.stringify({ model: "iris", number: 3, checkpoint: "c", codeDigest: "d" }),
);

/** Serves the same archive for the files and for the code; what it was asked for. */
function platform(asked: unknown[], whole = true) {
  const download = async (name: string, request: object): Promise<ReadableStream<Uint8Array>> => {
    asked.push([name, request]);
    const packed = create({ gzip: true, cwd: join(folder, "files") }, ["weights.bin"]);
    const bytes = Buffer.concat(await Readable.from(packed).toArray());
    return new Blob([whole ? bytes : bytes.subarray(0, bytes.length - 12)]).stream();
  };
  return { download };
}

test("a version is a folder with its files, its code and what is known of it", async () => {
  const asked: unknown[] = [];
  await exportVersion(platform(asked), version, join(folder, "out", "iris"));
  const found = await readdir(join(folder, "out", "iris"), { recursive: true });
  expect(found.toSorted()).toEqual([
    "checkpoint",
    "checkpoint/weights.bin",
    "code",
    "code/weights.bin",
    "version.json",
  ]);
  const written = await readFile(join(folder, "out", "iris", "version.json"), "utf8");
  expect(codec.decode(written)).toEqual(version);
  expect(asked).toEqual([
    ["downloadCheckpoint", { checkpoint: "c" }],
    ["downloadModelVersionCode", { model: "iris", version: "3" }],
  ]);
});

test("what breaks off leaves nothing", async () => {
  const out = join(folder, "out");
  await mkdir(out);
  await expect(exportVersion(platform([], false), version, join(out, "iris"))).rejects.toThrow();
  expect(await readdir(out)).toEqual([]);
});

test("a file, and a folder with files, are never replaced", async () => {
  const taken = join(folder, "files", "weights.bin");
  for (const there of [taken, join(folder, "files")]) {
    await expect(exportVersion(platform([]), version, there)).rejects.toThrow("name another");
  }
  expect(await readFile(taken, "utf8")).toBe("w");
  await mkdir(join(folder, "empty"));
  await exportVersion(platform([]), version, join(folder, "empty"));
  expect(await readdir(join(folder, "empty"))).toContain("version.json");
});
