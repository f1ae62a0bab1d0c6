/**
 * The state of successive halving, and how the search's events change it.
 *
 * Each trial has a place: its bracket, the rung that it trains to, and its values at rungs. A trial that has reported a
 * value at its rung is due: the decision in the same commit promotes it (TrialResumed), suspends it or stops it. A rung
 * has a ranking of all its trials, and one of the waiting trials that can be promoted.
 *
 * Values are ranked smaller first, whatever the direction. A value that is not finite, and a trial that ended before
 * its rung, counts as the largest number and is never promoted. Of equal values the earlier arrival is better. In the
 * stopping form the later one is (as in Determined), so that equal trials all continue.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import { assert } from "@trainyard/kernel";
import { type Entry, emptyRanking, insert, type Ranking, remove } from "../ranking.ts";
import type { UndoLog } from "../undo-log.ts";
import { hasRoom, mayCreate } from "./brackets.ts";
import { probeOf, probeRung, type Trust, trustAt, withoutAnswerOf } from "./first-rung.ts";
import type { HalvingPlan } from "./plan.ts";

/** The rank of values that are not finite, after all other values. */
export const WORST = Number.MAX_VALUE;
/** The order of an entry that belongs to no rung. */
const NO_ORDER = -1;

export type Rung = {
  /** All trials that have reached the rung. */
  readonly all: Ranking;
  /** The suspended trials that can be promoted. */
  readonly waiting: Ranking;
  /** The number of arrivals so far, including trials that were removed later. */
  readonly arrivals: number;
  /** The number of trials on their way to the rung, or beyond it as probes. */
  readonly coming: number;
};

export type Bracket = {
  /** The number of proposed trials, without those replaced for invalid hyperparameters. */
  readonly created: number;
  /** The number of trials that should run and have not ended. */
  readonly active: number;
  readonly rungs: readonly Rung[];
};

/** A probe trains beyond its rung and comes back to it. */
export type PlaceState = "coming" | "due" | "waiting" | "over" | "probing";

export type Place = {
  readonly bracket: number;
  readonly rung: number;
  readonly state: PlaceState;
  /** The last time of a counted report, and its ranked value. */
  readonly time: number;
  readonly value: number;
  /** The trial's entries in rungs, by the rung's index. */
  readonly brought: readonly Entry[];
};

export type Halving = {
  readonly plan: HalvingPlan;
  readonly brackets: readonly Bracket[];
  /** The places by trial: trial n at index n - 1. */
  readonly places: readonly Place[];
  /** The number of trials that were replaced because of invalid hyperparameters. */
  readonly replaced: number;
  /** Whether no further trial will be proposed. */
  readonly finished: boolean;
  readonly trust: Trust;
  /** The best value so far and its trial, if the plan promotes the best at once; otherwise null. */
  readonly best: { readonly trial: number; readonly value: number } | null;
  /** The coordinates of trial n, at index n - 1, if a model proposes trials; otherwise empty. */
  readonly coordinates: readonly (readonly number[])[];
};

/** Whether a memory is that of a halving algorithm. */
export function isHalving(memory: unknown): memory is Halving {
  return typeof memory === "object" && memory !== null && "brackets" in memory;
}

export function newHalving(plan: HalvingPlan): Halving {
  return {
    plan,
    brackets: plan.brackets.map(({ units }) => ({
      created: 0,
      active: 0,
      rungs: units.map(() => ({
        all: emptyRanking(),
        waiting: emptyRanking(),
        arrivals: 0,
        coming: 0,
      })),
    })),
    places: [],
    replaced: 0,
    finished: false,
    trust: trustAt(plan.trust, 0, plan.brackets[0]?.units.length ?? 0),
    best: null,
    coordinates: [],
  };
}

export function placeOfTrial(halving: Halving, trial: number): Place {
  const place = halving.places[trial - 1];
  if (place === undefined) assert(false, `trial ${trial} has a place`);
  return place;
}

function bracketOf(halving: Halving, bracket: number): Bracket {
  const found = halving.brackets[bracket];
  if (found === undefined) assert(false, `there is a bracket ${bracket}`);
  return found;
}

export function rungOf(halving: Halving, bracket: number, rung: number): Rung {
  const found = bracketOf(halving, bracket).rungs[rung];
  if (found === undefined) assert(false, `there is a rung ${rung} in bracket ${bracket}`);
  return found;
}

