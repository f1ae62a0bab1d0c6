/**
 * Removes an experiment's measurements after its end and the group's retention days: those of its configuration, or
 * else of the cluster. Removing twice changes nothing. A repeated report is still recognised by its key.
 */
import type { EventLog } from "@trainyard/event-log";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import type { Clock } from "@trainyard/kernel";
import {
  type DeletionGate,
  EffectLoop,
  experimentLife,
  isDatabaseAway,
  type Logger,
} from "@trainyard/runtime";
import type { Pool } from "pg";
import { dueGroups, type MetricRetention } from "../core/retention.ts";
import { metricsLimits } from "../limits.ts";
import { experimentAfter, removeGroups } from "./removal.ts";

export type RetentionDeps = {
  readonly log: EventLog;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The cluster's days after an experiment's end; -1 keeps measurements forever. */
  readonly retentionDays: number;
  readonly hold: DeletionGate;
};

export class Retention {
  readonly #deps: RetentionDeps;
  readonly loop: EffectLoop;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
    this.loop = new EffectLoop("metric-retention", deps, async (signal) => {
      await this.sweep(signal);
      return metricsLimits.retentionLookMs;
    });
  }

  async sweep(signal: AbortSignal): Promise<void> {
    const { pool, logger, hold } = this.#deps;
    // An experiment's end, and so the age of its measurements, follow from the log.
    if ((await hold.reason()) !== null) return;
    let experiment = await experimentAfter(pool, "");
    while (experiment !== null && !signal.aborted) {
      try {
        const removed = await this.#sweepOne(experiment, signal);
        if (removed > 0) logger.info({ experiment, removed }, "points_removed");
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        // The next sweep retries; the sweep continues with the other experiments.
        logger.error({ err: error, experiment }, "points_not_removed");
      }
      experiment = await experimentAfter(pool, experiment);
    }
  }

  async #sweepOne(experiment: string, signal: AbortSignal): Promise<number> {
    const { log, pool, clock, retentionDays } = this.#deps;
    const { config, endedMs, deletion } = await experimentLife(log, experiment);
    // A deletion may be undone, and `purge` removes experiments that are deleted for good.
    if (endedMs === null || deletion !== "none") return 0;
    const due = dueGroups(policyOf(config, retentionDays), endedMs, clock.nowMs());
    return due === null ? 0 : removeGroups(pool, experiment, due, signal);
  }
}

function policyOf(config: unknown, clusterDays: number): MetricRetention {
  const { metric_retention_days, group_retention_days } = recordedConfig(config).retention_policy;
  return { days: metric_retention_days ?? clusterDays, byGroup: group_retention_days };
}
