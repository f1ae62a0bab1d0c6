/**
 * Decides which checkpoints of an experiment its policy gives up. Three rankings, each of which keeps its first n: the
 * best of the experiment, the best of each trial, the latest of each trial. What no ranking keeps is given up. Source
 * of the rule: Determined's checkpoint garbage collection; unlike there, the latest of a trial counts also when it was
 * never validated.
 *
 * A checkpoint without a value has no place in the rankings by value. Equal values: the one with fewer steps is the
 * better.
 */
import type { EventData } from "@trainyard/contracts";
import { gcLimits } from "../../limits.ts";

export type Policy = {
  readonly saveExperimentBest: number;
  readonly saveTrialBest: number;
  readonly saveTrialLatest: number;
};

export type Candidate = {
  readonly checkpoint: string;
  readonly trial: string;
  readonly run: number;
  readonly step: number;
  /** The searcher's metric, validated at this step; null for none. */
  readonly value: number | null;
};

export type Competitor = EventData<"CheckpointCondemned">["competitors"][number];

/** The rankings of one checkpoint: which of them keep it, and what outranks it if none does. */
export type Standing = {
  /** The rankings that keep it, as sentences; empty if it is given up. */
  readonly keptBy: readonly string[];
  readonly competitors: readonly Competitor[];
};

/** Those given up, each with some that outrank it: by value where it has one, else by steps. */
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

/** The same for all candidates, kept ones included; takes time in n log n. */
export function standings(
  candidates: readonly Candidate[],
  policy: Policy,
  smallerIsBetter: boolean,
): ReadonlyMap<string, Standing> {
  const validated = candidates
    .filter(({ value }) => value !== null)
    .sort((a, b) => byValue(a, b, smallerIsBetter));
  const best: Ranking = new Map(
    validated.map(({ checkpoint }, at) => [checkpoint, { ranked: validated, at }]),
  );
  const bestOfTrial = ranksByTrial(validated);
  const latestOfTrial = ranksByTrial(candidates.toSorted(byAge));
  return new Map(
    candidates.map(({ checkpoint }) => {
      const latest = latestOfTrial.get(checkpoint);
      const keptBy = [
        ...keeps(best.get(checkpoint), policy.saveExperimentBest, "best of the experiment"),
        ...keeps(bestOfTrial.get(checkpoint), policy.saveTrialBest, "best of its trial"),
        ...keeps(latest, policy.saveTrialLatest, "latest of its trial"),
      ];
      const competitors =
        keptBy.length > 0 ? [] : evidence(ahead(best.get(checkpoint)), ahead(latest));
      return [checkpoint, { keptBy, competitors }];
    }),
  );
}

/** A checkpoint's place in a ranking, from 0, and the ranking. */
type Rank = { readonly ranked: readonly Candidate[]; readonly at: number };
type Ranking = ReadonlyMap<string, Rank>;

function keeps(rank: Rank | undefined, first: number, what: string): readonly string[] {
  if (rank === undefined || rank.at >= first) return [];
  return [first === 1 ? `the ${what}` : `number ${rank.at + 1} of the ${first} ${what}`];
}

/** Some of those that come before it in a ranking. */
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

/** The candidates of each trial, in the given order. */
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
  return a.step - b.step || byId(a, b);
}

/** The latest first: most steps; of those the newest run's, which did the steps again. */
function byAge(a: Candidate, b: Candidate): number {
  return b.step - a.step || b.run - a.run || byId(a, b);
}

function byId(a: Candidate, b: Candidate): number {
  return a.checkpoint < b.checkpoint ? -1 : 1;
}

/** The first of each ranking that it lost in. */
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
