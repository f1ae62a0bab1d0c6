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
import {
  type Entry,
  emptyRanking,
  inserted,
  type Ranking,
  removed,
} from "../persistent/ranking.ts";
import {
  emptyVector,
  itemAt,
  pushed,
  type Vector,
  vectorOf,
  withItem,
} from "../persistent/vector.ts";
import { PlaceRows } from "./place-rows.ts";
import type { HalvingPlan } from "./plan.ts";
import { askedOf, askedTo, type Trust, trustAt, withoutAnswerOf } from "./trust.ts";

/** What counts as worse than any value. */
export const WORST = Number.MAX_VALUE;
/** The order of what came to no rung. */
const NO_ORDER = -1;

export type Rung = {
  /** All that came here. */
  readonly all: Ranking;
  /** The suspended among them that can be promoted. */
  readonly waiting: Ranking;
  /** How many have come here so far, also those that were taken out again. */
  readonly arrivals: number;
  /** How many trials are on their way here, or beyond it as probes. */
  readonly coming: number;
};

export type Bracket = {
  /** Proposed, and not given back because its hyperparameters were invalid. */
  readonly created: number;
  /** Wanted to run and not ended. */
  readonly active: number;
  readonly rungs: readonly Rung[];
};

/** A probe trains beyond the rung that it is at, and comes back to it. */
export type PlaceState = "coming" | "due" | "waiting" | "over" | "probing";

export type Place = {
  readonly bracket: number;
  readonly rung: number;
  readonly state: PlaceState;
  /** The last time that it was observed at, and the value there as it is ranked. */
  readonly time: number;
  readonly value: number;
  /** What it brought to rung i, at i. */
  readonly brought: readonly Entry[];
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
  readonly trust: Trust;
  /** The best value of all so far, and whose it is, where the best goes on. */
  readonly best: { readonly trial: number; readonly value: number } | null;
  /** Where trial n lies in the space, at n - 1, where a model proposes trials; else nothing. */
  readonly coordinates: Vector<readonly number[]>;
};

const noTrialYet: Rung = { all: emptyRanking, waiting: emptyRanking, arrivals: 0, coming: 0 };

export function emptyHalving(plan: HalvingPlan): Halving {
  return {
    plan,
    brackets: plan.brackets.map(({ units }) => ({
      created: 0,
      active: 0,
      rungs: units.map(() => noTrialYet),
    })),
    places: vectorOf(new PlaceRows()),
    replaced: 0,
    finished: false,
    trust: trustAt(plan.trust, 0, plan.brackets[0]?.units.length ?? 0),
    best: null,
    coordinates: emptyVector(),
  };
}

