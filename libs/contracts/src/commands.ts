/** The commands that services answer over the bus. */
export {
  type ActivateExperiment,
  ActivateExperimentSchema,
  type CreateExperiment,
  CreateExperimentSchema,
  type PauseExperiment,
  PauseExperimentSchema,
  type StopExperiment,
  StopExperimentSchema,
} from "./gen/trainyard/command/v1/experiments_pb.ts";
export {
  type LinePage,
  LinePageSchema,
  type LogLine,
  LogLineSchema,
  LogSource,
  type QueryLines,
  QueryLinesSchema,
  type StoredLine,
  StoredLineSchema,
  type WriteLines,
  WriteLinesSchema,
} from "./gen/trainyard/command/v1/logs_pb.ts";
export {
  type Pace,
  type Point,
  type PointPage,
  PointPageSchema,
  PointSchema,
  type ProfileSummary,
  ProfileSummarySchema,
  type Progress,
  ProgressSchema,
  type QueryPoints,
  QueryPointsSchema,
  type QueryProfile,
  QueryProfileSchema,
  type QueryProgress,
  QueryProgressSchema,
  type QuerySystemPoints,
  QuerySystemPointsSchema,
  type SystemPoint,
  type SystemPointPage,
  SystemPointPageSchema,
  type SystemTotal,
} from "./gen/trainyard/command/v1/metrics_pb.ts";
export {
  type RetryParked,
  RetryParkedSchema,
} from "./gen/trainyard/command/v1/parking_pb.ts";
export {
  type CompleteCheckpoint,
  CompleteCheckpointSchema,
  type ContextPlan,
  ContextPlanSchema,
  type DeclareCheckpoint,
  DeclareCheckpointSchema,
  type DownloadPlan,
  DownloadPlanSchema,
  type ManifestEntry,
  ManifestEntrySchema,
  type PlanCheckpointDownload,
  PlanCheckpointDownloadSchema,
  type PlanContextDownload,
  PlanContextDownloadSchema,
  type UploadPlan,
  UploadPlanSchema,
} from "./gen/trainyard/command/v1/registry_pb.ts";
export {
  type GetPoolCapacity,
  GetPoolCapacitySchema,
  type PoolCapacity,
  PoolCapacitySchema,
  type TrustAgent,
  TrustAgentSchema,
} from "./gen/trainyard/command/v1/scheduler_pb.ts";
export {
  type PostSearchOperations,
  PostSearchOperationsSchema,
  type SearchOperationsPosted,
  SearchOperationsPostedSchema,
} from "./gen/trainyard/command/v1/searcher_pb.ts";
export {
  type ViewsVerified,
  ViewsVerifiedSchema,
  type ViewVerdict,
  ViewVerdictSchema,
  type VerifyViews,
  VerifyViewsSchema,
} from "./gen/trainyard/command/v1/verify_pb.ts";
export {
  type Accepted,
  AcceptedSchema,
  type FieldProblem,
  FieldProblemSchema,
  type Rejected,
  RejectedSchema,
} from "./gen/trainyard/common/v1/envelope_pb.ts";
export { type SystemSample } from "./gen/trainyard/common/v1/system_pb.ts";
