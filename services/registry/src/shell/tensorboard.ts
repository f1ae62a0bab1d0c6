/**
 * TensorBoard files of a trial, in the object store of the experiment's TensorBoard section, or else of its
 * checkpoints: `tensorboard/<log>/experiment/<e>/trial/<t>/<path>` below the prefix; no checkpoint has such a name.
 *
 * A file that has grown replaces the shorter one. A file of an earlier run replaces only an object that equals its own
 * beginning: any other object may be a newer run's.
 */
import {
  checkpointStorage,
  type CheckpointStorageSection,
  type Claim,
  compareWithFile,
  markedPlace,
  type ObjectHead,
  type ObjectStore,
  tensorBoardFolder,
} from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { FileUploads, ManifestEntry, PlanTensorBoard } from "@trainyard/contracts/commands";
import {
  Fault,
  isRejection,
  mapConcurrently,
  parseTrialId,
  type Rejection,
  reject,
  streamName,
} from "@trainyard/kernel";
import type { ExperimentStorage } from "../core/foreign/experiment.ts";
import { registryLimits } from "../limits.ts";
import { experimentStorage, trialRuns } from "../streams.ts";
import type { CommandDeps } from "./commands.ts";
import { claimOf, digestsOf, messageOf, problemOf } from "./upload.ts";

type Entry = Plain<ManifestEntry>;

export async function planTensorBoard(
  deps: CommandDeps,
  { trial, run, files: asked, beginnings }: Plain<PlanTensorBoard>,
): Promise<Plain<FileUploads> | Rejection> {
  const parts = parseTrialId(trial);
  const problem = problemOf(asked) ?? (beginnings.length > 0 ? problemOf(beginnings) : null);
  if (problem !== null) return problem;
  // The cached state of another service's stream may be stale.
  deps.executor.cache.forget(streamName("trial", trial));
  const { newest } = (await deps.executor.cache.load(trialRuns, trial)).state;
  // An earlier run's last files may arrive after the next run has begun.
  if (parts === null || run > newest)
    return reject("run_not_found", `there is no run ${trial}#${run}`);
  const { state: experiment } = await deps.executor.cache.load(experimentStorage, parts.experiment);
  if (experiment.deleted) {
    return reject("run_not_found", `the experiment of run ${trial}#${run} was deleted`);
  }
  const store = await storeOfTensorBoards(deps, parts.experiment, experiment);
  if (isRejection(store)) return store;
  await refuseHeld(deps, checkpointStorage(experiment.tensorboards, deps.checkpointDir), store);
  const below = await folderOfTrial(deps, parts.experiment, trial);
  const beginningOf = new Map(beginnings.map((entry) => [entry.path, entry]));
  const claim = claimOf(registryLimits.partsPlannedMax);
  const plan = async (entry: Entry) => {
    const key = `${below}/${entry.path}`;
    const there = run < newest ? await store.head(key) : null;
    if (there !== null && !isBeginning(there, entry, beginningOf.get(entry.path))) {
      const storedBytes = there.bytes < entry.bytes ? there.bytes : 0;
      return { path: entry.path, parts: [], storedBytes };
    }
    const planned = await missing(store, key, entry, claim);
    const left = planned.map(({ offset, bytes, request }) => {
      return { offset, bytes, request: messageOf(request, deps.clock) };
    });
    return { path: entry.path, parts: left, storedBytes: 0 };
  };
  const planned = () => mapConcurrently(asked, registryLimits.objectsAtOnce, plan);
  return { files: await deps.brake.ask(store, planned) };
}

export async function storeOfTensorBoards(
  { stores, checkpointDir }: CommandDeps,
  experiment: string,
  { tensorboards }: ExperimentStorage,
): Promise<ObjectStore | Rejection> {
  const store = await stores.of(checkpointStorage(tensorboards, checkpointDir));
  if (store !== null) return store;
  const detail = `TensorBoard files of experiment ${experiment} are stored in a directory`;
  return reject("storage_unsupported", detail);
}

/** Throws a Fault with retry "later" if nothing may be replaced in the store. A new store is marked. */
async function refuseHeld(
  { known, claims, disk, brake }: CommandDeps,
  section: CheckpointStorageSection,
  store: ObjectStore,
): Promise<void> {
  await known.idOf(section, store);
  const place = markedPlace(section, store, disk);
  const problem = await brake.ask(store, () => claims.problem(place));
  if (problem === null) return;
  const detail = `no TensorBoard file is replaced: ${problem}`;
  throw new Fault("storage_held", detail, { retry: "later" });
}

/** The prefix of the keys of a trial's files, without the slash that follows. */
export async function folderOfTrial(
  { claims }: Pick<CommandDeps, "claims">,
  experiment: string,
  trial: string,
): Promise<string> {
  return `${tensorBoardFolder(await claims.log(), experiment)}/trial/${trial}`;
}

/** Reports whether the object equals the beginning of the file, by the store's checksum. */
function isBeginning(there: ObjectHead, whole: Entry, beginning: Entry | undefined): boolean {
  if (beginning === undefined || whole.bytes <= there.bytes) return false;
  return compareWithFile(there, digestsOf(beginning)) === "same";
}

/** TensorBoard files have no completion, so an upload in parts becomes an object here. */
async function missing(store: ObjectStore, key: string, entry: Entry, claim: Claim) {
  const { missing, parts } = await store.planUpload(key, digestsOf(entry), { claim });
  if (missing.parts === 0 && entry.bytes > store.partBytes) {
    await store.finishUpload(key, digestsOf(entry));
  }
  return parts;
}
