/**
 * Has the platform declare and complete the checkpoints that an ended process left in its spool: the earliest first,
 * each settled only by an answer. Repeating it is harmless. Sealed files are never removed here: the platform records a
 * checkpoint that it refuses for good as abandoned, and clears it after a grace period. A folder that was never
 * complete is removed, since only this host knows of it.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type CheckpointStorageSection,
  checkpointFolder,
  checkpointRoot,
  checkpointStorage,
  markStorage,
  readStorageMarker,
  storeAddress,
} from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { Launch, Storage } from "@trainyard/contracts/agent";
import type { Clock } from "@trainyard/kernel";
import type { Telemetry } from "../telemetry.ts";
import { limits } from "../limits.ts";
import type { RunFolder } from "../state/run-folder.ts";
import { removeAs } from "../state/remove-as.ts";
import { stagingFolder } from "../core/environment.ts";
import { type UploadHost, uploadCheckpoint } from "./checkpoint-upload.ts";
import { inRounds, pathOfRun, requestAsRun } from "./delivery.ts";
import type { Sealed, SealedSpool } from "../state/sealed-spool.ts";

export type CheckpointDeps = {
  readonly folder: RunFolder;
  readonly spool: SealedSpool;
  readonly apiUrl: string;
  /** The registry's default folder; empty if this host does not know it. */
  readonly checkpointDir: string;
  readonly python: UploadHost;
  readonly events: Telemetry;
  readonly clock: Clock;
};

/** `known`: for each checkpoint the digests of its files, and the time when all of them had been sent. */
type Delivery = CheckpointDeps & { readonly known: Map<string, Known> };

type Known = { readonly manifest: readonly object[]; readonly sentAtMs: number };

type Answer =
  /** The checkpoint is complete. `store` is the object store of its files; empty for a directory. */
  | { readonly kind: "taken"; readonly store: string }
  /** The checkpoint is refused for good. */
  | { readonly kind: "refused"; readonly why: string }
  /** The delivery is retried later: of this checkpoint only (`alone`), or of all. */
  | {
      readonly kind: "later";
      readonly alone: boolean;
      readonly retryAfterMs: number;
      readonly why: string;
    };

/** The status for a lost run whose checkpoints the platform does not know yet. */
const tooEarly = 425;

/** The folder of a run's checkpoints on this host, by the registry's rule; null if only the registry knows it. */
export function checkpointRootOf(launch: Plain<Launch>, checkpointDir: string): string | null {
  return checkpointRoot(storageOf(launch, checkpointDir));
}

function storageOf(launch: Plain<Launch>, checkpointDir: string): CheckpointStorageSection {
  return placed(sectionOf(launch.checkpointStorage), checkpointDir);
}

/** Returns the storage as the section of the configuration; a directory without a path is the agent's own. */
function sectionOf(storage: Plain<Storage> | undefined): CheckpointStorageSection {
  return storage === undefined
    ? { type: "directory", container_path: "" }
    : { ...storage.place, type: storage.type };
}

function placed(
  section: CheckpointStorageSection,
  checkpointDir: string,
): CheckpointStorageSection {
  return checkpointDir === "" ? section : checkpointStorage(section, checkpointDir);
}

/** Whether the run's checkpoints go to an object store, and are therefore sealed in the run's own folder. */
export function areStaged(launch: Plain<Launch>): boolean {
  return storeAddress(sectionOf(launch.checkpointStorage)) !== null;
}

/** Whether the run's TensorBoard files go to an object store, and are therefore written in the run's own folder. */
export function areTensorBoardsSent(launch: Plain<Launch>): boolean {
  return storeAddress(sectionOf(launch.tensorboardStorage ?? launch.checkpointStorage)) !== null;
}

/** The root of the run's TensorBoard files: null for the checkpoint folder, empty for an object store. */
function tensorboardRootOf(
  { tensorboardStorage: storage }: Plain<Launch>,
  checkpointDir: string,
): string | null {
  return storage === undefined
    ? null
    : (checkpointRoot(placed(sectionOf(storage), checkpointDir)) ?? "");
}

/**
 * The folders for a run's checkpoints and TensorBoard files, and the share of the disk that checkpoints may use until
 * an object store has them.
 */
