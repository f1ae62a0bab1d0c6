/** Plans uploads to an object store: what it does not have yet of some of a checkpoint's files. */
import {
  checkpointKey,
  type FileDigests,
  type ObjectStore,
  type PlannedRequest,
} from "@trainyard/blob";
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
import { inLanes } from "./in-lanes.ts";
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
  const there = await keysOf(store, checkpoint);
  const plan = async (entry: ManifestEntryOf) => {
    const key = checkpointKey(checkpoint, entry.path);
    const planned = await store.planUpload(key, digestsOf(entry), { absent: !there.has(key) });
    const parts = planned.parts.map(({ offset, bytes, request: planned }) => {
      return { offset, bytes, request: messageOf(planned, deps.clock) };
    });
    return { path: entry.path, parts };
  };
  const files = await inLanes(request.files, registryLimits.objectsAtOnce, plan);
  return { files: firstParts(files, registryLimits.partsPlannedMax) };
}

/** One listing for what would be a request for each file. */
async function keysOf(store: ObjectStore, checkpoint: string): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for await (const { key } of store.list(checkpointKey(checkpoint, ""))) keys.add(key);
  return keys;
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
