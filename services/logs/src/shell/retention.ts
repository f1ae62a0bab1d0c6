/**
 * Removes stored lines in bounded statements. All lines go once an experiment is deleted for good, or has ended and its
 * retention days are over (its configuration's days, or else the cluster's). A task has no grace: its lines go once it
 * is deleted, or has ended and the cluster's days are over. The oldest lines go when an experiment has
 * more bytes than the cluster keeps, even while it runs.
 *
 * Every replica sweeps; removing lines twice changes nothing. Removed lines are counted, and answers report the count.
 *
 * While deletions are held, only the limit of bytes removes lines: it does not depend on the log, and protects the
 * disk.
 */
import { shortNameOf } from "@trainyard/contracts";
import type { EventLog } from "@trainyard/event-log";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import { type Clock, isTaskId, streamName } from "@trainyard/kernel";
import {
  type DeletionGate,
  EffectLoop,
  experimentLife,
  isDatabaseAway,
  type Logger,
  streamEvents,
} from "@trainyard/runtime";
import { logsLimits } from "../limits.ts";
import type { StoredBytes, RetentionTable } from "./retention-table.ts";

export type RetentionSettings = {
  /** Days that lines are kept after their experiment's end; -1 keeps them forever. */
  readonly retentionDays: number;
  /** The most bytes of text that an experiment keeps; null for no limit. */
  readonly retentionBytes: number | null;
};

export type RetentionDeps = {
  readonly log: EventLog;
  readonly kept: RetentionTable;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: RetentionSettings;
  readonly hold: DeletionGate;
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
    const { kept, logger, hold } = this.#deps;
    const isHeld = (await hold.reason()) !== null;
    for (const lines of await kept.all()) {
      if (signal.aborted) return;
      const { experiment } = lines;
      try {
        const removed = await this.#sweepOne(lines, isHeld, signal);
        if (removed > 0) logger.info({ experiment, removed }, "lines_removed");
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        // The next sweep retries; the sweep continues with the other experiments.
        logger.error({ err: error, experiment }, "lines_not_removed");
      }
    }
  }

  async #sweepOne(
    { experiment, bytes }: StoredBytes,
    isHeld: boolean,
    signal: AbortSignal,
  ): Promise<number> {
    const { retentionBytes } = this.#deps.settings;
    const life = await this.#lifeOf(experiment);
    // A deletion in its grace may be undone, which restores all lines.
    if (life === "resting") return 0;
    if (life === "over" && !isHeld) return this.#removeOldest(experiment, null, signal);
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

  /**
   * Returns `over` for an experiment past its retention days or deleted for good, `resting` for one whose deletion may
   * be undone.
   */
  async #lifeOf(experiment: string): Promise<"kept" | "resting" | "over"> {
    const { log, settings } = this.#deps;
    if (isTaskId(experiment)) return this.#lifeOfTask(experiment);
    const { config, endedMs, deletion } = await experimentLife(log, experiment);
    if (deletion !== "none") return deletion === "done" ? "over" : "resting";
    const days =
      recordedConfig(config).retention_policy.log_retention_days ?? settings.retentionDays;
    return this.#isOver(endedMs, days) ? "over" : "kept";
  }

  async #lifeOfTask(task: string): Promise<"kept" | "over"> {
    const { log, settings } = this.#deps;
    let endedMs: number | null = null;
    for await (const { type, timeMs } of streamEvents(log, streamName("task", task))) {
      if (shortNameOf(type) === "TaskDeleted") return "over";
      if (shortNameOf(type) === "TaskEnded") endedMs = timeMs;
      if (shortNameOf(type) === "TaskResumed") endedMs = null;
    }
    return this.#isOver(endedMs, settings.retentionDays) ? "over" : "kept";
  }

  #isOver(endedMs: number | null, days: number): boolean {
    return days >= 0 && endedMs !== null && endedMs + days * dayMs <= this.#deps.clock.nowMs();
  }
}
