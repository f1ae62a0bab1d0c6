export { assert, assertNever, Bug } from "./assert.ts";
export {
  type ComparisonSource,
  parseComparisonSource,
  rangesSize,
  trialsOfRanges,
} from "./comparison-sources.ts";
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
  isAllocationId,
  isCheckpointId,
  isExperimentId,
  isLabel,
  isName,
  isRunId,
  isSuperseded,
  isTaskId,
  isTrialId,
  type PoolId,
  parseReportKey,
  parseRunId,
  parseTaskRunId,
  parseTrialId,
  type ReportKey,
  type RunId,
  type RunParts,
  runId,
  type StreamName,
  streamName,
  type TaskId,
  type TaskRunId,
  type TaskRunParts,
  type TrialId,
  type TrialParts,
  taskId,
  taskRunId,
  trialId,
} from "./ids.ts";
export { isMapping, type Json, type JsonObject } from "./json.ts";
export { limits } from "./limits.ts";
export { holderText } from "./pin-holder.ts";
export { Backoff, type RetryPolicy, retryAfterMs, retrying } from "./retry.ts";
export { type Block, draw, drawBlock, drawInteger, philox } from "./rng.ts";
export { staleRevision } from "./stale-revision.ts";
export { isLine, isStorable, storableText, utf8Bytes } from "./text.ts";
export { atMost, type Clock, pause } from "./time.ts";
export { isTraceparent } from "./traceparent.ts";
export { undeliveredText } from "./undelivered-text.ts";
