/**
 * Has the platform declare and complete the checkpoints that an ended process left in its spool: the earliest first,
 * each settled only by an answer. Repeating it is harmless. Sealed files are never removed here: the platform records a
 * checkpoint that it refuses for good as abandoned, and clears it after a grace period. A folder without a record is
 * removed only if the platform does not know the checkpoint: after a power cut the record may be gone, while the
 * checkpoint is complete.
 */
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import {
  type CheckpointStorageSection,
  checkpointFolder,
  checkpointRoot,
  checkpointStorage,
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
import { abandonedCode } from "../core/checkpoint-refusals.ts";
import {
  type Abandoned,
  type Answer,
  call,
  type Later,
  type Lost,
  type Standing,
  standingOf,
} from "./checkpoint-answers.ts";
import { CheckpointNotices } from "./checkpoint-notices.ts";
import { stagingFolder } from "../core/environment.ts";
import { uploadCheckpoint } from "./checkpoint-upload.ts";
import type { SdkHost } from "./sdk-program.ts";
import { idOfRun, inRounds, pathOfRun } from "./delivery.ts";
import type { SchedulerEpochs } from "./scheduler-epochs.ts";
import { isDiskFull } from "../state/layout.ts";
import type { Sealed, SealedSpool } from "../state/sealed-spool.ts";
import { markPlace, removeCheckpoint, storagePlace } from "./storage-place.ts";

export type CheckpointDeps = {
  readonly folder: RunFolder;
  readonly spool: SealedSpool;
  readonly apiUrl: string;
  /** The registry's default folder; empty if this host does not know it. */
  readonly checkpointDir: string;
  readonly python: SdkHost;
  readonly events: Telemetry;
  readonly clock: Clock;
  /** Writes a line to the trial's log. */
  readonly tell: (text: string) => void;
  readonly epochs: SchedulerEpochs;
};

/** `known`: for each checkpoint the digests of its files, and the time when all of them had been sent. */
type Delivery = CheckpointDeps & {
  readonly known: Map<string, Known>;
  readonly notices: CheckpointNotices;
};

type Known = { readonly manifest: readonly object[]; readonly sentAtMs: number };

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

/** The place of a task's saves, for the program that makes them; null if this host does not know it. */
export function saveStorage({ launch, sealing }: RunFolder, checkpointDir: string) {
  const store = storeAddress(sectionOf(launch.checkpointStorage));
  if (store !== null) return { root: stagingFolder(sealing), store, trusted: "" };
  const root = checkpointRootOf(launch, checkpointDir);
  if (root === null) return null;
  return { root, store: "", trusted: storagePlace(root, checkpointDir).trusted };
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
  const deps: Delivery = { ...given, known: new Map(), notices: new CheckpointNotices(given) };
  const { events, folder } = deps;
  await inRounds(deps.clock, signal, async (progressed) => {
    try {
      const sealed = await deliverRound(deps, progressed, signal);
      const begun = await removeBegun(deps, signal);
      if (sealed === "lost" || begun === "lost") {
        await deps.epochs.next(signal);
        return 0;
      }
      return sealed === null && begun === null ? "delivered" : Math.max(sealed ?? 0, begun ?? 0);
    } catch (error) {
      events.checkpointsFailed(folder.launch.allocation, error);
      return limits.retry.lastMs;
    }
  });
}

/**
 * Offers a complete checkpoint to a log that lacks it, as after a restore: it counts as sealed until the platform has
 * decided. Returns the answer; null if the record is gone.
 */
export async function offerAgain(
  given: CheckpointDeps,
  checkpoint: string,
  signal: AbortSignal,
): Promise<Answer | null> {
  const deps: Delivery = { ...given, known: new Map(), notices: new CheckpointNotices(given) };
  const stored = deps.spool.offerAgain(checkpoint);
  if (stored === null) return null;
  const answer = await ask(deps, stored, signal);
  if (answer.kind === "taken" || answer.kind === "refused") settle(deps, stored, answer);
  else deps.notices.waits(answer, [stored]);
  return answer;
}

/** The least time after which to try again; null if nothing has to wait; `lost` if the log does not have the run. */
type Wait = number | null | "lost";

/** Delivers each checkpoint that is left. */
async function deliverRound(
  deps: Delivery,
  progressed: () => void,
  signal: AbortSignal,
): Promise<Wait> {
  let waitMs: number | null = null;
  const left = deps.spool.deliverable();
  for (const sealed of left) {
    const answer = await ask(deps, sealed, signal);
    if (signal.aborted) return 0;
    deps.spool.isLost = answer.kind === "lost";
    if (answer.kind === "lost") return waitAfter(deps, answer, left);
    if (answer.kind === "abandoned") {
      deps.spool.abandon(sealed.checkpoint);
      deps.notices.waits(answer, [sealed]);
      continue;
    }
    if (answer.kind === "later") {
      const retryMs = waitAfter(deps, answer, left);
      waitMs = Math.max(waitMs ?? 0, retryMs);
      // A service that is unavailable for one checkpoint is unavailable for all; a delivery too early for one may be in
      // time for the next.
      if (answer.alone) continue;
      return waitMs;
    }
    settle(deps, sealed, answer);
    // A checkpoint in the store is not needed here; a refused one stays in the run's folder.
    // The next save of a task links the files of the last one.
    if (answer.kind === "taken" && areStaged(deps.folder.launch) && !deps.folder.keepsWork) {
      await removeFiles(deps, sealed.checkpoint);
    }
    deps.notices.progressed();
    progressed();
  }
  return waitMs;
}

function waitAfter(deps: Delivery, answer: Later, left: readonly Sealed[]): number;
function waitAfter(deps: Delivery, answer: Later | Lost, left: readonly Sealed[]): number | "lost";
function waitAfter({ notices }: Delivery, answer: Later | Lost, left: readonly Sealed[]) {
  notices.waits(answer, left);
  if (answer.kind === "lost") return answer.kind;
  return answer.refusesCaller === true ? limits.refusedAgainMs : answer.retryAfterMs;
}

/** Removes each folder without a record, unless the platform knows its checkpoint. */
async function removeBegun(deps: Delivery, signal: AbortSignal): Promise<Wait> {
  const asked = { launch: deps.folder.launch, apiUrl: deps.apiUrl };
  for (const checkpoint of deps.spool.begun()) {
    const standing: Standing = await standingOf(asked, checkpoint, signal);
    if (signal.aborted) return 0;
    if (standing.kind === "later" || standing.kind === "lost") return waitAfter(deps, standing, []);
    if (standing.kind === "unknown") await removeFiles(deps, checkpoint);
    else deps.events.begunKept(deps.folder.launch.allocation, checkpoint);
    deps.spool.forgetBegun(checkpoint);
  }
  return null;
}

/** The folder is derived from the launch, never from the process's files. */
async function removeFiles(
  { folder, checkpointDir, events }: CheckpointDeps,
  checkpoint: string,
): Promise<void> {
  const staging = stagingFolder(folder.sealing);
  const isStaged = areStaged(folder.launch);
  const path = isStaged
    ? join(staging, checkpoint)
    : checkpointFolder(storageOf(folder.launch, checkpointDir), checkpoint);
  try {
    if (path === null) return;
    const place = isStaged
      ? { trusted: folder.path, below: relative(folder.path, staging) }
      : storagePlace(dirname(path), checkpointDir);
    // Path and id come from the run: as its user, only files that the run could remove are removed.
    if (folder.owner !== null) await removeAs(folder.owner, path);
    else await removeCheckpoint(place, checkpoint);
  } catch (error) {
    // A storage that cannot remove files must not delay the report of the run's end.
    events.checkpointNotRemoved(folder.launch.allocation, checkpoint, error);
  }
}

function settle(
  { folder, spool, events, known }: Delivery,
  sealed: Sealed,
  answer: Exclude<Answer, Later | Lost | Abandoned>,
): void {
  const { allocation } = folder.launch;
  const { checkpoint, isPart } = sealed;
  if (answer.kind === "refused") {
    events.checkpointRefused(allocation, checkpoint, answer.why);
    spool.forgetStored(checkpoint);
  } else {
    events.checkpointDelivered(allocation, checkpoint);
    const manifest = known.get(checkpoint)?.manifest ?? sealed.manifest;
    if (isPart !== true) keep(spool, { ...sealed, manifest });
  }
  known.delete(checkpoint);
  spool.settle(checkpoint);
}

/** Without the record, only an offer to a log that went back is missing: a full disk must not delay the settling. */
function keep(spool: SealedSpool, sealed: Sealed): void {
  try {
    spool.keep(sealed);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

async function ask(deps: Delivery, sealed: Sealed, signal: AbortSignal): Promise<Answer> {
  const { checkpoint, stepsCompleted, metadata, manifest, ofOthers = [], isPart } = sealed;
  const asked = { launch: deps.folder.launch, apiUrl: deps.apiUrl };
  const checkpoints = `${pathOfRun(asked.launch)}/checkpoints`;
  const storageId = sealed.storageId ?? (await storageIdOf(deps, checkpoint));
  const declaration = {
    ...{ checkpoint, stepsCompleted, metadata },
    ...(storageId && { storageId }),
    ...(sealed.lastValidation && { lastValidation: sealed.lastValidation }),
  };
  const declared = await call(asked, signal, checkpoints, declaration);
  const sent =
    declared.kind === "taken" && declared.store !== ""
      ? await send(deps, sealed, signal)
      : { ...declared, manifest };
  const answer =
    sent.kind === "taken" && isPart !== true
      ? await call(asked, signal, `${checkpoints}/${checkpoint}/complete`, {
          manifest: [...sent.manifest, ...ofOthers],
        })
      : sent;
  // Other hosts may still send their files, which does not delay the next checkpoint.
  if (answer.kind === "later" && ofOthers.length > 0) return { ...answer, alone: true };
  if (answer.kind !== "refused") return answer;
  // An earlier attempt whose answer was lost may have completed the checkpoint before the run ended.
  const standing = await standingOf(asked, checkpoint, signal);
  if (standing.kind === "complete") return { kind: "taken", store: "" };
  if (standing.kind === "later" || standing.kind === "lost") return standing;
  // The only copy may be here: it stays while there is room, and the next agent process asks again.
  const isGivenUp = answer.code === abandonedCode && areStaged(asked.launch);
  return isGivenUp ? { kind: "abandoned", why: answer.why } : answer;
}

/** Uploads the files to the object store. The manifest then contains the checksums that the store compares. */
async function send(deps: Delivery, sealed: Sealed, signal: AbortSignal) {
  const { folder, apiUrl, python, clock, known } = deps;
  const { checkpoint, manifest, isStored } = sealed;
  const before = known.get(checkpoint);
  // Other hosts may still send theirs; until they have, this host's files are not checked again.
  if (before !== undefined && clock.monotonicMs() - before.sentAtMs < limits.sentRememberedMs) {
    return { kind: "taken", store: "", manifest: before.manifest } as const;
  }
  const { token } = folder.launch;
  const order = { url: apiUrl, token, run: idOfRun(folder.launch), checkpoint };
  const isDigested = before !== undefined || sealed.isDigested === true;
  const read = { manifest: before?.manifest ?? manifest, digested: isDigested };
  const staged = join(stagingFolder(folder.sealing), checkpoint);
  // The local files were removed once the store had them.
  const isOnlyThere = isStored === true && !existsSync(staged);
  if (isOnlyThere) return { kind: "taken", store: "", manifest } as const;
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
      const asked = { launch: folder.launch, apiUrl };
      const told = await call(asked, signal, path, reason);
      return told.kind === "later" || told.kind === "lost"
        ? told
        : ({ kind: "refused", why: end.why, code: "" } as const);
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
  return markPlace(storagePlace(root, checkpointDir));
}