export function unitsOf(halving: Halving, bracket: number, rung: number): number {
  return halving.plan.brackets[bracket]?.units[rung] ?? Number.POSITIVE_INFINITY;
}

export function isTopRung(halving: Halving, { bracket, rung }: Place): boolean {
  return rung + 1 >= (halving.plan.brackets[bracket]?.units.length ?? 0);
}

export function setPlace(halving: Halving, trial: number, place: Place, undo: UndoLog): void {
  undo.set(halving.places, trial - 1, place);
}

export function addActive(halving: Halving, { bracket }: Place, by: number, undo: UndoLog): void {
  const found = bracketOf(halving, bracket);
  undo.set(found, "active", found.active + by);
}

export function addComing(rung: Rung, by: number, undo: UndoLog): void {
  undo.set(rung, "coming", rung.coming + by);
}

/** Applies TrialProposed; `at` is the trial's place in the space, if a model uses it. */
export function propose(halving: Halving, at: readonly number[] | undefined, undo: UndoLog): void {
  if (at !== undefined) undo.push(halving.coordinates, at);
  const index = halving.brackets.findIndex((_, i) => mayCreate(halving, i) && hasRoom(halving, i));
  assert(index >= 0, "a trial is proposed where a bracket has room for it");
  const trial = halving.places.length + 1;
  const { first } = halving.trust;
  const place: Place = {
    bracket: index,
    rung: first,
    state: "coming",
    time: Number.MIN_SAFE_INTEGER,
    value: WORST,
    brought: passedOver(trial, first),
  };
  undo.push(halving.places, place);
  addComing(rungOf(halving, index, first), 1, undo);
  addActive(halving, place, 1, undo);
  const bracket = bracketOf(halving, index);
  undo.set(bracket, "created", bracket.created + 1);
}

/** Entries in place of rungs below the first one, which the trial has skipped; they belong to no rung. */
export function passedOver(trial: number, rungs: number): readonly Entry[] {
  return Array.from({ length: rungs }, () => ({ value: WORST, order: NO_ORDER, trial }));
}

/**
 * Applies ObservationRecorded with a ranked value. A report that is late, or of a trial that should not run, is
 * ignored. A suspended trial trains until it receives the suspension; its reports are kept and count when it is
 * promoted, as its next run may only repeat them.
 */
export function observe(
  halving: Halving,
  trial: number,
  time: number,
  value: number,
  undo: UndoLog,
): void {
  const before = placeOfTrial(halving, trial);
  const { bracket, rung, state } = before;
  if (state === "due" || state === "over" || time <= before.time) return;
  if (halving.plan.bestGoesOn === true && value < (halving.best?.value ?? WORST)) {
    undo.set(halving, "best", { trial, value });
  }
  if (state === "coming" && time >= unitsOf(halving, bracket, rung)) {
    arriveAtRung(halving, trial, { ...before, time, value, state: "due" }, value, undo);
    return;
  }
  const probed = state === "probing" ? (probeRung(halving.trust, trial) ?? rung) : null;
  const isBack = probed !== null && time >= unitsOf(halving, bracket, probed);
  if (isBack) addComing(rungOf(halving, bracket, rung), -1, undo);
  setPlace(halving, trial, { ...before, state: isBack ? "due" : state, time, value }, undo);
}

/** The entry of a trial that reaches the rung next. */
export function arrival(
  { plan }: Halving,
  { arrivals }: Rung,
  trial: number,
  value: number,
): Entry {
  return { value, order: plan.form === "stop" ? 0 - arrivals : arrivals, trial };
}

/** Records that a trial has reached its rung with a value. */
function arriveAtRung(
  halving: Halving,
  trial: number,
  place: Place,
  value: number,
  undo: UndoLog,
): void {
  const rung = rungOf(halving, place.bracket, place.rung);
  const entry = arrival(halving, rung, trial, value);
  insert(undo, rung.all, entry);
  undo.set(rung, "arrivals", rung.arrivals + 1);
  addComing(rung, -1, undo);
  setPlace(halving, trial, { ...place, brought: [...place.brought, entry] }, undo);
}

