export { type Block, type Capacity, PoolAgents } from "./agents.ts";
export type { Constraints, LabelRule } from "./constraints.ts";
export { couldEverHold, type PlaceAnswer } from "./could-ever-hold.ts";
export type { Demand, Grant, Pass, Passed, Reservation, Share, Stop } from "./demand.ts";
export {
  type Explanation,
  explainOne,
  explainWaits,
  type ExplainPass,
  explainPass,
  type Wait,
} from "./explain.ts";
export { fit } from "./fit.ts";
export { schedulingLimits } from "./limits.ts";
export type { Offer, Slot } from "./offer.ts";
export { type PassOptions, place } from "./place.ts";
export { type HeadReservation, type JobChange, type KnownJob, Pool } from "./pool.ts";
export { placeOf, WaitingQueue } from "./queue.ts";
export {
  backfillNames,
  compatNames,
  defaultSettings,
  fitNames,
  type PolicyName,
  type PoolSettings,
  policyNames,
  type Quota,
  type RecordedSettings,
  settingsOf,
} from "./settings.ts";
export type { WaitReason } from "./starts-when.ts";
