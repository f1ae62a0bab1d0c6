/**
 * What successive halving remembers, and how the search's events change it. Each trial has a place: its bracket, the rung
 * it is on its way to, and what it brought there. A trial that has brought a value to its rung is due: the decision that
 * follows in the same commit takes it on (TrialResumed), suspends it or stops it. A rung keeps all that came to it, and
 * apart from these the ones that wait there and can be promoted.
 *
 * Values are ranked smaller first, whatever the direction. What is not finite, and what ended before its rung, counts as
 * the largest number and is never promoted. Of equal values the earlier arrival is the better, save in the stopping
 * form, where it is the later one (as in Determined), so that equal trials all go on.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import { assert } from "@trainyard/kernel";
import { entryAt, inserted, placeOf, type Ranking, removed, sizeOf } from "../ranking.ts";
import { emptyVector, itemAt, pushed, type Vector, withItem } from "../vector.ts";
import type { HalvingPlan } from "./plan.ts";

/** What counts as worse than any value. */
export const WORST = Number.MAX_VALUE;

export type Rung = {
  /** All that came here. */
  readonly all: Ranking;
  /** The suspended among them that can be promoted. */
  readonly waiting: Ranking;
  /** How many have come here so far, also those that were taken out again. */
  readonly arrivals: number;
  /** How many trials are on their way here. */
  readonly coming: number;
};

export type Bracket = {
  /** Proposed, and not given back because its hyperparameters were invalid. */
  readonly created: number;
  /** Wanted to run and not ended. */
  readonly active: number;
  readonly rungs: readonly Rung[];
};

export type PlaceState = "coming" | "due" | "waiting" | "over";

export type Place = {
  readonly bracket: number;
  readonly rung: number;
  readonly state: PlaceState;
  /** The last time that it was observed at, and the value there as it is ranked. */
  readonly time: number;
  readonly value: number;
  /** What it brought to rung i, at i. */
  readonly brought: readonly (readonly [value: number, order: number])[];
};

export type Halving = {
  readonly plan: HalvingPlan;
  readonly brackets: readonly Bracket[];
  /** That of trial n at n - 1. */
  readonly places: Vector<Place>;
  /** Trials that were replaced because their hyperparameters were invalid. */
  readonly replaced: number;
  /** No further trial will be proposed. */
  readonly finished: boolean;
};

const noTrialYet: Rung = { all: null, waiting: null, arrivals: 0, coming: 0 };

export function emptyHalving(plan: HalvingPlan): Halving {
  return {
    plan,
    brackets: plan.brackets.map(({ units }) => ({
      created: 0,
      active: 0,
      rungs: units.map(() => noTrialYet),
    })),
    places: emptyVector(),
    replaced: 0,
    finished: false,
  };
}

export function placeOfTrial(halving: Halving, trial: number): Place {
  const place = itemAt(halving.places, trial - 1);
  assert(place !== undefined, `trial ${trial} has a place`);
  return place;
}

export function rungOf(halving: Halving, bracket: number, rung: number): Rung {
  return halving.brackets[bracket]?.rungs[rung] ?? noTrialYet;
}

export function unitsOf(halving: Halving, bracket: number, rung: number): number {
  return halving.plan.brackets[bracket]?.units[rung] ?? Number.POSITIVE_INFINITY;
}

export function isTopRung(halving: Halving, { bracket, rung }: Place): boolean {
  return rung + 1 >= (halving.plan.brackets[bracket]?.units.length ?? 0);
}

export function activeTrials({ brackets }: Halving): number {
  return brackets.reduce((sum, { active }) => sum + active, 0);
}

/** Whether the bracket may have one more trial running. */
export function hasRoom(halving: Halving, bracket: number): boolean {
  const { plan, brackets } = halving;
  const own = plan.brackets[bracket]?.concurrent ?? 0;
  return (brackets[bracket]?.active ?? own) < own && activeTrials(halving) < plan.concurrent;
}

