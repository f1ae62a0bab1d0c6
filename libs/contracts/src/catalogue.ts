/** Every event type: its message, the aggregate whose streams contain it, and the service that owns these streams. */
import type { DescMessage } from "@bufbuild/protobuf";
import { categoryOwners } from "./category-owners.ts";
import * as allocation from "./gen/trainyard/event/v1/allocation_pb.ts";
import * as checkpoint from "./gen/trainyard/event/v1/checkpoint_pb.ts";
import * as content from "./gen/trainyard/event/v1/content_pb.ts";
import * as environment from "./gen/trainyard/event/v1/environment_pb.ts";
import * as experiment from "./gen/trainyard/event/v1/experiment_pb.ts";
import * as life from "./gen/trainyard/event/v1/experiment_life_pb.ts";
import * as measurement from "./gen/trainyard/event/v1/measurement_pb.ts";
import * as model from "./gen/trainyard/event/v1/model_pb.ts";
import * as search from "./gen/trainyard/event/v1/search_pb.ts";
import * as space from "./gen/trainyard/event/v1/space_pb.ts";
import * as token from "./gen/trainyard/event/v1/token_pb.ts";
import type { Plain } from "./plain.ts";

/** The event messages by short name. */
export type EventMessages = {
  ExperimentCreated: experiment.ExperimentCreated;
  ExperimentActivated: experiment.ExperimentActivated;
  ExperimentPaused: experiment.ExperimentPaused;
  ExperimentStopRequested: experiment.ExperimentStopRequested;
  ExperimentEnded: experiment.ExperimentEnded;
  ExperimentDescribed: experiment.ExperimentDescribed;
  ExperimentArchived: experiment.ExperimentArchived;
  ExperimentUnarchived: experiment.ExperimentUnarchived;
  ExperimentContinued: life.ExperimentContinued;
  ExperimentDeletionRequested: life.ExperimentDeletionRequested;
  ExperimentDeletionUndone: life.ExperimentDeletionUndone;
  ExperimentDeleted: life.ExperimentDeleted;
  ExperimentMoved: experiment.ExperimentMoved;
  TrialCreated: experiment.TrialCreated;
  RunRequested: experiment.RunRequested;
  RunStarted: experiment.RunStarted;
  RunStopRequested: experiment.RunStopRequested;
  RunEnded: experiment.RunEnded;
  RunCheckpointsNamed: experiment.RunCheckpointsNamed;
  TrialCheckpointed: experiment.TrialCheckpointed;
  TrialEnded: experiment.TrialEnded;
  TrialContinued: life.TrialContinued;
  TrialKillRequested: life.TrialKillRequested;
  SearchStarted: search.SearchStarted;
  TrialProposed: search.TrialProposed;
  SuggestionPrepared: search.SuggestionPrepared;
  SuggestionMissed: search.SuggestionMissed;
  OperationsPosted: search.OperationsPosted;
  ObservationRecorded: search.ObservationRecorded;
  CheckpointObserved: search.CheckpointObserved;
  TrialSuspended: search.TrialSuspended;
  TrialResumed: search.TrialResumed;
  TrialStopDecided: search.TrialStopDecided;
  SearchStopDecided: search.SearchStopDecided;
  TrialOutcomeRecorded: search.TrialOutcomeRecorded;
  RunUsageRecorded: search.RunUsageRecorded;
  SearchTimeNoted: search.SearchTimeNoted;
  SearchCompleted: search.SearchCompleted;
  SearchContinued: search.SearchContinued;
  AllocationQueued: allocation.AllocationQueued;
  WaitExplained: allocation.WaitExplained;
  AllocationGranted: allocation.AllocationGranted;
  AllocationStarted: allocation.AllocationStarted;
  AllocationStopRequested: allocation.AllocationStopRequested;
  AllocationStopAcknowledged: allocation.AllocationStopAcknowledged;
  AllocationEnded: allocation.AllocationEnded;
  AgentJoined: allocation.AgentJoined;
  AgentLost: allocation.AgentLost;
  AgentReturned: allocation.AgentReturned;
  SlotsCleared: allocation.SlotsCleared;
  AgentDrainRequested: allocation.AgentDrainRequested;
  AgentDrained: allocation.AgentDrained;
  AgentDisabled: allocation.AgentDisabled;
  AgentEnabled: allocation.AgentEnabled;
  AgentNameRefused: allocation.AgentNameRefused;
  AgentNameCleared: allocation.AgentNameCleared;
  SchedulerEpochRaised: allocation.SchedulerEpochRaised;
  AgentRemoved: allocation.AgentRemoved;
  AgentDistrusted: allocation.AgentDistrusted;
  AgentTrusted: allocation.AgentTrusted;
  AgentDiskLow: allocation.AgentDiskLow;
  AgentDiskFreed: allocation.AgentDiskFreed;
  ProcessesLeft: allocation.ProcessesLeft;
  SlotDisabled: allocation.SlotDisabled;
  SlotEnabled: allocation.SlotEnabled;
  PoolConfigured: allocation.PoolConfigured;
  PoolRemoved: allocation.PoolRemoved;
  JobUpdated: allocation.JobUpdated;
  JobMoved: allocation.JobMoved;
  ValidationReported: measurement.ValidationReported;
  MeasurementsSuperseded: measurement.MeasurementsSuperseded;
  LogPolicyMatched: measurement.LogPolicyMatched;
  CheckpointDeclared: checkpoint.CheckpointDeclared;
  CheckpointCompleted: checkpoint.CheckpointCompleted;
  CheckpointFailed: checkpoint.CheckpointFailed;
  CheckpointAbandoned: checkpoint.CheckpointAbandoned;
  CheckpointPinned: checkpoint.CheckpointPinned;
  CheckpointUnpinned: checkpoint.CheckpointUnpinned;
  CheckpointDamaged: checkpoint.CheckpointDamaged;
  CheckpointRepaired: checkpoint.CheckpointRepaired;
  CheckpointUploadProgressed: checkpoint.CheckpointUploadProgressed;
  ModelCreated: model.ModelCreated;
  ModelDescribed: model.ModelDescribed;
  ModelArchived: model.ModelArchived;
  ModelUnarchived: model.ModelUnarchived;
  ModelMoved: model.ModelMoved;
  VersionRegistered: model.VersionRegistered;
  VersionDescribed: model.VersionDescribed;
  VersionRemoved: model.VersionRemoved;
  AliasMoved: model.AliasMoved;
  AliasRemoved: model.AliasRemoved;
  StorageAdopted: checkpoint.StorageAdopted;
  UnknownFilesDeleted: checkpoint.UnknownFilesDeleted;
  CheckpointCondemned: checkpoint.CheckpointCondemned;
  CheckpointSpared: checkpoint.CheckpointSpared;
  CheckpointDeletionStarted: checkpoint.CheckpointDeletionStarted;
  CheckpointDeleted: checkpoint.CheckpointDeleted;
  CheckpointFilesDeletionStarted: checkpoint.CheckpointFilesDeletionStarted;
  CheckpointFilesDeleted: checkpoint.CheckpointFilesDeleted;
  RetentionPolicySet: checkpoint.RetentionPolicySet;
  TokenIssued: token.TokenIssued;
  TokenRevoked: token.TokenRevoked;
  EnvironmentRecorded: environment.EnvironmentRecorded;
  ContentDeletionStarted: content.ContentDeletionStarted;
  ContentSpared: content.ContentSpared;
  ContentDeleted: content.ContentDeleted;
  NameReserved: space.NameReserved;
  WorkspaceCreated: space.WorkspaceCreated;
  WorkspaceDescribed: space.WorkspaceDescribed;
  WorkspaceArchived: space.WorkspaceArchived;
  WorkspaceUnarchived: space.WorkspaceUnarchived;
  ProjectCreated: space.ProjectCreated;
  ProjectDescribed: space.ProjectDescribed;
  ProjectArchived: space.ProjectArchived;
  ProjectUnarchived: space.ProjectUnarchived;
};

