/**
 * Removes lines in bounded statements: all of an experiment that was deleted for good, or once it has ended for as many
 * days as its configuration says, or the cluster where it says nothing; and the oldest of one that has more bytes than
 * the cluster keeps, while it runs too. Each replica looks, and removing twice changes nothing. What was removed is
 * counted, so that reads can say so.
 */
import type { EventLog } from "@trainyard/event-log";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import type { Clock } from "@trainyard/kernel";
import { EffectLoop, experimentLife, isDatabaseAway, type Logger } from "@trainyard/runtime";
import { logsLimits } from "../limits.ts";
import type { KeptLines, KeptTable } from "./kept-table.ts";

export type RetentionSettings = {
  /** After the experiment's end; -1 forever. */
  readonly retentionDays: number;
  /** The maximum of text of an experiment's lines; null for no limit. */
  readonly retentionBytes: number | null;
};

export type RetentionDeps = {
  readonly log: EventLog;
  readonly kept: KeptTable;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: RetentionSettings;
};

const dayMs = 24 * 60 * 60 * 1_000;

export class Retention {
  readonly #deps: RetentionDeps;
  readonly loop: EffectLoop;

  constructor(deps: RetentionDeps) {
    this.#deps = deps;
    this.loop = new EffectLoop("log-retention", deps, async (signal) => {
      await this.sweep(signal);
      return logsLimits.retentionLookMs;
    });
  }

  async sweep(signal: AbortSignal): Promise<void> {
    const { kept, logger } = this.#deps;
    for (const lines of await kept.all()) {
      if (signal.aborted) return;
      const { experiment } = lines;
      try {
        const removed = await this.#sweepOne(lines, signal);
        if (removed > 0) logger.info({ experiment, removed }, "lines_removed");
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        // The next look tries again; the other experiments do not wait for it.
        logger.error({ err: error, experiment }, "lines_not_removed");
      }
    }
  }

  async #sweepOne({ experiment, bytes }: KeptLines, signal: AbortSignal): Promise<number> {
    const { retentionBytes } = this.#deps.settings;
    const life = await this.#lifeOf(experiment);
    // It may be brought back as it was.
    if (life === "resting") return 0;
    if (life === "over") return this.#removeOldest(experiment, null, signal);
    if (retentionBytes === null || bytes <= retentionBytes) return 0;
    return this.#removeOldest(experiment, retentionBytes, signal);
  }

  async #removeOldest(
    experiment: string,
    bytesKept: number | null,
    signal: AbortSignal,
  ): Promise<number> {
    let removed = 0;
    for (let more = true; more && !signal.aborted; ) {
      const lines = await this.#deps.kept.removeOldest(experiment, bytesKept);
      removed += lines;
      more = lines > 0;
    }
    return removed;
  }

  /** over: it has ended and its days are over, or it is deleted. resting: its deletion may be taken back. */
  async #lifeOf(experiment: string): Promise<"kept" | "resting" | "over"> {
    const { log, clock, settings } = this.#deps;
    const { config, endedMs, deletion } = await experimentLife(log, experiment);
    if (deletion !== "none") return deletion === "done" ? "over" : "resting";
    const days =
      recordedConfig(config).retention_policy.log_retention_days ?? settings.retentionDays;
    const isOver = days >= 0 && endedMs !== null && endedMs + days * dayMs <= clock.nowMs();
    return isOver ? "over" : "kept";
  }
}
