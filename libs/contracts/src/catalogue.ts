/** Every event type: its message, the aggregate whose streams contain it, and the service that owns these streams. */
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { categoryOwners } from "@trainyard/kernel/services";
import * as access from "./gen/trainyard/event/v1/access_pb.ts";
import * as allocation from "./gen/trainyard/event/v1/allocation_pb.ts";
import * as checkpoint from "./gen/trainyard/event/v1/checkpoint_pb.ts";
import * as content from "./gen/trainyard/event/v1/content_pb.ts";
import * as environment from "./gen/trainyard/event/v1/environment_pb.ts";
import * as experiment from "./gen/trainyard/event/v1/experiment_pb.ts";
import * as hold from "./gen/trainyard/event/v1/hold_pb.ts";
import * as life from "./gen/trainyard/event/v1/experiment_life_pb.ts";
import * as measurement from "./gen/trainyard/event/v1/measurement_pb.ts";
import * as model from "./gen/trainyard/event/v1/model_pb.ts";
import * as search from "./gen/trainyard/event/v1/search_pb.ts";
import * as space from "./gen/trainyard/event/v1/space_pb.ts";
import * as subscription from "./gen/trainyard/event/v1/subscription_pb.ts";
import * as task from "./gen/trainyard/event/v1/task_pb.ts";
import * as token from "./gen/trainyard/event/v1/token_pb.ts";
import * as user from "./gen/trainyard/event/v1/user_pb.ts";
import type { Plain } from "./plain.ts";

const byAggregate = {
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
    experiment.RunStopWithdrawnSchema,
    experiment.RunEndedSchema,
    experiment.RunCheckpointsNamedSchema,
    experiment.TrialCheckpointedSchema,
    experiment.TrialEndedSchema,
    life.TrialContinuedSchema,
    life.TrialKillRequestedSchema,
  ],
  task: [
    task.TaskCreatedSchema,
    task.TaskKillRequestedSchema,
    task.TaskPauseRequestedSchema,
    task.TaskSavedSchema,
    task.TaskEndedSchema,
    task.TaskResumedSchema,
    task.TaskDeletedSchema,
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
    allocation.AllocationStopWithdrawnSchema,
    allocation.AllocationStopAcknowledgedSchema,
    allocation.AllocationEndedSchema,
  ],
  agent: [
    allocation.AgentJoinedSchema,
    allocation.AgentLostSchema,
    allocation.AgentReturnedSchema,
    allocation.AgentsSilentSchema,
    allocation.AgentsHeardSchema,
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
    allocation.CheckpointsLeftSchema,
    allocation.AgentNoticedSchema,
    allocation.SlotDisabledSchema,
    allocation.SlotEnabledSchema,
  ],
  pool: [
    allocation.PoolConfiguredSchema,
    allocation.PoolRemovedSchema,
    allocation.JobUpdatedSchema,
    allocation.JobMovedSchema,
  ],
  measurement: [
    measurement.ValidationReportedSchema,
    measurement.MeasurementsSupersededSchema,
    measurement.ProgressReportedSchema,
    measurement.AlertRaisedSchema,
  ],
  logsignal: [measurement.LogPolicyMatchedSchema, measurement.LogPatternMatchedSchema],
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
  hold: [hold.DeletionsHeldSchema, hold.DeletionsReleasedSchema],
  retention: [
    checkpoint.CheckpointCondemnedSchema,
    checkpoint.CheckpointSparedSchema,
    checkpoint.CheckpointDeletionStartedSchema,
    checkpoint.CheckpointDeletedSchema,
    checkpoint.CheckpointFilesDeletionStartedSchema,
    checkpoint.CheckpointFilesDeletedSchema,
  ],
  policy: [checkpoint.RetentionPolicySetSchema],
  subscription: [
    subscription.SubscriptionCreatedSchema,
    subscription.SubscriptionChangedSchema,
    subscription.SubscriptionStoppedSchema,
    subscription.SubscriptionAdoptedSchema,
    subscription.SubscriptionDisabledSchema,
    subscription.SubscriptionEnabledSchema,
    subscription.SubscriptionSecretRotatedSchema,
    subscription.SubscriptionDeletedSchema,
    subscription.QueueWaitExceededSchema,
  ],
  token: [token.TokenIssuedSchema, token.TokenRevokedSchema],
  user: [
    user.UserCreatedSchema,
    user.UserDescribedSchema,
    user.UserDisabledSchema,
    user.UserEnabledSchema,
    user.UserSignedOutSchema,
  ],
  access: [
    access.GroupCreatedSchema,
    access.GroupRenamedSchema,
    access.GroupDeletedSchema,
    access.GroupMembersChangedSchema,
    access.RoleDefinedSchema,
    access.RoleDeletedSchema,
    access.RoleGivenSchema,
    access.RoleTakenSchema,
  ],
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
} as const satisfies Readonly<Record<string, readonly DescMessage[]>>;

type EventMessage = MessageShape<(typeof byAggregate)[keyof typeof byAggregate][number]>;

/** The event messages by short name. */
export type EventMessages = {
  [One in EventMessage as ShortName<One["$typeName"]>]: One;
};

type ShortName<Name> = Name extends `trainyard.event.v1.${infer Short}` ? Short : never;

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

/** The events of trials that streams of tasks have, too. Their stored types keep the name of the trial. */
export const trialEventsOfTasks: readonly EventName[] = [
  "RunRequested",
  "RunStarted",
  "RunStopRequested",
  "RunEnded",
];

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
