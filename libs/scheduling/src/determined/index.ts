export { compatProblem } from "./config.ts";
export { type AgentSize, determinedNewAgents, isIdleAgent, slotTypeOf } from "./desired-agents.ts";
export { fairShareSchedule } from "./fair-share.ts";
export { dedicatedFit, findFits, type FitRequest, fitScore, hasRoom } from "./fit.ts";
export type {
  Decision,
  DeterminedAgent,
  DeterminedJob,
  DeterminedTask,
  FitRules,
  Part,
  Queue,
  Release,
  Start,
} from "./model.ts";
export {
  compareRequests,
  isPriorityWithinLimit,
  jobQueue,
  type JobInfo,
  jobStats,
  type PriorityClass,
  priorityClasses,
} from "./order.ts";
export { type PriorityRules, prioritySchedule } from "./priority.ts";
export { type Room, type Rooms, roomsOf } from "./rooms.ts";