export function mayCreate(halving: Halving, bracket: number): boolean {
  const { plan, brackets, finished } = halving;
  if (finished) return false;
  return (brackets[bracket]?.created ?? 0) < (plan.brackets[bracket]?.trials ?? 0);
}

/** The bracket that the next proposed trial belongs to: the first that has room for it; -1 for none. */
export function nextBracket(halving: Halving): number {
  return halving.brackets.findIndex((_, i) => mayCreate(halving, i) && hasRoom(halving, i));
}

function withPlace(halving: Halving, trial: number, place: Place): Halving {
  return { ...halving, places: withItem(halving.places, trial - 1, place) };
}

function withBracket(halving: Halving, index: number, change: Partial<Bracket>): Halving {
  const brackets = halving.brackets.map((bracket, i) =>
    i === index ? { ...bracket, ...change } : bracket,
  );
  return { ...halving, brackets };
}

function withRung(halving: Halving, bracket: number, index: number, change: Partial<Rung>) {
  const rungs = halving.brackets[bracket]?.rungs ?? [];
  return withBracket(halving, bracket, {
    rungs: rungs.map((rung, i) => (i === index ? { ...rung, ...change } : rung)),
  });
}

function activated(halving: Halving, bracket: number, by: number): Halving {
  const active = (halving.brackets[bracket]?.active ?? 0) + by;
  return withBracket(halving, bracket, { active });
}

/** TrialProposed. */
export function proposed(halving: Halving): Halving {
  const bracket = nextBracket(halving);
  assert(bracket >= 0, "a trial is proposed where a bracket has room for it");
  const place: Place = {
    bracket,
    rung: 0,
    state: "coming",
    time: Number.MIN_SAFE_INTEGER,
    value: WORST,
    brought: [],
  };
  const created = (halving.brackets[bracket]?.created ?? 0) + 1;
  const grown = { ...halving, places: pushed(halving.places, place) };
  const counted = withBracket(grown, bracket, { created });
  return cameUp(activated(counted, bracket, 1), place, 1);
}

function cameUp(halving: Halving, { bracket, rung }: Place, by: number): Halving {
  const coming = rungOf(halving, bracket, rung).coming + by;
  return withRung(halving, bracket, rung, { coming });
}

/** ObservationRecorded: the value as it is ranked. What comes late, or is of a trial that is not wanted, is nothing. */
export function observed(halving: Halving, trial: number, time: number, value: number): Halving {
  const place = placeOfTrial(halving, trial);
  if (place.state !== "coming" || time <= place.time) return halving;
  return arrived(halving, trial, { ...place, time, value });
}

function arrived(halving: Halving, trial: number, place: Place): Halving {
  if (place.time < unitsOf(halving, place.bracket, place.rung)) {
    return withPlace(halving, trial, place);
  }
  return entered(halving, trial, place, place.value, "due");
}

function entered(
  halving: Halving,
  trial: number,
  place: Place,
  value: number,
  state: PlaceState,
): Halving {
  const { bracket, rung } = place;
  const before = rungOf(halving, bracket, rung);
  const order = halving.plan.form === "stop" ? 0 - before.arrivals : before.arrivals;
  const brought = [...place.brought, [value, order] as const];
  const after = withRung(halving, bracket, rung, {
    all: inserted(before.all, { value, order, trial }),
    arrivals: before.arrivals + 1,
    coming: before.coming - 1,
  });
  return withPlace(after, trial, { ...place, brought, state });
}

/** TrialResumed: on to the next rung, and into it where the last observation was of that time already. */
export function promoted(halving: Halving, trial: number): Halving {
  const place = placeOfTrial(halving, trial);
  const running = place.state === "waiting" ? activated(halving, place.bracket, 1) : halving;
  const left = withoutWaiting(running, trial, place);
  const next: Place = { ...place, rung: place.rung + 1, state: "coming" };
  return arrived(cameUp(left, next, 1), trial, next);
}

