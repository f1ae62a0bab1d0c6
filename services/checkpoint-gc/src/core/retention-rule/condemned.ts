/**
 * Decides which checkpoints of an experiment its policy gives up. Three rankings keep their first n: the best of the
 * experiment, the best of each trial, and the latest of each trial. A checkpoint that no ranking keeps is given up. The
 * rule is that of Determined's checkpoint garbage collection, with one difference: the latest checkpoint of a trial
 * counts even if it was never validated.
 *
 * A checkpoint without a value is in no ranking by value. If its value may still arrive, it is kept, and the rankings
 * of the others do not depend on it: a value that arrives can only push others out. Of two equal values, the one with
 * fewer steps is better.
 */
import type { EventData } from "@trainyard/contracts";
import { isTaskId } from "@trainyard/kernel";
import { gcLimits } from "../../limits.ts";
import type { Policy } from "../foreign/experiment.ts";

const rankings: Readonly<Record<keyof Policy, true>> = {
  saveExperimentBest: true,
  saveTrialBest: true,
  saveTrialLatest: true,
};

export function isSamePolicy(a: Policy, b: Policy): boolean {
  return Object.keys(rankings).every((key) => a[key as keyof Policy] === b[key as keyof Policy]);
}

export type Candidate = {
  readonly checkpoint: string;
  /** The trial, or the task whose folder is saved. */
  readonly trial: string;
  readonly run: number;
  readonly step: number;
  /** The value of the searcher's metric at this step; null without a validation. */
  readonly value: number | null;
  /** The reason why the value of a checkpoint without one may still arrive, as a sentence; absent if it will not. */
  readonly awaits?: string | undefined;
};

export type Competitor = EventData<"CheckpointCondemned">["competitors"][number];

/** The result of the rankings for one checkpoint. */
export type Standing = {
  /** The rankings that keep the checkpoint, or else what is waited for, as sentences; empty if it is given up. */
  readonly keptBy: readonly string[];
  readonly competitors: readonly Competitor[];
};

/**
 * Returns the checkpoints that are given up, each with some that outrank it, by value and by steps. The candidates are
 * in the order in which they became complete.
 */
export function condemned(
  candidates: readonly Candidate[],
  policy: Policy,
  smallerIsBetter: boolean,
): ReadonlyMap<string, readonly Competitor[]> {
  const given = [...standings(candidates, policy, smallerIsBetter)].filter(
    ([, { keptBy }]) => keptBy.length === 0,
  );
  return new Map(given.map(([checkpoint, { competitors }]) => [checkpoint, competitors]));
}

/**
 * Returns the result of the rankings for every candidate, also for those that are kept. The candidates are in the order
 * in which they became complete. Takes O(n log n).
 */
export function standings(
  candidates: readonly Candidate[],
  policy: Policy,
  smallerIsBetter: boolean,
): ReadonlyMap<string, Standing> {
  // The later one comes first of two that are equal otherwise, such as two of a run at the same step.
  const newestFirst = candidates.toReversed();
  const validated = newestFirst
    .filter(({ value }) => value !== null)
    .sort((a, b) => byValue(a, b, smallerIsBetter));
  const best: Ranking = new Map(
    validated.map(({ checkpoint }, at) => [checkpoint, { ranked: validated, at }]),
  );
  const bestOfTrial = ranksByTrial(validated);
  const latestOfTrial = ranksByTrial(newestFirst.sort(byAge));
  return new Map(
    candidates.map(({ checkpoint, trial, value, awaits }) => {
      const latest = latestOfTrial.get(checkpoint);
      const ranks = [
        ...keeps(best.get(checkpoint), policy.saveExperimentBest, "best of the experiment"),
        ...keeps(bestOfTrial.get(checkpoint), policy.saveTrialBest, "best of its trial"),
        ...keeps(
          latest,
          policy.saveTrialLatest,
          `latest of its ${isTaskId(trial) ? "task" : "trial"}`,
        ),
      ];
      const waits = ranks.length === 0 && value === null && awaits !== undefined;
      const keptBy = waits ? [awaits] : ranks;
      const competitors =
        keptBy.length > 0 ? [] : evidence(ahead(best.get(checkpoint)), ahead(latest));
      return [checkpoint, { keptBy, competitors }];
    }),
  );
}

/** The place of a checkpoint in a ranking, from 0, and the ranking. */
type Rank = { readonly ranked: readonly Candidate[]; readonly at: number };
type Ranking = ReadonlyMap<string, Rank>;

function keeps(rank: Rank | undefined, first: number, what: string): readonly string[] {
  if (rank === undefined || rank.at >= first) return [];
  return [first === 1 ? `the ${what}` : `number ${rank.at + 1} of the ${first} ${what}`];
}

/** Returns the first candidates of a ranking, up to the place of the given one. */
function ahead(rank: Rank | undefined): readonly Candidate[] {
  if (rank === undefined) return [];
  return rank.ranked.slice(0, Math.min(rank.at, gcLimits.competitorsPerRanking));
}

function ranksByTrial(ranked: readonly Candidate[]): Ranking {
  return new Map(
    trialsOf(ranked).flatMap((own) =>
      own.map(({ checkpoint }, at) => [checkpoint, { ranked: own, at }] as const),
    ),
  );
}

/** Groups the candidates by trial and keeps their order. */
function trialsOf(ranked: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const trials = new Map<string, Candidate[]>();
  for (const candidate of ranked) {
    const own = trials.get(candidate.trial);
    if (own === undefined) trials.set(candidate.trial, [candidate]);
    else own.push(candidate);
  }
  return [...trials.values()];
}

function byValue(a: Candidate, b: Candidate, smallerIsBetter: boolean): number {
  const difference = (a.value ?? 0) - (b.value ?? 0);
  if (difference !== 0) return smallerIsBetter ? difference : -difference;
  if (a.step !== b.step) return a.step - b.step;
  if (a.trial !== b.trial) return a.trial < b.trial ? -1 : 1;
  return b.run - a.run;
}

/** Orders by age, latest first: more steps first; at the same step, the newest run first. */
function byAge(a: Candidate, b: Candidate): number {
  return b.step - a.step || b.run - a.run;
}

/** Returns the competitors to name: the first of the ranking by value, then the first of the ranking by steps. */
function evidence(
  better: readonly Candidate[],
  later: readonly Candidate[],
): readonly Competitor[] {
  const named = new Map<string, Competitor>();
  for (const { checkpoint, value, step } of [...better, ...later]) {
    named.set(checkpoint, { checkpoint, step, ...(value === null ? {} : { value }) });
  }
  return [...named.values()];
}
