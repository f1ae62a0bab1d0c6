import type { Plain } from "@trainyard/contracts";
import type { FileDownload } from "@trainyard/contracts/commands";
import { assert, mapConcurrently } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import { archiveOf } from "../../http/archive.ts";
import { isStored, openPlanned } from "../../http/planned-download.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext } from "../../http/request-context.ts";
import { apiLimits } from "../limits.ts";

type File = { readonly path: string; readonly bytes: number };
type Plan = (paths: readonly string[]) => Promise<readonly Plain<FileDownload>[]>;

/**
 * Streams the files of a checkpoint from its object store. Each URL is planned just before its file is read. A missing
 * file is refused before the first byte: later the answer could only break off.
 */
export async function downloadObjects(
  backend: Backend,
  checkpoint: string,
  manifest: readonly File[],
  context: RequestContext,
) {
  const plan: Plan = async (paths) => {
    const message = { checkpoint, paths: [...paths] };
    return (await backend.command("registry", "PlanFiles", message, context)).files;
  };
  await refuseMissing(checkpoint, manifest, plan);
  const files = manifest.map(({ path, bytes }) => ({
    path,
    open: async () => {
      const [planned] = await plan([path]);
      return { ...(await openPlanned(path, requestOf(planned))), bytes };
    },
  }));
  const body = archiveOf(files, (error) =>
    backend.parts.logger.warn({ err: error, checkpoint }, "download_broke_off"),
  );
  return { contentType: "application/gzip", fileName: `${checkpoint}.tar.gz`, body };
}

async function refuseMissing(
  checkpoint: string,
  manifest: readonly File[],
  plan: Plan,
): Promise<void> {
  const { objectsPlannedMax, objectsAskedAtOnce } = apiLimits;
  for (let from = 0; from < manifest.length; from += objectsPlannedMax) {
    const some = manifest.slice(from, from + objectsPlannedMax);
    const planned = await plan(some.map(({ path }) => path));
    await mapConcurrently(planned, objectsAskedAtOnce, async (file) => {
      if (await isStored(file.path, requestOf(file))) return;
      const detail = `checkpoint ${checkpoint} is damaged: its object store has no file ${JSON.stringify(file.path)}; "yard checkpoint verify ${checkpoint}" lists what is missing`;
      throw new Problem(409, "checkpoint_damaged", detail);
    });
  }
}

function requestOf(planned: Plain<FileDownload> | undefined) {
  assert(planned?.request !== undefined, "a download was planned");
  return planned.request;
}
