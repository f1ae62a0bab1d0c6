/**
 * Draws the numbers of experiments. Each is drawn once, and they are consecutive, also after a crash of PostgreSQL. A
 * create that is refused or repeated leaves a gap, because its number is drawn before the decision.
 */
import { type ExperimentId, experimentId, Fault } from "@trainyard/kernel";
import type { Pool } from "pg";

export interface ExperimentIds {
  /** Draws the next number. Throws a retryable Fault if the database is unavailable. */
  next(): Promise<ExperimentId>;
}

export function postgresIds(pool: Pool): ExperimentIds {
  return {
    async next() {
      try {
        const { rows } = await pool.query<{ id: string }>(
          "select experiments.next_experiment_id() as id",
        );
        return experimentId(rows[0]?.id ?? "");
      } catch (cause) {
        throw new Fault("ids_unavailable", "no number could be drawn for the experiment", {
          retry: "later",
          cause,
        });
      }
    },
  };
}
