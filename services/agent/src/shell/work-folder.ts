/**
 * The folder of a run that keeps its work: with the packed context at the first run, with the last save at a later one.
 * It gets its name once it is whole, so that a later attempt, as after a restart of the agent, uses it as it is.
 */
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { recordedTask } from "@trainyard/experiment-config/recorded";
import {
  outsideWork,
  returned,
  tooLargeToRestore,
  type WorkLimits,
} from "../core/work-sentences.ts";
import { limits } from "../limits.ts";
import { HostProblem, LaunchProblem } from "../runtime/runtime.ts";
import { idOfRun } from "./delivery.ts";
import type { SdkHost } from "./sdk-program.ts";
import { names } from "../state/layout.ts";
import type { RunFolder } from "../state/run-folder.ts";
import { refusedStatus, runProgram, tooLargeStatus } from "./work-program.ts";

type Deps = { readonly apiUrl: string; readonly python: SdkHost; readonly work: WorkLimits };

/** Returns the folder of the run. `unpack` returns a new folder with the context. */
export async function workFolder(
  folder: RunFolder,
  deps: Deps,
  unpack: () => Promise<string>,
  onProgress: () => void,
  signal: AbortSignal,
): Promise<string> {
  const { launch, kept } = folder;
  if (existsSync(kept)) return kept;
  const isResumed = launch.latestCheckpoint !== "";
  const made = isResumed ? await restored(folder, deps, onProgress, signal) : await unpack();
  renameSync(made, kept);
  if (isResumed) folder.say(returned(launch.task?.id ?? ""));
  const { workDir } = recordedTask(JSON.parse(launch.config), launch.task?.kind ?? "");
  const outside = outsideWork(workDir, kept);
  if (outside !== null) folder.say(outside);
  return kept;
}

async function restored(
  folder: RunFolder,
  { apiUrl, python, work }: Deps,
  onProgress: () => void,
  signal: AbortSignal,
): Promise<string> {
  const { launch, owner } = folder;
  const target = folder.giveWork(folder.newWork());
  const order = {
    url: apiUrl,
    token: launch.token,
    run: idOfRun(launch),
    checkpoint: launch.latestCheckpoint,
    fetched: join(folder.saves, names.fetched),
    target,
    ...{ bytes_max: work.bytesMax, files_max: work.filesMax },
  };
  // A large save takes longer than a launch may be silent. The program itself gives up after an outage of an hour.
  const beat = setInterval(onProgress, limits.restoreBeatMs);
  const restoring = runProgram("_restore", order, { ...python, owner }, signal);
  const { status, why } = await restoring.finally(() => clearInterval(beat));
  if (status === 0) return target;
  const save = launch.latestCheckpoint;
  const message = `the save ${save} of ${launch.task?.id ?? "the task"} cannot be restored: ${why}`;
  if (status === tooLargeStatus) throw new LaunchProblem(tooLargeToRestore(message));
  if (status !== refusedStatus) throw new HostProblem(message);
  // Each resume would start from it, until the platform knows that it is damaged.
  const wayOut = `"yard checkpoint verify ${save}" records its damage, and a resume then takes the save before it`;
  throw new LaunchProblem(`${message}; ${wayOut}`);
}
