/** Decides which groups of an experiment's points and system samples have been kept for long enough. */

export type MetricRetention = {
  /** Days after the experiment's end; -1 for forever. */
  readonly days: number;
  /** Days of the groups with a setting of their own. */
  readonly byGroup: Readonly<Record<string, number>>;
};

export type DueGroups = {
  readonly named: readonly string[];
  /** Reports whether all groups are due that have no days of their own. */
  readonly others: boolean;
  readonly except: readonly string[];
};

const dayMs = 24 * 60 * 60 * 1_000;

/** Returns the due groups; null when no group is due. */
export function dueGroups(
  { days, byGroup }: MetricRetention,
  endedMs: number,
  nowMs: number,
): DueGroups | null {
  const isDue = (kept: number): boolean => kept >= 0 && endedMs + kept * dayMs <= nowMs;
  const except = Object.keys(byGroup);
  const named = except.filter((group) => isDue(byGroup[group] ?? -1));
  const others = isDue(days);
  return named.length > 0 || others ? { named, others, except } : null;
}

/** Reports that agents kept during an outage may arrive so long after the removal of others. */
const lateMs = 8 * dayMs;

/**
 * Returns when a sweep looks again: at once while late reports may arrive, then when the next group is due; Infinity if
 * none will be. Reports that arrive even later stay until their experiment is deleted.
 */
export function nextSweepMs(
  { days, byGroup }: MetricRetention,
  endedMs: number,
  nowMs: number,
): number {
  const dueMs = [days, ...Object.values(byGroup)]
    .filter((kept) => kept >= 0)
    .map((kept) => endedMs + kept * dayMs);
  if (dueMs.some((at) => at <= nowMs && nowMs < at + lateMs)) return nowMs;
  return Math.min(...dueMs.filter((at) => at > nowMs));
}