export type EventName = keyof EventMessages;
export type EventData<Name extends EventName> = Plain<EventMessages[Name]>;

/** An event as deciders return it and folds receive it. */
export type EventOf<Name extends EventName> = {
  [Key in Name]: { readonly type: Key; readonly data: EventData<Key> };
}[Name];
export type AnyEvent = EventOf<EventName>;

export type EventType = {
  readonly name: EventName;
  /** The stored type: dev.trainyard.<aggregate>.<Name>.v1. */
  readonly type: string;
  readonly aggregate: string;
  readonly owner: string;
  readonly schema: DescMessage;
};

const byAggregate: Readonly<Record<string, readonly DescMessage[]>> = {
  experiment: [
    experiment.ExperimentCreatedSchema,
    experiment.ExperimentActivatedSchema,
    experiment.ExperimentPausedSchema,
    experiment.ExperimentStopRequestedSchema,
    experiment.ExperimentEndedSchema,
    experiment.ExperimentDescribedSchema,
    experiment.ExperimentArchivedSchema,
    experiment.ExperimentUnarchivedSchema,
    life.ExperimentContinuedSchema,
    life.ExperimentDeletionRequestedSchema,
    life.ExperimentDeletionUndoneSchema,
    life.ExperimentDeletedSchema,
    experiment.ExperimentMovedSchema,
  ],
  trial: [
    experiment.TrialCreatedSchema,
    experiment.RunRequestedSchema,
    experiment.RunStartedSchema,
    experiment.RunStopRequestedSchema,
    experiment.RunEndedSchema,
    experiment.RunCheckpointsNamedSchema,
    experiment.TrialCheckpointedSchema,
    experiment.TrialEndedSchema,
    life.TrialContinuedSchema,
    life.TrialKillRequestedSchema,
  ],
  search: [
    search.SearchStartedSchema,
    search.TrialProposedSchema,
    search.SuggestionPreparedSchema,
    search.SuggestionMissedSchema,
    search.OperationsPostedSchema,
    search.ObservationRecordedSchema,
    search.CheckpointObservedSchema,
    search.TrialSuspendedSchema,
    search.TrialResumedSchema,
    search.TrialStopDecidedSchema,
    search.SearchStopDecidedSchema,
    search.TrialOutcomeRecordedSchema,
    search.RunUsageRecordedSchema,
    search.SearchTimeNotedSchema,
    search.SearchCompletedSchema,
    search.SearchContinuedSchema,
  ],
  allocation: [
    allocation.AllocationQueuedSchema,
    allocation.WaitExplainedSchema,
    allocation.AllocationGrantedSchema,
    allocation.AllocationStartedSchema,
    allocation.AllocationStopRequestedSchema,
    allocation.AllocationStopAcknowledgedSchema,
    allocation.AllocationEndedSchema,
  ],
  agent: [
    allocation.AgentJoinedSchema,
    allocation.AgentLostSchema,
    allocation.AgentReturnedSchema,
    allocation.SlotsClearedSchema,
    allocation.AgentDrainRequestedSchema,
    allocation.AgentDrainedSchema,
    allocation.AgentDisabledSchema,
    allocation.AgentEnabledSchema,
    allocation.AgentNameRefusedSchema,
    allocation.AgentNameClearedSchema,
    allocation.SchedulerEpochRaisedSchema,
    allocation.AgentRemovedSchema,
    allocation.AgentDistrustedSchema,
    allocation.AgentTrustedSchema,
    allocation.AgentDiskLowSchema,
    allocation.AgentDiskFreedSchema,
    allocation.ProcessesLeftSchema,
    allocation.SlotDisabledSchema,
    allocation.SlotEnabledSchema,
  ],
  pool: [
    allocation.PoolConfiguredSchema,
    allocation.PoolRemovedSchema,
    allocation.JobUpdatedSchema,
    allocation.JobMovedSchema,
  ],
  measurement: [measurement.ValidationReportedSchema, measurement.MeasurementsSupersededSchema],
  logsignal: [measurement.LogPolicyMatchedSchema],
  checkpoint: [
    checkpoint.CheckpointDeclaredSchema,
    checkpoint.CheckpointCompletedSchema,
    checkpoint.CheckpointFailedSchema,
    checkpoint.CheckpointAbandonedSchema,
    checkpoint.CheckpointPinnedSchema,
    checkpoint.CheckpointUnpinnedSchema,
    checkpoint.CheckpointDamagedSchema,
    checkpoint.CheckpointRepairedSchema,
    checkpoint.CheckpointUploadProgressedSchema,
  ],
  model: [
    model.ModelCreatedSchema,
    model.ModelDescribedSchema,
    model.ModelArchivedSchema,
    model.ModelUnarchivedSchema,
    model.ModelMovedSchema,
    model.VersionRegisteredSchema,
    model.VersionDescribedSchema,
    model.VersionRemovedSchema,
    model.AliasMovedSchema,
    model.AliasRemovedSchema,
  ],
  storage: [checkpoint.StorageAdoptedSchema, checkpoint.UnknownFilesDeletedSchema],
  retention: [
    checkpoint.CheckpointCondemnedSchema,
    checkpoint.CheckpointSparedSchema,
    checkpoint.CheckpointDeletionStartedSchema,
    checkpoint.CheckpointDeletedSchema,
    checkpoint.CheckpointFilesDeletionStartedSchema,
    checkpoint.CheckpointFilesDeletedSchema,
  ],
  policy: [checkpoint.RetentionPolicySetSchema],
  token: [token.TokenIssuedSchema, token.TokenRevokedSchema],
  environment: [environment.EnvironmentRecordedSchema],
  content: [
    content.ContentDeletionStartedSchema,
    content.ContentSparedSchema,
    content.ContentDeletedSchema,
  ],
  name: [space.NameReservedSchema],
  workspace: [
    space.WorkspaceCreatedSchema,
    space.WorkspaceDescribedSchema,
    space.WorkspaceArchivedSchema,
    space.WorkspaceUnarchivedSchema,
  ],
  project: [
    space.ProjectCreatedSchema,
    space.ProjectDescribedSchema,
    space.ProjectArchivedSchema,
    space.ProjectUnarchivedSchema,
  ],
};

export const eventTypes: readonly EventType[] = Object.entries(byAggregate).flatMap(
  ([aggregate, schemas]) =>
    schemas.map((schema) => ({
      name: schema.name as EventName,
      type: `dev.trainyard.${aggregate}.${schema.name}.v1`,
      aggregate,
      owner: categoryOwners[aggregate] ?? "",
      schema,
    })),
);

const byType = new Map(eventTypes.map((entry) => [entry.type, entry]));
const byName = new Map(eventTypes.map((entry) => [entry.name, entry]));

export function eventTypeByName(name: EventName): EventType {
  const entry = byName.get(name);
  if (entry === undefined) throw new RangeError(`no event type has the name ${name}`);
  return entry;
}

/** Returns the entry of a stored type; undefined for a type that this version does not know. */
export function eventTypeOf(type: string): EventType | undefined {
  return byType.get(type);
}

/** Returns the short name in a stored type: dev.trainyard.trial.RunEnded.v1 → RunEnded. */
export function shortNameOf(type: string): string {
  // Services call this several times for each event; a lookup costs a quarter of a split.
  return byType.get(type)?.name ?? type.split(".")[3] ?? type;
}
