/** Plans uploads to an object store: what it does not have yet of some of a checkpoint's files. */
import { checkpointKey, type FileDigests, type PlannedRequest } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type {
  FileUploads,
  ManifestEntry,
  PlannedRequest as PlannedMessage,
  PlanUpload,
} from "@trainyard/contracts/commands";
import { type Clock, isRejection, type Rejection, reject } from "@trainyard/kernel";
import { readManifest } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";
import { ownCheckpoint, refusalOfRun } from "./open-checkpoint.ts";

export async function planUpload(
  deps: CommandDeps,
  request: Plain<PlanUpload>,
): Promise<Plain<FileUploads> | Rejection> {
  const { checkpoint } = request;
  const problem = problemOf(request.files);
  if (problem !== null) return problem;
  const own = await ownCheckpoint(deps, request);
  if (isRejection(own)) return own;
  const refusal = await refusalOfRun(deps, request);
  if (refusal !== null) return refusal;
  const store = await deps.stores.of(own.declared.storage ?? {});
  if (store === null) {
    return reject("storage_unsupported", `checkpoint ${checkpoint} is stored in a directory`);
  }
  const plan = async (entry: ManifestEntryOf) => {
    const planned = await store.planUpload(checkpointKey(checkpoint, entry.path), digestsOf(entry));
    const parts = planned.parts.map(({ offset, bytes, request: planned }) => {
      return { offset, bytes, request: messageOf(planned, deps.clock) };
    });
    return { path: entry.path, parts };
  };
  const lanes = () => inLanes(request.files, registryLimits.objectsAtOnce, plan);
  const files = await deps.brake.ask(store, lanes);
  return { files: firstParts(files, registryLimits.partsPlannedMax) };
}

type Planned = Plain<FileUploads>["files"];

/** As many parts as one answer holds; none is left only where the store has all. */
export function firstParts(files: Planned, most: number): Planned {
  let left = most;
  return files.map(({ path, parts }) => {
    const taken = parts.slice(0, left);
    left -= taken.length;
    return { path, parts: taken };
  });
}

type ManifestEntryOf = Plain<ManifestEntry>;

function problemOf(files: readonly ManifestEntryOf[]): Rejection | null {
  if (files.length > registryLimits.filesPlannedMax) {
    const detail = `${files.length} files are planned at once, and at most ${registryLimits.filesPlannedMax} can be`;
    return reject("invalid_manifest", detail);
  }
  const manifest = readManifest(files);
  return isRejection(manifest) ? manifest : null;
}

/** What a store compares. A file of one part has the digest of the whole. */
export function digestsOf({ bytes, sha256, partSha256, md5 }: ManifestEntryOf): FileDigests {
  const parts = partSha256.length === 0 ? [sha256] : partSha256;
  return { bytes, sha256, parts: parts.map((part) => ({ sha256: part })), md5, crc32c: "" };
}

/** Times travel as remaining ones: clocks differ between hosts. */
export function messageOf(
  { method, url, headers, expiresAtMs }: PlannedRequest,
  clock: Clock,
): Plain<PlannedMessage> {
  return {
    method,
    url,
    headers: { ...headers },
    validMs: Math.max(expiresAtMs - clock.nowMs(), 0),
  };
}

/** The results in order, with at most so many at work. The first failure ends it. */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      results[index] = await work(items[index] as Item);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
