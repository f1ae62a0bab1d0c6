import type { EventLog } from "@trainyard/event-log";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import { Lives } from "@trainyard/runtime";
import type { Pool } from "pg";

/** An ended experiment that may have groups to remove. */
export type EndedLife = {
  readonly id: string;
  readonly policy: {
    readonly metric_retention_days?: number | null;
    readonly group_retention_days?: Readonly<Record<string, number>>;
  };
  readonly endedMs: number;
};

/** The ends, deletions and own days of experiments. */
export const metricLives = (pool: Pool, log: EventLog): Lives =>
  new Lives({
    ...{ pool, log, schema: "metrics" },
    policyOf: (config) => {
      const { metric_retention_days, group_retention_days } =
        recordedConfig(config).retention_policy;
      return { metric_retention_days, group_retention_days };
    },
  });

// A deletion may be undone, and `purge` removes experiments that are deleted for good.
const due = `
select id, policy, ended_ms as "endedMs" from metrics.lives
where id > $1 and ended_ms is not null and deletion = 'none'
  and (due_ms is null or due_ms <= $2 or due_days is distinct from $3)
order by id limit $4`;

export type DueQuery = {
  readonly afterId: string;
  readonly nowMs: number;
  readonly days: number;
  readonly limit: number;
};

export async function dueLives(
  pool: Pool,
  { afterId, nowMs, days, limit }: DueQuery,
): Promise<readonly EndedLife[]> {
  return (await pool.query<EndedLife>(due, [afterId, nowMs, days, limit])).rows;
}

/** Records when a sweep looks again, unless the experiment has changed. */
export async function postponeLife(
  pool: Pool,
  { id, endedMs }: EndedLife,
  dueMs: number,
  days: number,
): Promise<void> {
  const text = `update metrics.lives set due_ms = $3, due_days = $4 where id = $1 and ended_ms = $2`;
  await pool.query(text, [id, endedMs, dueMs, days]);
}
