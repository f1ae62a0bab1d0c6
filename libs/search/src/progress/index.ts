export { endedPlace, newPlace, placeAfter, reportedPlace, type TrialPlace } from "./places.ts";
export { emptyTally, moved, progressOf, reachedOf, remainingUnits, type Tally } from "./tally.ts";
export { type UnitPlan, unitPlanOf } from "./unit-plan.ts";
