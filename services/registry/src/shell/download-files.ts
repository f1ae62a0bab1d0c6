/** Plans how to read files of a complete checkpoint from its object store. */
import { checkpointKey } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { FileDownload, FileDownloads, PlanFiles } from "@trainyard/contracts/commands";
import { isRejection, type Rejection, reject } from "@trainyard/kernel";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";
import { completeCheckpointOf } from "./download.ts";
import { messageOf } from "./upload.ts";

export async function planFiles(
  deps: CommandDeps,
  { checkpoint, paths }: Plain<PlanFiles>,
): Promise<Plain<FileDownloads> | Rejection> {
  if (paths.length > registryLimits.filesPlannedMax) {
    const detail = `the request plans ${paths.length} files, and one request may plan at most ${registryLimits.filesPlannedMax}`;
    return reject("invalid_request", detail);
  }
  const complete = await completeCheckpointOf(deps, checkpoint);
  if (isRejection(complete)) return complete;
  const store = await deps.stores.of(complete.declared.storage ?? {});
  if (store === null) {
    return reject("storage_unsupported", `checkpoint ${checkpoint} is stored in a directory`);
  }
  const manifest = await deps.manifests.get(checkpoint, complete.state.manifestDigest);
  const known = new Set(manifest.map(({ path }) => path));
  const files: Plain<FileDownload>[] = [];
  for (const path of paths) {
    if (!known.has(path) || complete.isGone(path)) {
      const detail = `checkpoint ${checkpoint} has no file ${JSON.stringify(path)}`;
      return reject("file_not_found", detail);
    }
    const request = messageOf(
      await store.planDownload(checkpointKey(checkpoint, path)),
      deps.clock,
    );
    files.push({ path, request });
  }
  return { files };
}
