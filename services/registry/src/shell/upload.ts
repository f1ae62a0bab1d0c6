/**
 * Plans uploads to an object store: the missing parts of some of a checkpoint's files. Files that the last checkpoint
 * of the trial or task has are copied inside the store instead.
 */
import {
  checkpointKey,
  type Claim,
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
import {
  type Clock,
  Fault,
  isRejection,
  mapConcurrently,
  type Rejection,
  reject,
} from "@trainyard/kernel";
import type { CommandContext } from "@trainyard/runtime";
import { notUsable } from "../core/checkpoint/decide.ts";
import { readManifest } from "../core/manifest.ts";
import { makerOf } from "../core/maker.ts";
import { checkpoints, runsOf } from "../streams.ts";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";
import { ownCheckpoint, refusalOfRun } from "./open-checkpoint.ts";
import type { Copied, Source } from "./unchanged.ts";

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
    // A complete checkpoint's files must not be replaced.
    return { files: request.files.map(({ path }) => ({ path, parts: [], storedBytes: 0 })) };
  }
  const refusal = notUsable(own.state) ?? (await refusalOfRun(deps, request));
  if (refusal !== null) return refusal;
  const store = await deps.stores.of(own.declared.storage ?? {});
  if (store === null) {
    return reject("storage_unsupported", `checkpoint ${checkpoint} is stored in a directory`);
  }
  const { storageId = "" } = own.declared;
  const source = await deps.unchanged.sourceOf(deps, request, store, storageId);
  const planning = new Planning(deps, store, source);
  const planned = await deps.brake.ask(store, () => planning.plan(checkpoint, request.files));
  await noteProgress(deps, request, planned, identity);
  return { files: planned.files };
}

/** Records the progress of an ended run's upload: the next run waits as long as the upload progresses. */
async function noteProgress(
  { executor, uploads }: CommandDeps,
  request: Plain<PlanUpload>,
  { listedBytes, missingBytes }: Planned,
  identity: CommandContext["identity"],
): Promise<void> {
  const { checkpoint, files } = request;
  // No run waits for an uploaded folder.
  if (makerOf(request) === "") return;
  const { fold, id } = runsOf(request);
  if (!(await executor.cache.load(fold, id)).state.ended) return;
  const page = files.map(({ path, bytes, sha256 }) => [path, bytes, sha256]);
  if (!uploads.isNews(checkpoint, { listedBytes, page, missingBytes })) return;
  await executor.execute(identity, async (work) => {
    await work.decide(checkpoints, checkpoint, { kind: "note_progress" });
  });
}

type PlanDeps = Pick<CommandDeps, "clock"> & {
  readonly unchanged: Pick<CommandDeps["unchanged"], "copy">;
};

type Planned = {
  readonly files: Plain<FileUploads>["files"];
  /** The bytes of all objects of the checkpoint before this plan. */
  readonly listedBytes: number;
  /** The missing bytes of the requested files. */
  readonly missingBytes: number;
};

/** Computes one answer to an uploader, which retries if copies take longer than it waits. */
export class Planning {
  readonly #deps: PlanDeps;
  readonly #store: ObjectStore;
  readonly #source: Source;
  readonly #claim = claimOf(registryLimits.partsPlannedMax);
  readonly #tooLong = Promise.withResolvers<never>();
  #copying = 0;
  #isLate = false;
  #isGivenUp = false;
  #missingBytes = 0;
  /** A copy cannot be verified without checksums. */
  #keepsChecksums = true;

  constructor(deps: PlanDeps, store: ObjectStore, source: Source) {
    this.#deps = deps;
    this.#store = store;
    this.#source = source;
  }

  async plan(checkpoint: string, entries: readonly ManifestEntryOf[]): Promise<Planned> {
    const there = await this.#listed(checkpoint);
    const planning = mapConcurrently(entries, registryLimits.objectsAtOnce, async (entry) => {
      const key = checkpointKey(checkpoint, entry.path);
      const parts = await this.#missing(key, entry, there.has(key));
      return { path: entry.path, parts, storedBytes: 0 };
    });
    // The caller has stopped waiting, so a late rejection is ignored.
    planning.catch(() => undefined);
    using _timer = this.#deps.clock.timer(registryLimits.verifyWaitMs, () => {
      this.#isLate = true;
      if (this.#copying > 0) this.#giveUp();
    });
    const files = [...(await Promise.race([planning, this.#tooLong.promise]))];
    const listedBytes = [...there.values()].reduce((sum, bytes) => sum + bytes, 0);
    return { files, listedBytes, missingBytes: this.#missingBytes };
  }

  /** One listing costs less than a request for each of a hundred keys. */
  async #listed(checkpoint: string): Promise<ReadonlyMap<string, number>> {
    const listed = new Map<string, number>();
    const below = checkpointKey(checkpoint, "");
    for await (const { key, bytes } of this.#store.list(below)) listed.set(key, bytes);
    return listed;
  }

  async #missing(key: string, entry: ManifestEntryOf, isThere: boolean) {
    if (this.#isGivenUp) return [];
    const from = isThere || !this.#keepsChecksums ? null : this.#source(entry);
    const copied = from === null ? null : await this.#copy(from, key, entry.bytes);
    const absent = !isThere && copied === null;
    const there = copied?.head ?? null;
    const options = { absent, claim: this.#claim, ...(there !== null && { there }) };
    const { missing, parts } = await this.#store.planUpload(key, digestsOf(entry), options);
    this.#missingBytes += missing.bytes;
    if (copied !== null && missing.parts > 0) this.#keepsChecksums = false;
    return parts.map(({ offset, bytes, request }) => {
      return { offset, bytes, request: messageOf(request, this.#deps.clock) };
    });
  }

  /** A copy that runs at the deadline continues, and the uploader is asked to retry. */
  async #copy(from: string, key: string, bytes: number): Promise<Copied | null> {
    const copying = this.#deps.unchanged.copy(this.#store, from, key, bytes);
    this.#copying += 1;
    if (this.#isLate) this.#giveUp();
    try {
      return await copying;
    } finally {
      this.#copying -= 1;
    }
  }

  #giveUp(): void {
    this.#isGivenUp = true;
    const detail = "unchanged files are being copied inside the store: retry later";
    this.#tooLong.reject(new Fault("being_copied", detail, { retry: "later" }));
  }
}

/** Hands out the parts of one answer; it is empty only if the store has all parts. */
export function claimOf(most: number): Claim {
  let left = most;
  return (parts) => {
    const claimed = Math.min(parts, left);
    left -= claimed;
    return claimed;
  };
}

type ManifestEntryOf = Plain<ManifestEntry>;

/** Returns the reason why these files cannot be planned; null if they can. */
export function problemOf(files: readonly ManifestEntryOf[]): Rejection | null {
  if (files.length > registryLimits.filesPlannedMax) {
    const detail = `the request plans ${files.length} files, and one request may plan at most ${registryLimits.filesPlannedMax}`;
    return reject("invalid_manifest", detail);
  }
  const manifest = readManifest(files);
  return isRejection(manifest) ? manifest : null;
}

/** The digest that a store compares. A file of one part has the digest of the whole. */
export function digestsOf({ bytes, sha256, partSha256, md5 }: ManifestEntryOf): FileDigests {
  const parts = partSha256.length === 0 ? [sha256] : partSha256;
  return { bytes, sha256, parts: parts.map((part) => ({ sha256: part })), md5, crc32c: "" };
}

/** Messages contain remaining times, not absolute ones, since clocks differ between hosts. */
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
