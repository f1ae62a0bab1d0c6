/** The end of a run whose process was not started. */
import { HostProblem, lackOf, LaunchProblem } from "../runtime/runtime.ts";
import { isDiskFull, textOf } from "../state/layout.ts";
import type { RunFolder } from "../state/run-folder.ts";
import type { Telemetry } from "../telemetry.ts";
import { NoCode } from "./code-archives.ts";
import { BadArchive } from "./unpack.ts";

/** The shell's exit code for a command that is not executable; here also for a configuration that cannot work. */
const notExecutable = 126;

/** Records the end, unless a supervisor has claimed the run. `isKilled`: the run was stopped before its start. */
export async function endBeforeStart(
  folder: RunFolder,
  error: unknown,
  isKilled: boolean,
  events: Pick<Telemetry, "notRemoved">,
): Promise<void> {
  const notRemoved = (left: unknown): void => events.notRemoved(folder.launch.allocation, left);
  // The run will not start, and its record needs disk space, so its code is removed.
  if (isDiskFull(error)) await folder.removeWork().catch(notRemoved);
  // A supervisor that an earlier agent started may have received its order.
  if (!folder.claimAsNeverStarted()) return;
  const message = textOf(error);
  if (isKilled) {
    const never = { kind: "never_started", code: null, signal: null } as const;
    folder.recordExit({ ...never, message: "the run was stopped before it started" });
    return;
  }
  folder.say(`the run could not be started: ${message}`);
  const isOfUser = error instanceof BadArchive || error instanceof LaunchProblem;
  const code = isOfUser ? notExecutable : null;
  const kind = isOfUser ? "exited" : "not_launched";
  const isSentence = error instanceof NoCode || error instanceof HostProblem || isOfUser;
  const text = isSentence ? message : `the agent could not start it: ${message}`;
  folder.recordExit({ kind, code, signal: null, message: text, ...lackOf(error) });
}
