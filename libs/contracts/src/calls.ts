/**
 * The calls of the public API by their names in lower camel case (`createExperiment`), with their request and reply
 * types. All types are derived from the services that the gateway serves: each method in proto/ is a call here, and a
 * mismatched caller or handler does not compile.
 */
import type { DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { GenService, GenServiceMethods } from "@bufbuild/protobuf/codegenv2";
import type { HttpBody } from "./gen/google/api/httpbody_pb.ts";
import { AccessService } from "./gen/trainyard/api/v1/access_pb.ts";
import { AnalysisService } from "./gen/trainyard/api/v1/analysis_pb.ts";
import { CheckpointService } from "./gen/trainyard/api/v1/checkpoints_pb.ts";
import { ClusterService } from "./gen/trainyard/api/v1/cluster_pb.ts";
import { CodeService } from "./gen/trainyard/api/v1/code_pb.ts";
import { ComparisonService } from "./gen/trainyard/api/v1/comparison_pb.ts";
import { DeviceLoginService } from "./gen/trainyard/api/v1/device_logins_pb.ts";
import { EventService } from "./gen/trainyard/api/v1/events_pb.ts";
import { ExperimentLifeService } from "./gen/trainyard/api/v1/experiment_life_pb.ts";
import { ExperimentService } from "./gen/trainyard/api/v1/experiments_pb.ts";
import { JobService } from "./gen/trainyard/api/v1/jobs_pb.ts";
import { MetricStreamService } from "./gen/trainyard/api/v1/metric_stream_pb.ts";
import { ModelService } from "./gen/trainyard/api/v1/models_pb.ts";
import { PoolService } from "./gen/trainyard/api/v1/pools_pb.ts";
import { ProfileService } from "./gen/trainyard/api/v1/profile_pb.ts";
import { RetentionService } from "./gen/trainyard/api/v1/retention_pb.ts";
import { RunService } from "./gen/trainyard/api/v1/runs_pb.ts";
import { SearchService } from "./gen/trainyard/api/v1/search_pb.ts";
import { SessionService } from "./gen/trainyard/api/v1/sessions_pb.ts";
import { StorageService } from "./gen/trainyard/api/v1/storages_pb.ts";
import { SubmissionService } from "./gen/trainyard/api/v1/submissions_pb.ts";
import { SubscriptionService } from "./gen/trainyard/api/v1/subscriptions_pb.ts";
import { TaskService } from "./gen/trainyard/api/v1/tasks_pb.ts";
import { TensorBoardService } from "./gen/trainyard/api/v1/tensorboard_pb.ts";
import { UserService } from "./gen/trainyard/api/v1/users_pb.ts";
import { ViewService } from "./gen/trainyard/api/v1/views_pb.ts";
import { WatchService } from "./gen/trainyard/api/v1/watch_pb.ts";
import { WorkspaceService } from "./gen/trainyard/api/v1/workspaces_pb.ts";
import type { Plain } from "./plain.ts";

/**
 * The services that the gateway serves over REST and gRPC: all of trainyard.api.v1 except ReportService, which the
 * metrics service serves, and UploadService, which it serves only over gRPC.
 */
export const gatewayServices = [
  ExperimentService,
  ExperimentLifeService,
  CodeService,
  CheckpointService,
  RetentionService,
  StorageService,
  ModelService,
  MetricStreamService,
  RunService,
  TaskService,
  ProfileService,
  TensorBoardService,
  SearchService,
  ClusterService,
  EventService,
  SubscriptionService,
  PoolService,
  JobService,
  AnalysisService,
  ComparisonService,
  ViewService,
  WatchService,
  SubmissionService,
  WorkspaceService,
  SessionService,
  UserService,
  AccessService,
  DeviceLoginService,
] as const satisfies readonly DescService[];

type MethodsOf<Service> =
  Service extends GenService<infer Methods extends GenServiceMethods> ? Methods : never;

/** Turns the union A | B into the intersection A & B. */
type AllOf<Union> = (Union extends unknown ? (one: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

type Methods = AllOf<MethodsOf<(typeof gatewayServices)[number]>>;

export type CallName = keyof Methods;

type InputOf<Name extends CallName> = Methods[Name]["input"];
type OutputOf<Name extends CallName> = MessageShape<Methods[Name]["output"]>;

type NamesOf<Kind extends string> = {
  [Name in CallName]: Methods[Name]["methodKind"] extends Kind ? Name : never;
}[CallName];

/** Calls that answer with a stream of messages. */
export type StreamName = Exclude<NamesOf<"server_streaming">, RawName>;
/** Calls that answer with bytes of another content type. */
export type RawName = {
  [Name in CallName]: OutputOf<Name> extends HttpBody ? Name : never;
}[CallName];
/** Calls that answer with one message. */
export type UnaryName = NamesOf<"unary">;

/** A caller's request: an absent field has its default. */
export type RequestInitOf<Name extends CallName> = MessageInitShape<InputOf<Name>>;
/** A handler's request: every field has a value, except optional fields and messages. */
export type RequestOf<Name extends CallName> = Plain<MessageShape<InputOf<Name>>>;
export type ReplyOf<Name extends CallName> = Plain<OutputOf<Name>>;
