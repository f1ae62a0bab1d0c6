import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Client } from "@trainyard/client";
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  type Checkpoint,
  CheckpointSchema,
  type ModelVersion,
  ModelVersionSchema,
} from "@trainyard/contracts/api";
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

const sha256 = (content: string) => createHash("sha256").update(content).digest("hex");
const checkpoint = (...files: readonly (readonly [path: string, content: string])[]) =>
  codecOf<Plain<Checkpoint>>(CheckpointSchema).decode(
    JSON.stringify({
      uuid: "c",
      metadata: { trainyard_versions: { torch: "2.9.0" } },
      manifest: files.map(([path, content]) => ({ path, bytes: 1, sha256: sha256(content) })),
    }),
  );
const recorded = checkpoint(["weights.bin", "w"]);

/** A platform that serves the same archive for the files and for the code. The requests are added to `asked`. */
function platform(
  asked: unknown[],
  whole = true,
  known = recorded,
): Pick<Client, "call" | "download"> {
  const download = async (name: string, request: object): Promise<ReadableStream<Uint8Array>> => {
    asked.push([name, request]);
    const packed = create({ gzip: true, cwd: join(folder, "files") }, ["weights.bin"]);
    const bytes = Buffer.concat(await Readable.from(packed).toArray());
    return new Blob([whole ? bytes : bytes.subarray(0, bytes.length - 12)]).stream();
  };
  const call = async (name: string): Promise<unknown> => {
    expect(name).toBe("getCheckpoint");
    return known;
  };
  return { download, call: call as Client["call"] };
}

test("an exported version is a folder with its files, its code and its facts", async () => {
  const asked: unknown[] = [];
  await exportVersion(platform(asked), version, join(folder, "out", "iris"));
  const found = await readdir(join(folder, "out", "iris"), { recursive: true });
  expect(found.toSorted()).toEqual([
    "README.md",
    "checkpoint",
    "checkpoint.json",
    "checkpoint/weights.bin",
    "code",
    "code/weights.bin",
    "version.json",
  ]);
  const written = await readFile(join(folder, "out", "iris", "version.json"), "utf8");
  expect(codec.decode(written)).toEqual(version);
  const of = await readFile(join(folder, "out", "iris", "checkpoint.json"), "utf8");
  expect(JSON.parse(of)).toMatchObject({ metadata: { trainyard_versions: { torch: "2.9.0" } } });
  const readme = await readFile(join(folder, "out", "iris", "README.md"), "utf8");
  expect(readme).toContain("## Load it");
  expect(asked).toEqual([
    ["downloadCheckpoint", { checkpoint: "c" }],
    ["downloadModelVersionCode", { model: "iris", version: "3" }],
  ]);
});

test("an interrupted export leaves no file", async () => {
  const out = join(folder, "out");
  await mkdir(out);
  await expect(exportVersion(platform([], false), version, join(out, "iris"))).rejects.toThrow();
  expect(await readdir(out)).toEqual([]);
});

test.each([
  ["differs", checkpoint(["weights.bin", "v"]), "weights.bin"],
  ["is missing", checkpoint(["weights.bin", "w"], ["a/b", "b"]), "a/b"],
  ["is in no record", checkpoint(), "weights.bin"],
])("a file that %s is named, and nothing is left", async (_, known, name) => {
  const out = join(folder, "out");
  await mkdir(out);
  const exported = exportVersion(platform([], true, known), version, join(out, "iris"));
  await expect(exported).rejects.toThrow(`The file ${JSON.stringify(name)}`);
  expect(await readdir(out)).toEqual([]);
});

test("an export never replaces a file, nor a folder with files", async () => {
  const taken = join(folder, "files", "weights.bin");
  for (const there of [taken, join(folder, "files")]) {
    await expect(exportVersion(platform([]), version, there)).rejects.toThrow("name another");
  }
  expect(await readFile(taken, "utf8")).toBe("w");
  await mkdir(join(folder, "empty"));
  await exportVersion(platform([]), version, join(folder, "empty"));
  expect(await readdir(join(folder, "empty"))).toContain("version.json");
});