/** TrialSuspended. */
export function suspended(halving: Halving, trial: number): Halving {
  const place = placeOfTrial(halving, trial);
  const { bracket, rung } = place;
  const [value, order] = place.brought[rung] ?? [WORST, 0];
  const waiting = inserted(rungOf(halving, bracket, rung).waiting, { value, order, trial });
  const kept = withRung(halving, bracket, rung, { waiting });
  return withPlace(activated(kept, bracket, -1), trial, { ...place, state: "waiting" });
}

function withoutWaiting(halving: Halving, trial: number, place: Place): Halving {
  const entry = place.state === "waiting" ? place.brought[place.rung] : undefined;
  if (entry === undefined) return halving;
  const [value, order] = entry;
  const { waiting } = rungOf(halving, place.bracket, place.rung);
  return withRung(halving, place.bracket, place.rung, {
    waiting: removed(waiting, { value, order, trial }),
  });
}

/** TrialStopDecided. */
export function stopped(halving: Halving, trial: number): Halving {
  const place = placeOfTrial(halving, trial);
  if (place.state === "over") return halving;
  const left = withoutWaiting(halving, trial, place);
  const quiet = place.state === "waiting" ? left : activated(left, place.bracket, -1);
  const gone = place.state === "coming" ? cameUp(quiet, place, -1) : quiet;
  return withPlace(gone, trial, { ...place, state: "over" });
}

/**
 * TrialOutcomeRecorded. Invalid hyperparameters take the trial out of every rung; `replaceable` gives its place in the
 * bracket to another. A trial that was on its way to a rung comes there as the worst.
 */
export function ended(
  halving: Halving,
  trial: number,
  outcome: TrialOutcome,
  replaceable: boolean,
): Halving {
  const place = placeOfTrial(halving, trial);
  if (outcome === TrialOutcome.INVALID_HYPERPARAMETERS) {
    return forgotten(stopped(halving, trial), trial, replaceable);
  }
  if (place.state !== "coming") return stopped(halving, trial);
  const worst = entered(halving, trial, place, WORST, "due");
  return stopped(worst, trial);
}

function forgotten(halving: Halving, trial: number, replaceable: boolean): Halving {
  const place = placeOfTrial(halving, trial);
  let after = halving;
  for (const [rung, [value, order]] of place.brought.entries()) {
    const all = removed(rungOf(after, place.bracket, rung).all, { value, order, trial });
    after = withRung(after, place.bracket, rung, { all });
  }
  after = withPlace(after, trial, { ...place, brought: [] });
  if (!replaceable) return after;
  const created = (after.brackets[place.bracket]?.created ?? 1) - 1;
  const counted = withBracket(after, place.bracket, { created });
  return { ...counted, replaced: counted.replaced + 1 };
}

/** How many of so many the rung lets through: at least one where `atLeastOne`. */
export function keptOf(halving: Halving, entries: number, atLeastOne: boolean): number {
  return Math.max(Math.floor(entries / halving.plan.divisor), atLeastOne ? 1 : 0);
}

/**
 * Whether nobody comes to the rung any more: all trials of the bracket have been proposed, and none is on its way to it,
 * or to one below it, or can still be promoted from one.
 */
export function isClosed(halving: Halving, bracket: number, rung: number): boolean {
  if (mayCreate(halving, bracket)) return false;
  const rungs = halving.brackets[bracket]?.rungs ?? [];
  return rungs.every(
    ({ coming, waiting }, i) => i > rung || (coming === 0 && (i === rung || waiting === null)),
  );
}

/** The trial that the rung promotes next, if any. */
export function promotable(halving: Halving, bracket: number, rung: number): number | undefined {
  const { all, waiting } = rungOf(halving, bracket, rung);
  const best = entryAt(waiting, 0);
  if (best === undefined) return undefined;
  const closed = isClosed(halving, bracket, rung);
  if (halving.plan.form === "wait" && !closed) return undefined;
  return placeOf(all, best) < keptOf(halving, sizeOf(all), closed) ? best.trial : undefined;
}
