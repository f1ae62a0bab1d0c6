import { checkpointFolder, checkpointStorage, isStorageId } from "@trainyard/blob";
import type { Plain } from "@trainyard/contracts";
import type { DeclareCheckpoint, UploadPlan } from "@trainyard/contracts/commands";
import {
  assert,
  isCheckpointId,
  isRejection,
  parseTrialId,
  type Rejection,
  reject,
  streamName,
} from "@trainyard/kernel";
import type { CommandContext } from "@trainyard/runtime";
import type { Declared } from "../core/checkpoint/state.ts";
import { refusalOf } from "../core/foreign/trial.ts";
import { registryLimits } from "../limits.ts";
import type { CommandDeps } from "./commands.ts";
import { checkpoints, experimentStorage, trialRuns } from "./streams.ts";

type Storage = NonNullable<Declared["storage"]>;

/** Announces a checkpoint of a trial's newest run, and names the folder for its files. A repeat answers the same. */
export async function declareCheckpoint(
  deps: CommandDeps,
  request: Plain<DeclareCheckpoint>,
  { identity }: CommandContext,
): Promise<Plain<UploadPlan> | Rejection> {
  const { checkpoint, trial, run, step, format, metadata, storageId } = request;
  const parts = parseTrialId(trial);
  if (parts === null) return reject("trial_not_found", `there is no trial ${trial}`);
  const problem = problemOf(request);
  if (problem !== null) return reject("invalid_request", problem);
  const { executor } = deps;
  // A refusal is not checked by a guard, so it must not rest on what was read a while ago.
  executor.cache.forget(streamName("trial", trial));
  let path: string | null = null;
  const result = await executor.execute(identity, async (work) => {
    const refusal = refusalOf(await work.guard(trialRuns, trial), trial, run);
    if (refusal !== null) return refusal;
    const configured = (await work.load(experimentStorage, parts.experiment)).storage;
    const storage: Storage = checkpointStorage(configured, deps.checkpointDir);
    path = checkpointFolder(storage, checkpoint);
    if (path === null) {
      const detail = `checkpoints of experiment ${parts.experiment} go to no directory`;
      return reject("storage_unsupported", detail);
    }
    const more = { ...(metadata && { metadata }), ...(storageId && { storageId }) };
    const declared = { trial, run, step, storage, format, ...more };
    const decided = await work.decide(checkpoints, checkpoint, { kind: "declare", declared });
    return isRejection(decided) ? decided : undefined;
  });
  if (isRejection(result)) return result;
  assert(path !== null, "an accepted declaration has a folder");
  deps.events.declared(checkpoint);
  return { checkpoint, path, position: result.position };
}

function problemOf({
  checkpoint,
  step,
  metadata,
  storageId,
}: Plain<DeclareCheckpoint>): string | null {
  if (!isCheckpointId(checkpoint)) return "checkpoint must be a UUID in lower case";
  if (!Number.isFinite(step) || step < 0) return "the steps completed must be a number from 0";
  if (storageId && !isStorageId(storageId)) return "storage_id must be a UUID in lower case";
  const { metadataCharactersMax } = registryLimits;
  const characters = metadata === undefined ? 0 : JSON.stringify(metadata).length;
  if (characters <= metadataCharactersMax) return null;
  return `the metadata has ${characters} characters as JSON and may have ${metadataCharactersMax}: put it into a file of the checkpoint`;
}
