/**
 * Draws the numbers of experiments and of tasks. Each is drawn once, and those of a kind are consecutive, also after a
 * crash of PostgreSQL. A create that is refused or repeated leaves a gap, because its number is drawn before the
 * decision.
 */
import { type ExperimentId, experimentId, Fault, type TaskId, taskId } from "@trainyard/kernel";
import type { Pool } from "pg";

/** The numbers, one by one. A retryable Fault is thrown while the database is unavailable. */
export interface ExperimentIds {
  /** Draws the number of the next experiment. */
  next(): Promise<ExperimentId>;
  nextTask(): Promise<TaskId>;
}

export function postgresIds(pool: Pool): ExperimentIds {
  const draw = async (kind: "experiment" | "task"): Promise<string> => {
    try {
      const { rows } = await pool.query<{ id: string }>(
        `select experiments.next_${kind}_id() as id`,
      );
      return rows[0]?.id ?? "";
    } catch (cause) {
      throw new Fault("ids_unavailable", `no number could be drawn for the ${kind}`, {
        retry: "later",
        cause,
      });
    }
  };
  return {
    next: async () => experimentId(await draw("experiment")),
    nextTask: async () => taskId(await draw("task")),
  };
}
