import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Client } from "@trainyard/client";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type ModelVersion, ModelVersionSchema } from "@trainyard/contracts/api";
import { extract } from "tar";
import { callerPath } from "../environment.ts";
import { UsageError } from "../usage-error.ts";

/**
 * Writes a version as a folder: version.json, checkpoint/ with the files, and code/ with the model code if there is any. The
 * folder gets its name when it is complete; one that has files already is refused.
 */
export async function exportVersion(
  client: Pick<Client, "download">,
  version: Plain<ModelVersion>,
  shown: string,
): Promise<void> {
  const folder = callerPath(shown);
  await requireFree(folder, shown);
  await mkdir(dirname(folder), { recursive: true });
  const partial = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
  try {
    const { checkpoint, codeDigest } = version;
    const files = await client.download("downloadCheckpoint", { checkpoint });
    await unpack(files, join(partial, "checkpoint"));
    if (codeDigest !== "") {
      const of = { model: version.model, version: String(version.number) };
      await unpack(await client.download("downloadModelVersionCode", of), join(partial, "code"));
    }
    const text = JSON.stringify(codecOf(ModelVersionSchema).toFullJson(version), null, 2);
    await writeFile(join(partial, "version.json"), `${text}\n`);
    // Takes the place of an empty folder, and of nothing else.
    await rename(partial, folder);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}

async function requireFree(folder: string, shown: string): Promise<void> {
  try {
    if ((await readdir(folder)).length === 0) return;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw new UsageError(`${shown} is not a folder that can be read: name another.`);
  }
  throw new UsageError(`${shown} has files already: name another folder.`);
}

async function unpack(body: ReadableStream<Uint8Array>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await pipeline(Readable.fromWeb(body), createGunzip(), extract({ cwd: folder, strict: true }));
}