export function placeOfTrial(halving: Halving, trial: number): Place {
  const place = itemAt(halving.places, trial - 1);
  if (place === undefined) assert(false, `trial ${trial} has a place`);
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
  let sum = 0;
  for (const { active } of brackets) sum += active;
  return sum;
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

/** What changes of one bracket: the rungs that are given, by how much the counts. */
type BracketChange = {
  readonly rung?: readonly [index: number, rung: Rung];
  readonly nextRung?: Rung;
  readonly active?: number;
  readonly created?: number;
};

/** One event's change, of a trial's place and of its bracket. */
export function withChange(
  halving: Halving,
  trial: number,
  place: Place,
  { rung, nextRung, active = 0, created = 0 }: BracketChange,
): Halving {
  const { brackets, places } = halving;
  const before = brackets[place.bracket];
  if (before === undefined) assert(false, `there is a bracket ${place.bracket}`);
  let { rungs } = before;
  if (rung !== undefined) {
    const changed = rungs.slice();
    changed[rung[0]] = rung[1];
    if (nextRung !== undefined) changed[rung[0] + 1] = nextRung;
    rungs = changed;
  }
  const changed = brackets.slice();
  changed[place.bracket] = {
    created: before.created + created,
    active: before.active + active,
    rungs,
  };
  return {
    ...halving,
    brackets: changed,
    places: trial > places.size ? pushed(places, place) : withItem(places, trial - 1, place),
  };
}

/** TrialProposed; `at` is where the trial lies, if a model wants to know. */
export function proposed(before: Halving, at?: readonly number[]): Halving {
  const halving =
    at === undefined ? before : { ...before, coordinates: pushed(before.coordinates, at) };
  const bracket = nextBracket(halving);
  assert(bracket >= 0, "a trial is proposed where a bracket has room for it");
  const trial = halving.places.size + 1;
  const { first } = halving.trust;
  const place: Place = {
    bracket,
    rung: first,
    state: "coming",
    time: Number.MIN_SAFE_INTEGER,
    value: WORST,
    brought: passedOver(trial, first),
  };
  const start = rungOf(halving, bracket, first);
  const rung = { ...start, coming: start.coming + 1 };
  return withChange(halving, trial, place, { rung: [first, rung], active: 1, created: 1 });
}

/** In the place of what a trial would have brought to rungs below the first one: entries that are in no rung. */
export function passedOver(trial: number, rungs: number): readonly Entry[] {
  return Array.from({ length: rungs }, () => ({ value: WORST, order: NO_ORDER, trial }));
}

/**
 * ObservationRecorded: the value as it is ranked. What comes late, or is of a trial that is not wanted any more, is nothing.
 * A trial that waits was trained on until it heard of that: what it still reports is kept, and counts when it is promoted,
 * as its next run may have nothing new to say at these times.
 */
export function observed(before: Halving, trial: number, time: number, value: number): Halving {
  const { bracket, rung, state, brought, time: timeBefore } = placeOfTrial(before, trial);
  if (state === "due" || state === "over" || time <= timeBefore) return before;
  const halving = withBest(before, trial, value);
  if (state === "coming" && time >= unitsOf(halving, bracket, rung)) {
    return entered(halving, trial, time, value, "due");
  }
  const probed = state === "probing" ? (askedTo(halving.trust, trial) ?? rung) : null;
  if (probed !== null && time >= unitsOf(halving, bracket, probed)) {
    const own = rungOf(halving, bracket, rung);
    const back: Place = { bracket, rung, state: "due", time, value, brought };
    return withChange(halving, trial, back, { rung: [rung, { ...own, coming: own.coming - 1 }] });
  }
  const place: Place = { bracket, rung, state, time, value, brought };
  return { ...halving, places: withItem(halving.places, trial - 1, place) };
}

function withBest(halving: Halving, trial: number, value: number): Halving {
  if (halving.plan.bestGoesOn !== true || value >= (halving.best?.value ?? WORST)) return halving;
  return { ...halving, best: { trial, value } };
}

/** The rung with one more that has come to it. */
function withArrival(rung: Rung, entry: Entry): Rung {
  return {
    all: inserted(rung.all, entry),
    waiting: rung.waiting,
    arrivals: rung.arrivals + 1,
    coming: rung.coming - 1,
  };
}

/** What the trial brings to the rung as the next that comes there. */
export function arrival(
  { plan }: Halving,
  { arrivals }: Rung,
  trial: number,
  value: number,
): Entry {
  return { value, order: plan.form === "stop" ? 0 - arrivals : arrivals, trial };
}

/** A trial that comes to the rung that it was on its way to. */
function entered(
  halving: Halving,
  trial: number,
  time: number,
  value: number,
  state: "due" | "over",
): Halving {
  const { bracket, rung, brought, value: last } = placeOfTrial(halving, trial);
  const before = rungOf(halving, bracket, rung);
  const entry = arrival(halving, before, trial, value);
  const place: Place = {
    bracket,
    rung,
    state,
    time,
    value: state === "over" ? last : value,
    brought: [...brought, entry],
  };
  const active = state === "over" ? -1 : 0;
  return withChange(halving, trial, place, { rung: [rung, withArrival(before, entry)], active });
}

/** Without a trial among those who are to go on as probes: it does. */
export function notOwed(halving: Halving, trial: number): Halving {
  const { trust } = halving;
  if (!trust.owed.includes(trial)) return halving;
  return { ...halving, trust: { ...trust, owed: trust.owed.filter((other) => other !== trial) } };
}

/** TrialResumed: on to the next rung, and into it where the last observation was of that time already. */
export function promoted(before: Halving, trial: number): Halving {
  const halving = notOwed(before, trial);
  const { bracket, rung, state, time, value, brought } = placeOfTrial(halving, trial);
  const left = withoutWaiting(halving, { bracket, rung, state, time, value, brought });
  const target = rungOf(halving, bracket, rung + 1);
  const next = { ...target, coming: target.coming + 1 };
  const arrives = time >= unitsOf(halving, bracket, rung + 1);
  const there = rung + 1 - halving.trust.first;
  const probed = askedOf(halving.trust, trial)?.brought[there];
  const entry = arrives ? arrival(halving, next, trial, probed ?? value) : null;
  const place: Place = {
    bracket,
    rung: rung + 1,
    state: arrives ? "due" : "coming",
    time,
    value,
    brought: entry === null ? brought : [...brought, entry],
  };
  return withChange(halving, trial, place, {
    rung: [rung, left],
    nextRung: entry === null ? next : withArrival(next, entry),
    active: state === "waiting" ? 1 : 0,
  });
}

/** TrialSuspended. */
export function suspended(halving: Halving, trial: number): Halving {
  const { bracket, rung, time, value, brought } = placeOfTrial(halving, trial);
  const before = rungOf(halving, bracket, rung);
  const entry = brought[rung] ?? { value: WORST, order: 0, trial };
  const after = { ...before, waiting: inserted(before.waiting, entry) };
  const place: Place = { bracket, rung, state: "waiting", time, value, brought };
  return withChange(halving, trial, place, { rung: [rung, after], active: -1 });
}

/** The rung that the trial is at, without it among those who wait there. */
export function withoutWaiting(halving: Halving, { bracket, rung, state, brought }: Place): Rung {
  const before = rungOf(halving, bracket, rung);
  const entry = brought[rung];
  if (state !== "waiting" || entry === undefined) return before;
  return { ...before, waiting: removed(before.waiting, entry) };
}

/** Nothing more is heard of the trial. */
function silent(halving: Halving, trial: number): Halving {
  const trust = withoutAnswerOf(halving.trust, trial);
  return trust === halving.trust ? halving : { ...halving, trust };
}

/** TrialStopDecided. */
export function stopped(before: Halving, trial: number): Halving {
  const halving = silent(before, trial);
  const place = placeOfTrial(halving, trial);
  const { rung, state } = place;
  if (state === "over") return halving;
  const left = withoutWaiting(halving, place);
  const isComing = state === "coming" || state === "probing";
  const gone = isComing ? { ...left, coming: left.coming - 1 } : left;
  const active = state === "waiting" ? 0 : -1;
  return withChange(halving, trial, { ...place, state: "over" }, { rung: [rung, gone], active });
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
  const { state, time } = placeOfTrial(halving, trial);
  if (outcome === TrialOutcome.INVALID_HYPERPARAMETERS) {
    return forgotten(stopped(halving, trial), trial, replaceable);
  }
  if (state !== "coming") return stopped(halving, trial);
  return entered(silent(halving, trial), trial, time, WORST, "over");
}

function forgotten(halving: Halving, trial: number, replaceable: boolean): Halving {
  const place = placeOfTrial(halving, trial);
  let after = halving;
  for (const [index, entry] of place.brought.entries()) {
    const before = rungOf(after, place.bracket, index);
    const rung = { ...before, all: removed(before.all, entry) };
    after = withChange(after, trial, place, { rung: [index, rung] });
  }
  after = withChange(after, trial, { ...place, brought: [] }, { created: replaceable ? -1 : 0 });
  return replaceable ? { ...after, replaced: after.replaced + 1 } : after;
}
