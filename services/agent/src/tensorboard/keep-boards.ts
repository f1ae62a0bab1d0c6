/**
 * Keeps the files of a TensorBoard's run up to date: a pass at its start, and then at most every 30 s while somebody
 * looks at the page. Nothing is asked for a page that nobody looks at.
 */
import { type Clock, pause } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import type { Telemetry } from "../telemetry.ts";
import { passOnce, type PassDeps, type PassResult } from "./board-pass.ts";
import { BoardsAway } from "./board-source.ts";

export type BoardDeps = PassDeps & {
  readonly allocation: string;
  readonly clock: Clock;
  readonly events: Pick<Telemetry, "boardsWait">;
  /**
   * Returns the seconds since the last request of a person to the page; null if there was none. Throws while the server
   * does not answer, which counts as looked at.
   */
  readonly lookedAtSeconds: (signal: AbortSignal) => Promise<number | null>;
  /** Writes a line to the run's log. */
  readonly note: (line: string) => void;
};

/** Resolves when the run has no right to the files any more, or when the signal aborts. */
export async function keepBoards(deps: BoardDeps, signal: AbortSignal): Promise<void> {
  const { clock, allocation, events } = deps;
  const said = new Set<string>();
  const note = (line: string): void => {
    if (said.has(line)) return;
    said.add(line);
    deps.note(line);
  };
  let isAway = false;
  while (!signal.aborted) {
    let isComplete = true;
    try {
      for (const line of linesOf(await passOnce(deps, signal), deps.bytesMax)) note(line);
      isAway = false;
    } catch (error) {
      if (signal.aborted || (error instanceof BoardsAway && error.over)) return;
      // A copy may have been cut off.
      deps.folder.forget();
      isComplete = false;
      events.boardsWait(allocation, error, isAway);
      if (!isAway) note(`the TensorBoard files cannot be fetched now: ${reasonOf(error)}`);
      isAway = true;
    }
    await pause(clock, limits.boards.passMs, signal);
    while (isComplete && !signal.aborted && !(await isLookedAt(deps, signal))) {
      await pause(clock, limits.boards.lookMs, signal);
    }
  }
}

function linesOf(
  { withoutFiles, leftOut, problems }: PassResult,
  bytesMax: number,
): readonly string[] {
  const absent = withoutFiles.map(
    (experiment) =>
      `experiment ${experiment} has no TensorBoard files yet: they appear here when its trials write some`,
  );
  const unread = problems.map((problem) => `some TensorBoard files are missing: ${problem}`);
  if (leftOut === null) return [...absent, ...unread];
  const full = `the TensorBoard files from trial ${leftOut} on are left out: this agent keeps ${bytesMax} bytes for a TensorBoard (TRAINYARD_AGENT_TENSORBOARD_BYTES) and ${limits.boards.filesMax} files`;
  return [...absent, ...unread, full];
}

async function isLookedAt({ lookedAtSeconds }: BoardDeps, signal: AbortSignal): Promise<boolean> {
  try {
    const seconds = await lookedAtSeconds(signal);
    return seconds !== null && seconds * 1_000 < limits.boards.lookedAtMs;
  } catch {
    // The server starts, or is too busy to answer.
    return true;
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
