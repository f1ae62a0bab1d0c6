/** Finds the runs that must end before a demand fits. */
import type { PoolAgents } from "./agents.ts";
import { conditionsOf } from "./constraints.ts";
import type { Demand, Share } from "./demand.ts";
import { schedulingLimits } from "./limits.ts";
import type { PlacedRun } from "./placed.ts";
import type { Pool } from "./pool.ts";
import type { Trial } from "./trial.ts";

export type Room = { readonly runs: readonly PlacedRun[]; readonly shares: readonly Share[] };

/**
 * Releases candidates in order until the demand fits, then puts back those whose release was unnecessary. Returns the
 * runs that remain released; null if the demand does not fit without all candidates. All changes are undone.
 */
export function makeRoom(
  trial: Trial,
  demand: Demand,
  candidates: Iterable<PlacedRun>,
  fits: () => readonly Share[] | null,
): Room | null {
  return trial.attempt(() => {
    const isOnOne = demand.singleAgent || demand.slots === 1;
    const first = isOnOne
      ? releaseOnOne(trial, demand, candidates, fits)
      : releaseInTurn(trial, candidates, fits);
    if (first === null) return null;
    const { gone } = first;
    let { shares } = first;
    // Runs are put back in reverse order of their release, if the demand still fits.
    const used = new Set(shares.map(({ agent }) => agent));
    const apart = gone.filter(({ had }) => !had.some(({ agent }) => used.has(agent)));
    for (const { run, had } of apart) trial.hold(run.demand.id, had);
    const runs: PlacedRun[] = [];
    for (const { run, had } of gone.filter((one) => !apart.includes(one)).toReversed()) {
      const { mark } = trial;
      trial.hold(run.demand.id, had);
      const without = fits();
      if (without !== null) {
        shares = without;
        continue;
      }
      trial.rewind(mark);
      runs.push(run);
    }
    return { runs: runs.toReversed(), shares };
  });
}

type Gone = { readonly run: PlacedRun; readonly had: readonly Share[] };
type Released = { readonly gone: readonly Gone[]; readonly shares: readonly Share[] };

/** Releases one candidate after the other until the demand fits. */
function releaseInTurn(
  trial: Trial,
  candidates: Iterable<PlacedRun>,
  fits: () => readonly Share[] | null,
): Released | null {
  const gone: Gone[] = [];
  for (const run of candidates) {
    const had = trial.release(run.demand.id);
    if (had.length === 0) continue;
    gone.push({ run, had });
    const shares = fits();
    if (shares !== null) return { gone, shares };
  }
  return null;
}

/** Like `releaseInTurn` for a run on one agent: releases only runs of an agent that then has enough free slots. */
function releaseOnOne(
  trial: Trial,
  { slots }: Demand,
  candidates: Iterable<PlacedRun>,
  fits: () => readonly Share[] | null,
): Released | null {
  const { agents } = trial;
  const byAgent = new Map<string, { free: number; readonly gone: Gone[] }>();
  for (const run of candidates) {
    const had = agents.sharesOf(run.demand.id);
    for (const share of had) {
      const here = byAgent.get(share.agent) ?? {
        free: agents.freeOf(share.agent, Number.POSITIVE_INFINITY).length,
        gone: [],
      };
      byAgent.set(share.agent, here);
      here.free += share.slots.length;
      here.gone.push({ run, had });
      if (here.free < slots) continue;
      const { mark } = trial;
      for (const one of here.gone) trial.release(one.run.demand.id);
      const shares = fits();
      if (shares !== null) return { gone: here.gone, shares };
      trial.rewind(mark);
    }
  }
  return null;
}

/**
 * The placed runs in the order in which they are likely to end: stopping runs, runs with a time limit, then agent by
 * agent, the agents with the most free slots first. A gang gets slots sooner on few agents. Stuck runs are left out.
 */
export function* soonest(
  { placed, agents }: Pool,
  wanted: Demand,
  nowMs: number,
): Generator<PlacedRun> {
  const seen = new Set<string>();
  const isNew = ({ demand, stuck }: PlacedRun): boolean =>
    !stuck && !seen.has(demand.id) && !!seen.add(demand.id);
  const freest = freestFor(agents, wanted);
  yield* placed.stoppingRuns.filter(isNew);
  let left: number = schedulingLimits.limitedLookedAtMax;
  for (const run of placed.soonestToEnd(nowMs)) {
    if (left === 0) break;
    left -= 1;
    if (isNew(run)) yield run;
  }
  const runsOn = (agent: string): readonly PlacedRun[] =>
    inOrder([...agents.holdersOf(agent)].flatMap((holder) => placed.get(holder) ?? [])).filter(
      isNew,
    );
  for (const agent of freest) yield* runsOn(agent);
  for (const { demand } of placed.all()) {
    for (const { agent } of agents.sharesOf(demand.id)) yield* runsOn(agent);
  }
}

/** The agents with the most free slots that suit a demand. */
function freestFor(agents: PoolAgents, { constraints }: Demand): readonly string[] {
  const freest: { readonly ordinal: number; readonly free: number }[] = [];
  for (const [, tiers] of agents.view(conditionsOf(constraints).alone).groups) {
    for (const tier of tiers) {
      let left: number = schedulingLimits.freestLookedAtMax;
      for (const one of tier.byMostFree()) {
        if (left === 0) break;
        left -= 1;
        freest.push(one);
      }
    }
  }
  freest.sort((a, b) => b.free - a.free);
  return freest
    .slice(0, schedulingLimits.freestLookedAtMax)
    .map(({ ordinal }) => agents.idOf(ordinal));
}

/** Returns the slots that the last pass reserved for the run, if all still exist and its constraints admit them. */
export function lastReservation(
  { kept, placed, agents }: Pool,
  trial: Trial,
  { id, constraints }: Demand,
): readonly Share[] | null {
  if (kept?.id !== id || !agents.admits(kept.shares, constraints)) return null;
  const areThere = trial.attempt(() =>
    kept.shares.every(({ agent, slots }) => {
      for (const holder of [...agents.holdersOf(agent)]) {
        if (placed.get(holder)?.stuck === false) trial.release(holder);
      }
      const free = agents.freeOf(agent, Number.POSITIVE_INFINITY);
      return slots.every((slot) => free.includes(slot));
    }),
  );
  return areThere ? kept.shares : null;
}

/** The placed runs that hold some of these slots. */
export function holdersIn(
  { placed, agents }: Pool,
  shares: readonly Share[],
): readonly PlacedRun[] {
  const runs = new Map<string, PlacedRun>();
  for (const { agent, slots } of shares) {
    for (const holder of agents.holdersOf(agent)) {
      const run = placed.get(holder);
      if (run === undefined) continue;
      const its = agents.sharesOf(holder).find((share) => share.agent === agent)?.slots ?? [];
      if (its.some((slot) => slots.includes(slot))) runs.set(holder, run);
    }
  }
  return inOrder([...runs.values()]);
}

/** Sorts runs by their grants, because each trial changes the order of an agent's holders. */
function inOrder(runs: readonly PlacedRun[]): readonly PlacedRun[] {
  return runs.toSorted((a, b) => a.order - b.order);
}