export function storagePlaces(
  launch: Plain<Launch>,
  agent: { readonly checkpointDir: string; readonly checkpointDiskShare: number },
) {
  return {
    checkpointRoot: checkpointRootOf(launch, agent.checkpointDir),
    uploadDiskShare: areStaged(launch) ? agent.checkpointDiskShare : null,
    tensorboardRoot: tensorboardRootOf(launch, agent.checkpointDir),
  };
}

/** Resolves when no checkpoint is left, or when the signal aborts. Unknown failures are retried. */
export async function deliverCheckpoints(
  given: CheckpointDeps,
  signal: AbortSignal,
): Promise<void> {
  const deps: Delivery = { ...given, known: new Map() };
  const { events, folder } = deps;
  await inRounds(deps.clock, signal, async (progressed) => {
    try {
      await removeBegun(deps);
      return await deliverRound(deps, progressed, signal);
    } catch (error) {
      events.checkpointsFailed(folder.launch.allocation, error);
      return limits.retry.lastMs;
    }
  });
}

/** Delivers each checkpoint that is left; if one has to wait, returns the least time. */
async function deliverRound(
  deps: Delivery,
  progressed: () => void,
  signal: AbortSignal,
): Promise<"delivered" | number> {
  let waitMs: number | null = null;
  for (const sealed of deps.spool.sealed()) {
    const answer = await ask(deps, sealed, signal);
    if (signal.aborted) return 0;
    if (answer.kind === "later") {
      deps.events.checkpointsWait(answer.why);
      waitMs = Math.max(waitMs ?? 0, answer.retryAfterMs);
      // A service that is unavailable for one checkpoint is unavailable for all; a delivery too early for one may be in
      // time for the next.
      if (answer.alone) continue;
      return waitMs;
    }
    settle(deps, sealed, answer);
    // A checkpoint in the store is not needed here; a refused one stays in the run's folder.
    if (answer.kind === "taken" && areStaged(deps.folder.launch)) {
      await removeFiles(deps, sealed.checkpoint);
    }
    progressed();
  }
  return waitMs ?? "delivered";
}

async function removeBegun(deps: CheckpointDeps): Promise<void> {
  for (const checkpoint of deps.spool.begun()) {
    await removeFiles(deps, checkpoint);
    deps.spool.forgetBegun(checkpoint);
  }
}

/** The folder is derived from the launch, never from the process's files. */
async function removeFiles(
  { folder, checkpointDir, events }: CheckpointDeps,
  checkpoint: string,
): Promise<void> {
  const path = areStaged(folder.launch)
    ? join(stagingFolder(folder.runDir), checkpoint)
    : checkpointFolder(storageOf(folder.launch, checkpointDir), checkpoint);
  try {
    if (path === null) return;
    // Path and id come from the run: as its user, only files that the run could remove are removed.
    if (folder.owner !== null) await removeAs(folder.owner, path);
    else await rm(path, { recursive: true, force: true });
  } catch (error) {
    // A storage that cannot remove files must not delay the report of the run's end.
    events.checkpointNotRemoved(folder.launch.allocation, checkpoint, error);
  }
}

function settle(
  { folder, spool, events, known }: Delivery,
  { checkpoint }: Sealed,
  answer: Exclude<Answer, { kind: "later" }>,
): void {
  const { allocation } = folder.launch;
  if (answer.kind === "taken") events.checkpointDelivered(allocation, checkpoint);
  else events.checkpointRefused(allocation, checkpoint, answer.why);
  known.delete(checkpoint);
  spool.settle(checkpoint);
}

async function ask(deps: Delivery, sealed: Sealed, signal: AbortSignal): Promise<Answer> {
  const { checkpoint, stepsCompleted, metadata, manifest, ofOthers = [], isPart } = sealed;
  const checkpoints = `${pathOfRun(deps.folder.launch)}/checkpoints`;
  const storageId = sealed.storageId ?? (await storageIdOf(deps, checkpoint));
  const declaration = {
    ...{ checkpoint, stepsCompleted, metadata },
    ...(storageId && { storageId }),
    ...(sealed.lastValidation && { lastValidation: sealed.lastValidation }),
  };
  const declared = await call(deps, signal, checkpoints, declaration);
  const sent =
    declared.kind === "taken" && declared.store !== ""
      ? await send(deps, sealed, signal)
      : { ...declared, manifest };
  const answer =
    sent.kind === "taken" && isPart !== true
      ? await call(deps, signal, `${checkpoints}/${checkpoint}/complete`, {
          manifest: [...sent.manifest, ...ofOthers],
        })
      : sent;
  // Other hosts may still send their files, which does not delay the next checkpoint.
  if (answer.kind === "later" && ofOthers.length > 0) return { ...answer, alone: true };
  if (answer.kind !== "refused") return answer;
  // An earlier attempt whose answer was lost may have completed the checkpoint before the run ended.
  const plan = await call(deps, signal, `/api/v1/checkpoints/${checkpoint}/plan`, null);
  return plan.kind === "refused" ? answer : plan;
}

