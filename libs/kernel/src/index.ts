export { assert, assertNever, Bug } from "./assert.ts";
export { mapConcurrently } from "./concurrently.ts";
export {
  type Decider,
  type FieldProblem,
  fold,
  isRejection,
  type Rejection,
  reject,
} from "./decider.ts";
export { Fault, isFault, type Retry } from "./fault.ts";
export {
  type AgentId,
  type AllocationId,
  allocationId,
  type CheckpointId,
  categoryOf,
  type ExperimentId,
  experimentId,
  idOf,
  isCheckpointId,
  isAllocationId,
  isExperimentId,
  isLabel,
  isName,
  isRunId,
  isSuperseded,
  isTaskId,
  isTrialId,
  type PoolId,
  parseRunId,
  parseReportKey,
  parseTaskRunId,
  parseTrialId,
  type RunId,
  type RunParts,
  runId,
  type StreamName,
  streamName,
  type TaskId,
  type TaskRunId,
  type TaskRunParts,
  taskId,
  taskRunId,
  type TrialId,
  type ReportKey,
  type TrialParts,
  trialId,
} from "./ids.ts";
export { isMapping, type Json, type JsonObject } from "./json.ts";
export { limits } from "./limits.ts";
export { holderText } from "./pin-holder.ts";
export { Backoff, retryAfterMs, type RetryPolicy, retrying } from "./retry.ts";
export { staleRevision } from "./stale-revision.ts";
export { isLine, storableText, utf8Bytes } from "./text.ts";
export { undeliveredText } from "./undelivered-text.ts";
export { type Block, draw, drawBlock, drawInteger, philox } from "./rng.ts";
export { atMost, type Clock, pause } from "./time.ts";
