import type { Plain } from "@trainyard/contracts";
import type { Task } from "@trainyard/contracts/api";

/** Returns the filter of TensorBoards that run or will run: of one person, in a cluster with users. */
export function boardsFilter(owner: string | undefined): string {
  const all = "kind = tensorboard and (state = RUNNING or state = STARTING or state = QUEUED)";
  return owner === undefined ? all : `${all} and owner = ${JSON.stringify(owner)}`;
}

type Board = Pick<Plain<Task>, "state" | "sources" | "owner">;

/**
 * Returns the caller's own TensorBoard of exactly these experiments and trials, a running one first; undefined for
 * none. Only its owner opens a task.
 */
export function boardOf<Found extends Board>(
  boards: readonly Found[],
  shown: readonly string[],
  isOwn: (owner: string) => boolean,
): Found | undefined {
  const wanted = new Set(shown);
  const own = boards.filter(
    ({ sources, owner }) =>
      isOwn(owner) &&
      new Set(sources).size === wanted.size &&
      sources.every((one) => wanted.has(one)),
  );
  return own.find(({ state }) => state === "RUNNING") ?? own[0];
}
