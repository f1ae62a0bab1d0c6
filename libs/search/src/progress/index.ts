export { endedPlace, newPlace, placeAfter, reportedPlace, type TrialPlace } from "./places.ts";
export { emptyTally, moved, progressOf, reachedOf, type Tally } from "./tally.ts";
export { estimatedFromShare, timeLeft } from "./time-left.ts";
export { type UnitPlan, unitPlanOf } from "./unit-plan.ts";
