import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "@trainyard/client";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type ModelVersion, ModelVersionSchema } from "@trainyard/contracts/api";
import { unpack, writeFolder } from "../new-folder.ts";

/**
 * Writes a version as a folder: version.json, checkpoint/ with the files, and code/ with the model code if there is any. The
 * folder gets its name when it is complete; one that has files already is refused.
 */
export async function exportVersion(
  client: Pick<Client, "download">,
  version: Plain<ModelVersion>,
  shown: string,
): Promise<void> {
  await writeFolder(shown, async (folder) => {
    const { checkpoint, codeDigest } = version;
    const files = await client.download("downloadCheckpoint", { checkpoint });
    await unpack(files, join(folder, "checkpoint"));
    if (codeDigest !== "") {
      const of = { model: version.model, version: String(version.number) };
      await unpack(await client.download("downloadModelVersionCode", of), join(folder, "code"));
    }
    const text = JSON.stringify(codecOf(ModelVersionSchema).toFullJson(version), null, 2);
    await writeFile(join(folder, "version.json"), `${text}\n`);
  });
}
