/**
 * Measures the first rung with the first trials that reach it, probes and promoted trials, and raises it
 * (`first-rung.ts`).
 */
import { insert } from "../ranking.ts";
import type { UndoLog } from "../undo-log.ts";
import {
  addActive,
  addComing,
  arrival,
  type Halving,
  leaveWaiting,
  notOwed,
  passedOver,
  type Place,
  placeOfTrial,
  rungOf,
  setPlace,
  unitsOf,
  WORST,
} from "./state.ts";
import {
  answerOf,
  type Probe,
  probeOf,
  probeRung,
  asksMore,
  extremes,
  isPutOff,
  maySeeLater,
  type Trust,
  trustAt,
  type TrustPlan,
  withBrought,
} from "./first-rung.ts";

/** The rung to which a trial trains as a probe; undefined if it is none. */
export function probeTo(
  { trust, places }: Halving,
  trial: number,
  rung: number,
): number | undefined {
  const to = trial > places.length ? undefined : probeRung(trust, trial);
  return to !== undefined && to > rung ? to : undefined;
}

/** Applies a probe's TrialResumed: the trial still belongs to its rung, which stays open until the probe is back. */
export function probe(halving: Halving, trial: number, undo: UndoLog): void {
  notOwed(halving, trial, undo);
  const place = placeOfTrial(halving, trial);
  const { bracket, rung, state, time } = place;
  leaveWaiting(halving, place, undo);
  if (state === "waiting") addActive(halving, place, 1, undo);
  const isThere = time >= unitsOf(halving, bracket, probeTo(halving, trial, rung) ?? rung);
  if (!isThere) addComing(rungOf(halving, bracket, rung), 1, undo);
  setPlace(halving, trial, { ...place, state: isThere ? "due" : "probing" }, undo);
}

/** Counts the value of a trial that has just reached a rung, or is back from one; the first rung may rise. */
export function measure(halving: Halving, trial: number, undo: UndoLog): void {
  const { trust: plan } = halving.plan;
  if (plan === undefined || halving.trust.question === "none") return;
  const place = placeOfTrial(halving, trial);
  if (place.state !== "due") return;
  const before = halving.trust;
  setTrust(halving, heard(halving, plan, trial, place), undo);
  if (isPutOff(halving.trust)) setTrust(halving, askingLater(halving, plan, place), undo);
  if (halving.trust !== before) answer(halving, plan, place.bracket, undo);
}

function setTrust(halving: Halving, trust: Trust, undo: UndoLog): void {
  if (trust !== halving.trust) undo.set(halving, "trust", trust);
}

function heard(halving: Halving, plan: TrustPlan, trial: number, place: Place): Trust {
  const { trust } = halving;
  const { bracket, rung, time, value, brought } = place;
  const asked = probeOf(trust, trial);
  if (asked === undefined) {
    if (rung !== trust.first || value === WORST || !asksMore(plan, trust)) return trust;
    return { ...trust, asked: [...trust.asked, { trial, brought: [value] }] };
  }
  const ahead = asked.brought.length;
  const next = trust.first + ahead;
  if (ahead > 2 || rung > next) return trust;
  if (rung === next) return withBrought(trust, trial, brought[next]?.value ?? WORST);
  return time >= unitsOf(halving, bracket, next) ? withBrought(trust, trial, value) : trust;
}

function answer(halving: Halving, plan: TrustPlan, bracket: number, undo: UndoLog): void {
  const { trust } = halving;
  switch (answerOf(plan, trust)) {
    case "rises":
      rise(halving, plan, bracket, undo);
      answer(halving, plan, bracket, undo);
      break;
    case "asks_more":
      setTrust(halving, { ...trust, level: trust.level + 1 }, undo);
      break;
    case "trusted":
      setTrust(halving, afterNext(halving, plan, bracket), undo);
      break;
    default:
  }
}

/** The state after the next rung was trusted: if possible, the later rung is measured. */
function afterNext(halving: Halving, plan: TrustPlan, bracket: number): Trust {
  const { trust } = halving;
  const asks =
    trust.question === "next" && maySeeLater(plan, trust.first, unitsIn(halving, bracket));
  return { ...trust, question: asks ? "later" : "none" };
}

