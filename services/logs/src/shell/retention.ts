/**
 * Removes stored lines in bounded statements. All lines go once an experiment is deleted for good, or has ended and its
 * retention days are over (its configuration's days, or else the cluster's). A task has no grace: its lines go once it
 * is deleted, or has ended and the cluster's days are over. The oldest lines go when an experiment has
 * more bytes than the cluster keeps, even while it runs.
 *
 * Every replica sweeps, and looks only at what is due; removing lines twice changes nothing. Removed lines are counted,
 * and answers report the count.
 *
 * While deletions are held, only the limit of bytes removes lines: it does not depend on the log, and protects the
 * disk.
 */
import type { Clock } from "@trainyard/kernel";
import {
  type DeletionGate,
  EffectLoop,
  isDatabaseAway,
  type Lives,
  type Logger,
} from "@trainyard/runtime";
import { logsLimits } from "../limits.ts";
import type { DueLines, RetentionTable } from "./retention-table.ts";

export type RetentionSettings = {
  /** Days that lines are kept after their experiment's end; -1 keeps them forever. */
  readonly retentionDays: number;
  /** The most bytes of text that an experiment keeps; null for no limit. */
  readonly retentionBytes: number | null;
};

export type RetentionDeps = {
  readonly lives: Lives;
  readonly kept: RetentionTable;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: RetentionSettings;
  readonly hold: DeletionGate;
};

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
    const { lives, kept, clock, logger, hold, settings } = this.#deps;
    const isHeld = (await hold.reason()) !== null;
    await lives.follow(signal);
    const { retentionDays: days, retentionBytes: bytesMax } = settings;
    for (const lines of await kept.due({ nowMs: clock.nowMs(), days, bytesMax })) {
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
    { experiment, isOver }: DueLines,
    isHeld: boolean,
    signal: AbortSignal,
  ): Promise<number> {
    const { retentionBytes } = this.#deps.settings;
    if (isOver && !isHeld) return this.#removeOldest(experiment, null, signal);
    return retentionBytes === null ? 0 : this.#removeOldest(experiment, retentionBytes, signal);
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
}
