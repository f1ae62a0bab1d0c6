import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, lstat, readdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Client } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import {
  CheckpointSchema,
  type FileEntry,
  type ModelVersion,
  ModelVersionSchema,
} from "@trainyard/contracts/api";
import { codecOf } from "@trainyard/contracts/codec";
import { pythonPackages } from "../environment.ts";
import { writeFolder } from "../new-folder.ts";
import { unpackInto } from "../unpack-into.ts";
import { Failure } from "../usage-error.ts";

/**
 * Writes a model version as a folder: checkpoint/ with the files, code/ with the model code if it has any, the facts of
 * both, and a README that explains how to load it. The folder gets its name only when every file was compared with its
 * recorded SHA-256. A folder that has files is never replaced.
 */
export async function exportVersion(
  client: Pick<Client, "call" | "download">,
  version: Plain<ModelVersion>,
  shown: string,
): Promise<void> {
  await writeFolder(shown, async (folder) => {
    const { checkpoint, codeDigest } = version;
    const known = await client.call("getCheckpoint", { checkpoint });
    const files = await client.download("downloadCheckpoint", { checkpoint });
    await unpackInto(join(folder, "checkpoint"), files);
    await compare(join(folder, "checkpoint"), known.manifest);
    if (codeDigest !== "") {
      const of = { model: version.model, version: String(version.number) };
      const code = await client.download("downloadModelVersionCode", of);
      await unpackInto(join(folder, "code"), code);
    }
    await writeJson(folder, "version.json", codecOf(ModelVersionSchema).toFullJson(version));
    await writeJson(folder, "checkpoint.json", codecOf(CheckpointSchema).toFullJson(known));
    await copyFile(
      join(pythonPackages, "trainyard", "client", "export.md"),
      join(folder, "README.md"),
    );
  });
}

async function writeJson(folder: string, name: string, value: unknown): Promise<void> {
  await writeFile(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}

/** Throws a Failure with the name of the first file that differs from the platform's record. */
async function compare(folder: string, manifest: readonly Plain<FileEntry>[]): Promise<void> {
  const recorded = new Set(manifest.map(({ path }) => path));
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = relative(folder, join(entry.parentPath, entry.name));
    if (!entry.isDirectory() && !recorded.has(path)) {
      throw new Failure(`The file ${JSON.stringify(path)} is not in the checkpoint's manifest.`);
    }
  }
  for (const { path, sha256 } of manifest) {
    if ((await digestOf(join(folder, path))) === sha256) continue;
    throw new Failure(`The file ${JSON.stringify(path)} differs from its recorded SHA-256.`);
  }
}

/** Returns the digest of a regular file; empty for anything else, also for a missing file. */
async function digestOf(path: string): Promise<string> {
  const stats = await lstat(path).catch(() => null);
  if (stats?.isFile() !== true) return "";
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
