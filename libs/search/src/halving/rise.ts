/** What the arrivals of probes make of the first rung: see `trust.ts`. */
import {
  type Halving,
  passedOver,
  type Place,
  placeOfTrial,
  rungOf,
  withChange,
  WORST,
} from "./memory.ts";
import {
  asksLater,
  correlationOf,
  fullTrust,
  isProbe,
  type Measured,
  rises,
  type TrustPlan,
  withMeasured,
} from "./trust.ts";

/** With what a probe tells of the first rung that has just come to a later one; the first one may rise then. */
export function told(halving: Halving, trial: number): Halving {
  const { plan, trust } = halving;
  if (plan.trust === undefined) return halving;
  const { bracket, rung, state, brought } = placeOfTrial(halving, trial);
  if (state !== "due") return halving;
  const [early, late] = [brought[trust.first], brought[rung]];
  const ahead = rung - trust.first;
  const isNext = ahead === 1 && isProbe(plan.trust, trial);
  const isLater = ahead === 2 && trust.laterProbes?.includes(trial) === true;
  if (!(isNext || isLater) || early === undefined || late === undefined) return halving;
  const about = isNext ? "next" : "later";
  const correlation = withMeasured(plan.trust, trust[about], [early.value, late.value]);
  if (correlation === trust[about]) return halving;
  const after = { ...halving, trust: { ...trust, [about]: correlation } };
  const units = plan.brackets[bracket]?.units ?? [];
  if (rises(plan.trust, after.trust, units.length)) return risen(after, plan.trust);
  return asksLater(plan.trust, after.trust, units) ? askingLater(after, plan.trust) : after;
}

/** The first probes that have come to the next rung go on to the one after it, whatever their values. */
function askingLater(halving: Halving, plan: TrustPlan): Halving {
  const { first } = halving.trust;
  const laterProbes: number[] = [];
  const owed: number[] = [];
  const told: Measured[] = [];
  for (let trial = 1; trial <= halving.places.size; trial += 1) {
    const { rung, state, brought } = placeOfTrial(halving, trial);
    const [early, next, late] = brought.slice(first, first + 3);
    if (!isProbe(plan, trial) || early === undefined || (next?.value ?? WORST) === WORST) continue;
    laterProbes.push(trial);
    if (late !== undefined) told.push([early.value, late.value]);
    else if (rung === first + 1 && state === "waiting") owed.push(trial);
    if (laterProbes.length === plan.laterProbes) break;
  }
  const later = correlationOf(told);
  return { ...halving, trust: { ...halving.trust, later, laterProbes, owed } };
}

/** Those who come to the rung that was the first go on to the next; what is owed, probes that wait there tell then. */
function risen(halving: Halving, plan: TrustPlan): Halving {
  const below = halving.trust.first;
  const first = below + 1;
  const owed: number[] = [];
  let after: Halving = halving;
  for (let trial = 1; trial <= halving.places.size; trial += 1) {
    const place = placeOfTrial(halving, trial);
    if (place.rung === below && place.state === "coming") after = movedUp(after, trial, place);
    const waits = place.rung === first && place.state === "waiting" && isProbe(plan, trial);
    if (waits && owed.length < plan.probesAfterRise) owed.push(trial);
  }
  return { ...after, trust: { ...fullTrust, first, owed } };
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
