export { type Block, type Capacity, PoolAgents } from "./agents.ts";
export type { Constraints, LabelRule } from "./constraints.ts";
export type { Demand, Grant, Share } from "./demand.ts";
export { explainWaits, type Wait, type WaitReason } from "./explain.ts";
export { fit } from "./fit.ts";
export { schedulingLimits } from "./limits.ts";
export { place } from "./place.ts";
export { type JobUpdate, type Placed, Pool } from "./pool.ts";
export {
  defaultSettings,
  type PolicyName,
  type PoolSettings,
  policyNames,
  type Quota,
  type RecordedSettings,
  settingsOf,
} from "./settings.ts";
export { WaitingQueue } from "./queue.ts";
