import type { Plain } from "@trainyard/contracts";
import type { Task } from "@trainyard/contracts/api";

/** The filter of TensorBoards that run or will run. */
export const boardsFilter =
  "kind = tensorboard and (state = RUNNING or state = STARTING or state = QUEUED)";

type Board = Pick<Plain<Task>, "state" | "sources">;

/** Returns the TensorBoard of exactly these experiments and trials, a running one first; undefined for none. */
export function boardOf<Found extends Board>(
  boards: readonly Found[],
  shown: readonly string[],
): Found | undefined {
  const wanted = new Set(shown);
  const own = boards.filter(
    ({ sources }) =>
      new Set(sources).size === wanted.size && sources.every((one) => wanted.has(one)),
  );
  return own.find(({ state }) => state === "RUNNING") ?? own[0];
}
