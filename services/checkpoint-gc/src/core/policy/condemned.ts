/**
 * Which of an experiment's checkpoints its policy gives up. Three rankings, each of which keeps its first n: the best of
 * the experiment, the best of each trial, the latest of each trial. What no ranking keeps is given up. Source of the rule:
 * Determined's checkpoint garbage collection; unlike there, the latest of a trial counts also when it was never validated.
 *
 * A checkpoint without a value has no place in the rankings by value. Equal values: the one with fewer steps is the better.
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

/** Those given up, each with some that outrank it: by value where it has one, else by steps. */
export function condemned(
  candidates: readonly Candidate[],
  policy: Policy,
  smallerIsBetter: boolean,
): ReadonlyMap<string, readonly Competitor[]> {
  const validated = candidates
    .filter(({ value }) => value !== null)
    .sort((a, b) => byValue(a, b, smallerIsBetter));
  const latest = candidates.toSorted(byAge);
  const kept = new Set<string>();
  for (const { checkpoint } of validated.slice(0, policy.saveExperimentBest)) kept.add(checkpoint);
  for (const best of trialsOf(validated)) keep(kept, best, policy.saveTrialBest);
  const latestOfTrial = new Map(trialsOf(latest).map((own) => [own[0]?.trial ?? "", own]));
  for (const own of latestOfTrial.values()) keep(kept, own, policy.saveTrialLatest);
  const rank = new Map(validated.map(({ checkpoint }, index) => [checkpoint, index]));
  const given = candidates.filter(({ checkpoint }) => !kept.has(checkpoint));
  return new Map(
    given.map(({ checkpoint, trial }) => {
      const better = validated.slice(0, rank.get(checkpoint) ?? 0);
      const own = latestOfTrial.get(trial) ?? [];
      const later = own.slice(
        0,
        own.findIndex((other) => other.checkpoint === checkpoint),
      );
      return [checkpoint, evidence(better, later)];
    }),
  );
}

function keep(kept: Set<string>, ranked: readonly Candidate[], first: number): void {
  for (const { checkpoint } of ranked.slice(0, first)) kept.add(checkpoint);
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
  const each = gcLimits.competitorsPerRanking;
  const named = new Map<string, Competitor>();
  for (const { checkpoint, value, step } of [...better.slice(0, each), ...later.slice(0, each)]) {
    named.set(checkpoint, { checkpoint, step, ...(value === null ? {} : { value }) });
  }
  return [...named.values()];
}
