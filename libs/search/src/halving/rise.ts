/** What the first to come to the first rung make of it, as probes and by promotion: see `trust.ts`. */
import { inserted } from "../persistent/ranking.ts";
import {
  arrival,
  type Halving,
  notOwed,
  passedOver,
  type Place,
  placeOfTrial,
  rungOf,
  unitsOf,
  withChange,
  withoutWaiting,
  WORST,
} from "./memory.ts";
import {
  answerOf,
  type Asked,
  askedOf,
  askedTo,
  asksMore,
  extremes,
  isPutOff,
  maySeeLater,
  type Trust,
  trustAt,
  type TrustPlan,
  withBrought,
} from "./trust.ts";

/** The rung that a trial goes on to as a probe, if it is asked. */
export function probeTo(
  { trust, places }: Halving,
  trial: number,
  rung: number,
): number | undefined {
  const to = trial > places.size ? undefined : askedTo(trust, trial);
  return to !== undefined && to > rung ? to : undefined;
}

/** TrialResumed of a probe: it trains on, and is still of the rung that it is at; that one is not over until it is back. */
export function probing(before: Halving, trial: number): Halving {
  const halving = notOwed(before, trial);
  const place = placeOfTrial(halving, trial);
  const { bracket, rung, state, time } = place;
  const left = withoutWaiting(halving, place);
  const isThere = time >= unitsOf(halving, bracket, probeTo(halving, trial, rung) ?? rung);
  const after: Place = { ...place, state: isThere ? "due" : "probing" };
  return withChange(halving, trial, after, {
    rung: [rung, isThere ? left : { ...left, coming: left.coming + 1 }],
    active: state === "waiting" ? 1 : 0,
  });
}

/** With what a trial tells that has just come to a rung, or back from one; the first rung may rise then. */
export function told(halving: Halving, trial: number): Halving {
  const { trust: plan } = halving.plan;
  if (plan === undefined || halving.trust.question === "none") return halving;
  const place = placeOfTrial(halving, trial);
  if (place.state !== "due") return halving;
  const after = heard(halving, plan, trial, place);
  const trust = isPutOff(after) ? askingLater({ ...halving, trust: after }, plan, place) : after;
  return trust === halving.trust ? halving : answered({ ...halving, trust }, plan, place.bracket);
}

function heard(halving: Halving, plan: TrustPlan, trial: number, place: Place): Trust {
  const { trust } = halving;
  const { bracket, rung, time, value, brought } = place;
  const asked = askedOf(trust, trial);
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

function answered(halving: Halving, plan: TrustPlan, bracket: number): Halving {
  const { trust } = halving;
  switch (answerOf(plan, trust)) {
    case "rises":
      return answered(risen(halving, plan, bracket), plan, bracket);
    case "asks_more":
      return { ...halving, trust: { ...trust, level: trust.level + 1 } };
    case "trusted":
      return { ...halving, trust: afterNext(halving, plan, bracket) };
    default:
      return halving;
  }
}

/** When the next rung is trusted: of the later one, some time, if that is possible. */
function afterNext(halving: Halving, plan: TrustPlan, bracket: number): Trust {
  const { trust } = halving;
  const asks =
    trust.question === "next" && maySeeLater(plan, trust.first, unitsIn(halving, bracket));
  return { ...trust, question: asks ? "later" : "none" };
}

/** Of what has been spent, what it may take at most to ask about the later rung. */
const LATER_COST_MAX = 1 / 12;

/** Of the later rung, as soon as it costs little. Of those who have been there or are over, nothing more is asked. */
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

/** What it took to come to the rungs of a bracket, for all who have. */
function spentIn(halving: Halving, bracket: number): number {
  const { first } = halving.trust;
  const units = unitsIn(halving, bracket);
  return units.reduce((sum, unit, rung) => {
    const from = rung === first ? 0 : (units[rung - 1] ?? 0);
    return rung < first ? sum : sum + (unit - from) * rungOf(halving, bracket, rung).arrivals;
  }, 0);
}

/** Those that wait, of whom no more is known. */
function owedOf(halving: Halving, asked: readonly Asked[], known: number): readonly number[] {
  return asked
    .filter(({ brought }) => brought.length === known)
    .map(({ trial }) => trial)
    .filter((trial) => placeOfTrial(halving, trial).state === "waiting");
}

/** Those who come to the rung that was the first go on to the next. Who was asked has been there, and tells of that one. */
function risen(halving: Halving, plan: TrustPlan, bracket: number): Halving {
  const { first: below, asked: before } = halving.trust;
  const first = below + 1;
  let after: Halving = halving;
  for (let trial = 1; trial <= halving.places.size; trial += 1) {
    const place = placeOfTrial(halving, trial);
    if (place.rung === below && place.state === "coming") after = movedUp(after, trial, place);
  }
  const asked: Asked[] = [];
  for (const { trial, brought } of before) {
    const [, value = WORST, ...further] = brought;
    const place = placeOfTrial(after, trial);
    if (place.rung === below) after = comeUp(after, trial, place, value);
    if (place.state !== "over" && value !== WORST)
      asked.push({ trial, brought: [value, ...further] });
  }
  const rungs = halving.plan.brackets[bracket]?.units.length ?? 0;
  const trust = trustAt(plan, first, rungs, asked.slice(0, plan.levels[0]?.asked));
  const owed = trust.question === "none" ? [] : owedOf(after, trust.asked, 1);
  return { ...after, trust: { ...trust, owed } };
}

function movedUp(halving: Halving, trial: number, place: Place): Halving {
  const { bracket, rung, brought } = place;
  const from = rungOf(halving, bracket, rung);
  const to = rungOf(halving, bracket, rung + 1);
  const moved: Place = {
    ...place,
    rung: rung + 1,
    brought: [...brought, ...passedOver(trial, 1)],
  };
  return withChange(halving, trial, moved, {
    rung: [rung, { ...from, coming: from.coming - 1 }],
    nextRung: { ...to, coming: to.coming + 1 },
  });
}

/** A probe that is back, at the rung where it has been. */
function comeUp(halving: Halving, trial: number, place: Place, value: number): Halving {
  const { bracket, rung, state, brought } = place;
  if (state !== "waiting" && state !== "due") return halving;
  const to = rungOf(halving, bracket, rung + 1);
  const entry = arrival(halving, to, trial, value);
  const waiting = state === "waiting" ? inserted(to.waiting, entry) : to.waiting;
  const moved: Place = { ...place, rung: rung + 1, brought: [...brought, entry] };
  return withChange(halving, trial, moved, {
    rung: [rung, withoutWaiting(halving, place)],
    nextRung: { ...to, all: inserted(to.all, entry), waiting, arrivals: to.arrivals + 1 },
  });
}
