/** The tasks of an experiment: pure. */
import type { Plain } from "@trainyard/contracts";
import type { Task } from "@trainyard/contracts/api";

/** Returns a filter whose words find every task of the experiment, and some others. */
export const tasksFilter = (experiment: string): string => `"${experiment}"`;

type Named = Pick<Plain<Task>, "sources" | "name">;

/**
 * Returns the TensorBoards that show the experiment or one of its trials, and the tasks whose name has "experiment 12"
 * or "trial 12.3".
 */
export function tasksOf<Of extends Named>(tasks: readonly Of[], experiment: string): readonly Of[] {
  const named = new RegExp(`\\b(experiment|trial) ${experiment}(\\.\\d+)?(?![.\\d])`, "i");
  return tasks.filter(
    ({ sources, name }) =>
      named.test(name) ||
      sources.some((source) => source === experiment || source.startsWith(`${experiment}.`)),
  );
}