/** Removes a trial from the planned probes. */
export function notOwed(halving: Halving, trial: number, undo: UndoLog): void {
  const { trust } = halving;
  if (!trust.owed.includes(trial)) return;
  const owed = trust.owed.filter((other) => other !== trial);
  undo.set(halving, "trust", { ...trust, owed });
}

/** Applies TrialResumed: the trial goes to the next rung, and enters it if its last report is late enough. */
export function promote(halving: Halving, trial: number, undo: UndoLog): void {
  notOwed(halving, trial, undo);
  const place = placeOfTrial(halving, trial);
  const { bracket, rung, state, time, value } = place;
  leaveWaiting(halving, place, undo);
  if (state === "waiting") addActive(halving, place, 1, undo);
  addComing(rungOf(halving, bracket, rung + 1), 1, undo);
  const on: Place = { ...place, rung: rung + 1, state: "coming" };
  if (time < unitsOf(halving, bracket, rung + 1)) {
    setPlace(halving, trial, on, undo);
    return;
  }
  const probed = probeOf(halving.trust, trial)?.brought[rung + 1 - halving.trust.first];
  arriveAtRung(halving, trial, { ...on, state: "due" }, probed ?? value, undo);
}

/** Applies TrialSuspended. */
export function suspend(halving: Halving, trial: number, undo: UndoLog): void {
  const place = placeOfTrial(halving, trial);
  const { bracket, rung, brought } = place;
  const entry = brought[rung] ?? { value: WORST, order: 0, trial };
  insert(undo, rungOf(halving, bracket, rung).waiting, entry);
  addActive(halving, place, -1, undo);
  setPlace(halving, trial, { ...place, state: "waiting" }, undo);
}

/** Removes the trial from those that wait at its rung. */
export function leaveWaiting(halving: Halving, place: Place, undo: UndoLog): void {
  const { bracket, rung, state, brought } = place;
  const entry = brought[rung];
  if (state !== "waiting" || entry === undefined) return;
  remove(undo, rungOf(halving, bracket, rung).waiting, entry);
}

/** Notes that the trial will not report again. */
function silence(halving: Halving, trial: number, undo: UndoLog): void {
  const trust = withoutAnswerOf(halving.trust, trial);
  if (trust !== halving.trust) undo.set(halving, "trust", trust);
}

/** Applies TrialStopDecided. */
export function stop(halving: Halving, trial: number, undo: UndoLog): void {
  silence(halving, trial, undo);
  const place = placeOfTrial(halving, trial);
  const { bracket, rung, state } = place;
  if (state === "over") return;
  leaveWaiting(halving, place, undo);
  const isComing = state === "coming" || state === "probing";
  if (isComing) addComing(rungOf(halving, bracket, rung), -1, undo);
  if (state !== "waiting") addActive(halving, place, -1, undo);
  setPlace(halving, trial, { ...place, state: "over" }, undo);
}

/**
 * Applies TrialOutcomeRecorded. Invalid hyperparameters remove the trial from every rung, and with `replaceable` free
 * its place in the bracket. A trial on its way to a rung arrives there as the worst.
 */
export function end(
  halving: Halving,
  trial: number,
  outcome: TrialOutcome,
  replaceable: boolean,
  undo: UndoLog,
): void {
  const place = placeOfTrial(halving, trial);
  if (outcome === TrialOutcome.INVALID_HYPERPARAMETERS) {
    stop(halving, trial, undo);
    forget(halving, trial, replaceable, undo);
  } else if (place.state !== "coming") {
    stop(halving, trial, undo);
  } else {
    silence(halving, trial, undo);
    arriveAtRung(halving, trial, { ...place, state: "over" }, WORST, undo);
    addActive(halving, place, -1, undo);
  }
}

function forget(halving: Halving, trial: number, replaceable: boolean, undo: UndoLog): void {
  const place = placeOfTrial(halving, trial);
  for (const [rung, entry] of place.brought.entries()) {
    remove(undo, rungOf(halving, place.bracket, rung).all, entry);
  }
  setPlace(halving, trial, { ...place, brought: [] }, undo);
  if (!replaceable) return;
  const bracket = bracketOf(halving, place.bracket);
  undo.set(bracket, "created", bracket.created - 1);
  undo.set(halving, "replaced", halving.replaced + 1);
}