/** The largest share of the search's training that probes to the later rung may cost. */
const LATER_COST_MAX = 1 / 12;

/** Starts the measurement of the later rung once it is cheap, without trials that were there or have ended. */
function askingLater(halving: Halving, plan: TrustPlan, { bracket }: Place): Trust {
  const { trust } = halving;
  const units = unitsIn(halving, bracket);
  const [from = 0, to = 0] = units.slice(trust.first + 1);
  const able = trust.asked.filter(
    ({ trial, brought }) =>
      (brought[1] ?? WORST) !== WORST &&
      (brought.length > 2 || placeOfTrial(halving, trial).state !== "over"),
  );
  const later = extremes(able, plan.later);
  const known = able.filter(({ trial }) => later.includes(trial));
  const owed = owedOf(halving, known, 2);
  if (owed.length * (to - from) > LATER_COST_MAX * spentIn(halving, bracket)) return trust;
  return later.length === 0 ? { ...trust, question: "none" } : { ...trust, later, owed };
}

function unitsIn({ plan }: Halving, bracket: number): readonly number[] {
  return plan.brackets[bracket]?.units ?? [];
}

/** The training that all trials have spent so far to reach the rungs of a bracket. */
function spentIn(halving: Halving, bracket: number): number {
  const { first } = halving.trust;
  const units = unitsIn(halving, bracket);
  return units.reduce((sum, unit, rung) => {
    const from = rung === first ? 0 : (units[rung - 1] ?? 0);
    return rung < first ? sum : sum + (unit - from) * rungOf(halving, bracket, rung).arrivals;
  }, 0);
}

/** The waiting ones of the measured trials, those with `known` values so far. */
function owedOf(halving: Halving, asked: readonly Probe[], known: number): readonly number[] {
  return asked
    .filter(({ brought }) => brought.length === known)
    .map(({ trial }) => trial)
    .filter((trial) => placeOfTrial(halving, trial).state === "waiting");
}

/**
 * Raises the first rung. Trials on their way to the old one continue to the new one. The probes have reached it
 * already, and are measured against the rung after it.
 */
function rise(halving: Halving, plan: TrustPlan, bracket: number, undo: UndoLog): void {
  const { first: below, asked: before } = halving.trust;
  const first = below + 1;
  for (const [index, place] of halving.places.entries()) {
    if (place.rung === below && place.state === "coming") moveUp(halving, index + 1, place, undo);
  }
  const asked: Probe[] = [];
  for (const { trial, brought } of before) {
    const [, value = WORST, ...further] = brought;
    const place = placeOfTrial(halving, trial);
    if (place.rung === below) comeUp(halving, trial, place, value, undo);
    if (place.state !== "over" && value !== WORST)
      asked.push({ trial, brought: [value, ...further] });
  }
  const rungs = halving.plan.brackets[bracket]?.units.length ?? 0;
  const trust = trustAt(plan, first, rungs, asked.slice(0, plan.levels[0]?.asked));
  const owed = trust.question === "none" ? [] : owedOf(halving, trust.asked, 1);
  setTrust(halving, { ...trust, owed }, undo);
}

function moveUp(halving: Halving, trial: number, place: Place, undo: UndoLog): void {
  const { bracket, rung, brought } = place;
  addComing(rungOf(halving, bracket, rung), -1, undo);
  addComing(rungOf(halving, bracket, rung + 1), 1, undo);
  const passed = [...brought, ...passedOver(trial, 1)];
  setPlace(halving, trial, { ...place, rung: rung + 1, brought: passed }, undo);
}

/** Returns a probe to its rung, with its value at the rung that it has reached. */
function comeUp(halving: Halving, trial: number, place: Place, value: number, undo: UndoLog): void {
  const { bracket, rung, state, brought } = place;
  if (state !== "waiting" && state !== "due") return;
  leaveWaiting(halving, place, undo);
  const to = rungOf(halving, bracket, rung + 1);
  const entry = arrival(halving, to, trial, value);
  insert(undo, to.all, entry);
  if (state === "waiting") insert(undo, to.waiting, entry);
  undo.set(to, "arrivals", to.arrivals + 1);
  setPlace(halving, trial, { ...place, rung: rung + 1, brought: [...brought, entry] }, undo);
}
