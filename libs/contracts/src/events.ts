/**
 * The enums of the events, and the messages nested in them. Event types are selected by name:
 * EventData<"TrialCreated">.
 */
export {
  type SealedCheckpoint,
  type SealedCheckpoints,
} from "./gen/trainyard/common/v1/checkpoints_pb.ts";
export {
  type Autoscaling,
  type PoolSettings,
  type Quota,
} from "./gen/trainyard/common/v1/pools_pb.ts";
export {
  type AvoidedAgents,
  type Constraints,
  EndReason,
  type EndRecord,
  type Exit,
  type LabelRule,
  type LaunchFailure,
  type Placement,
  type Resources,
  StopMode,
  StopWhy,
} from "./gen/trainyard/common/v1/resources_pb.ts";
export {
  type SearchOperation,
  type SearchOperationResult,
} from "./gen/trainyard/common/v1/search_pb.ts";
export {
  type AgentDisabled,
  type AgentDiskFreed,
  type AgentDiskLow,
  type AgentDistrusted,
  type AgentDrained,
  type AgentDrainRequested,
  type AgentEnabled,
  type AgentJoined,
  type AgentLost,
  type AgentRemoved,
  type AgentReturned,
  type AgentTrusted,
  AllocationEndCause,
  type AllocationEnded,
  type AllocationGranted,
  type AllocationQueued,
  type AllocationStarted,
  type AllocationStopAcknowledged,
  type AllocationStopRequested,
  type JobMoved,
  type JobUpdated,
  type Occupation,
  type PassedRun,
  type PoolConfigured,
  type PoolRemoved,
  type ProcessesLeft,
  type RunCheckpoints,
  type Slot,
  type SlotDisabled,
  type SlotEnabled,
  type SlotsCleared,
  type StartRecord,
  WaitCode,
  type WaitExplained,
} from "./gen/trainyard/event/v1/allocation_pb.ts";
export {
  type CheckpointAbandoned,
  type CheckpointCompleted,
  type CheckpointCondemned,
  type CheckpointDeclared,
  type CheckpointDeleted,
  type CheckpointDeletionStarted,
  type CheckpointFailed,
  type CheckpointPinned,
  type CheckpointSpared,
  type CheckpointUnpinned,
  type RetentionCompetitor,
  type RetentionPolicy,
  type StorageAdopted,
} from "./gen/trainyard/event/v1/checkpoint_pb.ts";
export {
  type ExperimentActivated,
  type ExperimentCreated,
  type ExperimentEnded,
  ExperimentOutcome,
  type ExperimentParent,
  type ExperimentPaused,
  type ExperimentStopRequested,
  type RunCheckpointsNamed,
  type RunEnded,
  RunEndWhy,
  type RunRequested,
  type RunStarted,
  type RunStopRequested,
  StopKind,
  type TrialCheckpointed,
  type TrialCreated,
  type TrialEnded,
  TrialOutcome,
} from "./gen/trainyard/event/v1/experiment_pb.ts";
export {
  type LogPolicyMatched,
  type MeasurementsSuperseded,
  type ValidationReported,
} from "./gen/trainyard/event/v1/measurement_pb.ts";
export {
  type ObservationRecorded,
  type OperationsPosted,
  type SearchCompleted,
  SearchCompletion,
  type SearchStarted,
  type TrialOutcomeRecorded,
  type TrialProposed,
  type TrialResumed,
  type TrialStopDecided,
  type TrialSuspended,
} from "./gen/trainyard/event/v1/search_pb.ts";
export {
  type TokenIssued,
  type TokenRevoked,
} from "./gen/trainyard/event/v1/token_pb.ts";