/** Uploads the files to the object store. The manifest then contains the checksums that the store compares. */
async function send(deps: Delivery, { checkpoint, manifest }: Sealed, signal: AbortSignal) {
  const { folder, apiUrl, python, clock, known } = deps;
  const before = known.get(checkpoint);
  // Other hosts may still send theirs; until they have, this host's files are not checked again.
  if (before !== undefined && clock.monotonicMs() - before.sentAtMs < limits.sentRememberedMs) {
    return { kind: "taken", store: "", manifest: before.manifest } as const;
  }
  const { trial, run, token } = folder.launch;
  const order = { url: apiUrl, token, run: `${trial}#${run}`, checkpoint };
  const read = { manifest: before?.manifest ?? manifest, digested: before !== undefined };
  const staged = join(stagingFolder(folder.runDir), checkpoint);
  const upload = { ...order, ...read, folder: staged };
  const end = await uploadCheckpoint(upload, python, folder.owner, signal);
  switch (end.kind) {
    case "sent":
      known.set(checkpoint, { manifest: end.manifest, sentAtMs: clock.monotonicMs() });
      return { kind: "taken", store: "", manifest: end.manifest } as const;
    case "refused": {
      // Other hosts may wait for these files.
      const path = `${pathOfRun(folder.launch)}/checkpoints/${checkpoint}/fail`;
      const reason = { reason: end.why.slice(0, limits.failReasonCharactersMax) };
      const told = await call(deps, signal, path, reason);
      return told.kind === "later" ? told : ({ kind: "refused", why: end.why } as const);
    }
    case "later":
      if (end.manifest !== undefined) {
        known.set(checkpoint, { manifest: end.manifest, sentAtMs: Number.NEGATIVE_INFINITY });
      }
      // The failure may concern only this folder, so the next checkpoint is tried too.
      return { kind: "later", alone: true, retryAfterMs: 0, why: end.why } as const;
  }
}

/** Returns this host's storage id if the SDK named none and the process wrote to the storage's folder. */
async function storageIdOf(
  { folder, checkpointDir }: CheckpointDeps,
  checkpoint: string,
): Promise<string | undefined> {
  const path = checkpointFolder(storageOf(folder.launch, checkpointDir), checkpoint);
  if (path === null || !existsSync(path)) return undefined;
  const root = dirname(path);
  // The run chose the folder, so the agent writes no marker there for a run with a user of its own.
  if (folder.owner !== null) {
    const seen = await readStorageMarker(root);
    return seen.kind === "marked" ? seen.id : undefined;
  }
  return markStorage(root).catch(() => undefined); // Nobody judges it then until it is adopted.
}

async function call(
  { folder, apiUrl }: CheckpointDeps,
  signal: AbortSignal,
  path: string,
  message: object | null,
): Promise<Answer> {
  const body = message === null ? null : JSON.stringify(message);
  const url = `${apiUrl}${path}`;
  const answer = await requestAsRun(folder.launch, url, body, signal);
  const { status, text, retryAfterMs, why } = answer;
  // A proxy with a limit for the size of requests may take the next checkpoint.
  if (!answer.isOfPlatform) return { kind: "later", alone: status === 413, retryAfterMs, why };
  if (status >= 200 && status < 300) return { kind: "taken", store: storeIn(text) };
  const alone = status === tooEarly;
  if (status < 500 && status !== 408 && !alone && status !== 429) return { kind: "refused", why };
  return { kind: "later", alone, retryAfterMs, why };
}

function storeIn(text: string): string {
  try {
    const { store } = JSON.parse(text) as { store?: unknown };
    return typeof store === "string" ? store : "";
  } catch {
    return "";
  }
}
