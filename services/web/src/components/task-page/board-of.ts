import type { Plain } from "@trainyard/contracts";
import type { Task } from "@trainyard/contracts/api";

/** The filter of TensorBoards that run or will run. */
export const boardsFilter =
  "kind = tensorboard and (state = RUNNING or state = STARTING or state = QUEUED)";

type Board = Pick<Plain<Task>, "state" | "sources">;

/** Returns the TensorBoard of exactly this experiment or trial, a running one first; undefined for none. */
export function boardOf<Found extends Board>(
  boards: readonly Found[],
  source: string,
): Found | undefined {
  const own = boards.filter(({ sources }) => sources.length === 1 && sources[0] === source);
  return own.find(({ state }) => state === "RUNNING") ?? own[0];
}
