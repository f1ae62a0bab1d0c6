/**
 * Plans uploads to an object store: what it does not have yet of some of a checkpoint's files. Files that the trial's last
 * checkpoint has are copied there instead.
 */
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
import { type Clock, Fault, isRejection, type Rejection, reject } from "@trainyard/kernel";
import type { CommandContext } from "@trainyard/runtime";
import { notUsable } from "../core/checkpoint/decide.ts";
import { readManifest } from "../core/manifest.ts";
import { checkpoints, trialRuns } from "../streams.ts";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";
import { inLanes } from "./in-lanes.ts";
import { ownCheckpoint, refusalOfRun } from "./open-checkpoint.ts";
import type { Source } from "./unchanged.ts";

export async function planUpload(
  deps: CommandDeps,
  request: Plain<PlanUpload>,
  { identity }: CommandContext,
): Promise<Plain<FileUploads> | Rejection> {
  const { checkpoint } = request;
  const problem = problemOf(request.files);
  if (problem !== null) return problem;
  const own = await ownCheckpoint(deps, request, identity.meta.authid);
  if (isRejection(own)) return own;
  if (own.state.status === "completed") {
    // Nothing may take the place of its files.
    return { files: request.files.map(({ path }) => ({ path, parts: [] })) };
  }
  const refusal = notUsable(own.state) ?? (await refusalOfRun(deps, request));
  if (refusal !== null) return refusal;
  const store = await deps.stores.of(own.declared.storage ?? {});
  if (store === null) {
    return reject("storage_unsupported", `checkpoint ${checkpoint} is stored in a directory`);
  }
  const { storageId = "" } = own.declared;
  const source = await deps.unchanged.sourceOf(deps, request.trial, store, storageId);
  const planning = new Planning(deps, store, source);
  const files = await deps.brake.ask(store, () => planning.plan(checkpoint, request.files));
  await noteProgress(deps, request, files, identity);
  return { files: firstParts(files, registryLimits.partsPlannedMax) };
}

/** Of what an ended run has left: its next run waits for as long as that moves. */
async function noteProgress(
  { executor, uploads }: CommandDeps,
  { checkpoint, trial }: Plain<PlanUpload>,
  files: Planned,
  identity: CommandContext["identity"],
): Promise<void> {
  const missing = files.reduce((sum, { parts }) => sum + parts.length, 0);
  const mark = `${files[0]?.path ?? ""} ${missing}`;
  if (missing === 0 || trial === "") return;
  if (!(await executor.cache.load(trialRuns, trial)).state.ended) return;
  if (!uploads.isNews(checkpoint, mark)) return;
  await executor.execute(identity, async (work) => {
    await work.decide(checkpoints, checkpoint, { kind: "note_progress" });
  });
}

type PlanDeps = Pick<CommandDeps, "clock" | "unchanged">;

/** One answer to an uploader, which comes again where copies take longer than it waits. */
class Planning {
  readonly #deps: PlanDeps;
  readonly #store: ObjectStore;
  readonly #source: Source;
  #isLate = false;
  /** Without checksums nobody could tell whether a copy is what it should be. */
  #keepsChecksums = true;

  constructor(deps: PlanDeps, store: ObjectStore, source: Source) {
    this.#deps = deps;
    this.#store = store;
    this.#source = source;
  }

  async plan(checkpoint: string, entries: readonly ManifestEntryOf[]): Promise<Planned> {
    const there = await this.#listed(checkpoint);
    const planning = inLanes(entries, registryLimits.objectsAtOnce, async (entry) => {
      const key = checkpointKey(checkpoint, entry.path);
      return { path: entry.path, parts: await this.#missing(key, entry, there.has(key)) };
    });
    // Where it is late, nobody waits for it any more.
    planning.catch(() => undefined);
    const late = Promise.withResolvers<never>();
    using _timer = this.#deps.clock.timer(registryLimits.verifyWaitMs, () => {
      this.#isLate = true;
      late.reject(beingCopied(checkpoint));
    });
    return [...(await Promise.race([planning, late.promise]))];
  }

  /** One listing costs less than a look at each of a hundred keys. */
  async #listed(checkpoint: string): Promise<ReadonlySet<string>> {
    const keys = new Set<string>();
    for await (const { key } of this.#store.list(checkpointKey(checkpoint, ""))) keys.add(key);
    return keys;
  }

  async #missing(key: string, entry: ManifestEntryOf, isThere: boolean) {
    if (this.#isLate) throw beingCopied(key);
    const from = isThere || !this.#keepsChecksums ? null : this.#source(entry);
    const isCopied = from !== null && (await this.#deps.unchanged.copy(this.#store, from, key));
    const absent = !isThere && !isCopied;
    const { parts } = await this.#store.planUpload(key, digestsOf(entry), { absent });
    if (isCopied && parts.length > 0) this.#keepsChecksums = false;
    return parts.map(({ offset, bytes, request }) => {
      return { offset, bytes, request: messageOf(request, this.#deps.clock) };
    });
  }
}

function beingCopied(what: string): Fault {
  const detail = `unchanged files of ${what} are being copied inside the store`;
  return new Fault("being_copied", detail, { retry: "later" });
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

/** Why such files cannot be planned; null where they can. */
export function problemOf(files: readonly ManifestEntryOf[]): Rejection | null {
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
