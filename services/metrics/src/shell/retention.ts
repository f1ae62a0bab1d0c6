/**
 * Removes an experiment's measurements after its end and the group's retention days: those of its configuration, or
 * else of the cluster. A sweep looks only at what is due. Removing twice changes nothing. A repeated report is still
 * recognised by its key.
 */
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import {
  type DeletionGate,
  EffectLoop,
  isDatabaseAway,
  type Lives,
  type Logger,
} from "@trainyard/runtime";
import type { Pool } from "pg";
import { dueGroups, type MetricRetention, nextSweepMs } from "../core/retention.ts";
import { metricsLimits } from "../limits.ts";
import { dueLives, type EndedLife, postponeLife, metricLives } from "./lives.ts";
import { removeGroups } from "./removal.ts";

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
  readonly #lives: Lives;
  readonly loop: EffectLoop;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
    this.#lives = metricLives(deps.pool, deps.log);
    this.loop = new EffectLoop("metric-retention", deps, async (signal) => {
      await this.sweep(signal);
      return metricsLimits.retentionLookMs;
    });
  }

  async sweep(signal: AbortSignal): Promise<void> {
    const { pool, clock, retentionDays: days, hold } = this.#deps;
    // An experiment's end, and so the age of its measurements, follow from the log.
    if ((await hold.reason()) !== null) return;
    await this.#lives.follow(signal);
    const { livesPerPage: limit } = metricsLimits;
    for (let afterId: string | undefined = ""; afterId !== undefined && !signal.aborted; ) {
      const page: readonly EndedLife[] = await dueLives(pool, {
        ...{ afterId, nowMs: clock.nowMs(), days, limit },
      });
      for (const life of page) {
        if (!signal.aborted) await this.#sweepOne(life, signal);
      }
      afterId = page.at(-1)?.id;
    }
  }

  async #sweepOne(life: EndedLife, signal: AbortSignal): Promise<void> {
    const { pool, clock, logger, retentionDays } = this.#deps;
    const { id: experiment, endedMs } = life;
    const nowMs = clock.nowMs();
    const policy = policyOf(life, retentionDays);
    const due = dueGroups(policy, endedMs, nowMs);
    try {
      const removed = due === null ? 0 : await removeGroups(pool, experiment, due, signal);
      if (removed > 0) logger.info({ experiment, removed }, "points_removed");
      if (signal.aborted) return;
      await postponeLife(pool, life, nextSweepMs(policy, endedMs, nowMs), retentionDays);
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      // The next sweep retries; the sweep continues with the other experiments.
      logger.error({ err: error, experiment }, "points_not_removed");
    }
  }
}

function policyOf({ policy }: EndedLife, clusterDays: number): MetricRetention {
  const { metric_retention_days, group_retention_days = {} } = policy;
  return { days: metric_retention_days ?? clusterDays, byGroup: group_retention_days };
}
