/**
 * Makes the folders of TensorBoard files that runs share, and sends the files that an ended process left in its run's
 * folder to their object store, with the program that sends checkpoints: files that the store has are not sent again.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { StoragePlaces } from "../core/environment.ts";
import type { RunFolder } from "../state/run-folder.ts";
import { sayOnce, untilAnswered } from "../runtime/until-answered.ts";
import { pythonIn } from "../supervisor/python.ts";
import { makeTensorBoardFolders } from "../users/tensorboard-folders.ts";
import {
  areTensorBoardsSent,
  type CheckpointDeps,
  checkpointRootOf,
  storagePlaces,
} from "./checkpoint-delivery.ts";
import { uploadCheckpoint } from "./checkpoint-upload.ts";
import { inRounds } from "./delivery.ts";

/**
 * Returns the storages of a run; of a task only that of its saves. Where runs have users of their own, the shared
 * folders of TensorBoard files exist.
 */
export async function openStorages(
  folder: RunFolder,
  agent: Parameters<typeof storagePlaces>[1] & { readonly agent: string },
  signal: AbortSignal,
): Promise<StoragePlaces> {
  const { owner, launch, isTask, keepsWork } = folder;
  if (isTask) {
    const none = { checkpointRoot: null, uploadDiskShare: null, tensorboardRoot: null };
    return { ...none, saveRoot: keepsWork ? checkpointRootOf(launch, agent.checkpointDir) : null };
  }
  if (owner !== null && agent.checkpointDir !== "") {
    const waits = sayOnce((text) => folder.say(text), agent.agent);
    await untilAnswered(pythonIn(), [agent.checkpointDir], waits, signal);
    makeTensorBoardFolders(agent.checkpointDir, launch.log);
  }
  return storagePlaces(launch, agent);
}

/** Resolves when all files are sent or refused for good, or when the signal aborts. */
export async function syncTensorBoard(deps: CheckpointDeps, signal: AbortSignal): Promise<void> {
  const { folder, apiUrl, python, clock, events } = deps;
  const { trial, run, token, allocation } = folder.launch;
  const files = join(folder.runDir, "tensorboard");
  if (!areTensorBoardsSent(folder.launch) || !existsSync(files)) return;
  const order = { url: apiUrl, token, run: `${trial}#${run}`, checkpoint: "", manifest: [] };
  let isWaiting = false;
  await inRounds(clock, signal, async () => {
    const end = await uploadCheckpoint({ ...order, folder: files }, python, folder.owner, signal);
    if (end.kind === "refused") events.tensorBoardRefused(allocation, end.why);
    if (end.kind !== "later") return "over";
    if (!signal.aborted) events.checkpointsWait(allocation, end.why, isWaiting);
    isWaiting = true;
    return 0;
  });
}
