export { Batches, type BatchLimits } from "./batches.ts";
export type { Check, Verdict } from "./verification/check.ts";
export {
  accepted,
  type CommandContext,
  type CommandFunctions,
  type CommandTable,
  commandHandlers,
  decodeReply,
  encodeRequest,
  readRejected,
} from "./commands/commands.ts";
export {
  type BusConfig,
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  grpcVariables,
  type DatabaseConfig,
  databaseOf,
  databaseVariables,
  leaseOwner,
  openBus,
  openLog,
  openPool,
  type ProcessConfig,
  processOf,
  processVariables,
} from "./service/connections.ts";
export { withLogin } from "./service/database-url.ts";
export {
  runTokenKeysOf,
  runTokenVariables,
  signingKeyOf,
  signingVariables,
} from "./service/run-token-keys.ts";
export { storesOf, storesVariables } from "./service/stores.ts";
export { onceAnswered } from "./service/waiting-start.ts";
export {
  type Content,
  type ContentFile,
  contentId,
  contentKey,
  contents,
  digestOfContentKey,
  refusalOfContents,
  type StoredContent,
} from "./stored-contents.ts";
export { refusalOfPlace, refusalOfWorkspace } from "./place-rules.ts";
export { Lives } from "./lives.ts";
export { DueFold, type DueFoldSpec, foldOfDues } from "./reactions/due-fold.ts";
export { type Acting, type DueDeps, DueLoop, type DueSpec } from "./reactions/due-loop.ts";
export type { Loop } from "./reactions/loop.ts";
export { EffectLoop } from "./reactions/effect-loop.ts";
export type { EffectSpan } from "./reactions/effect-span.ts";
export { firstAbort } from "./first-abort.ts";
export { wrongSettings } from "./service/failed-start.ts";
export { parseEnvFile, parseEnvironment, readEnvironment } from "./service/environment.ts";
export { type KnownEvent, LogHistory, LogRewound } from "./history/log-history.ts";
export {
  type DeletionGate,
  DeletionHold,
  type Hold,
  holdStream,
  type RecordedHold,
  recordedHold,
} from "./hold/deletion-hold.ts";
export { sendRewind } from "./hold/rewind-reports.ts";
export { EventFeed } from "./history/event-feed.ts";
export { LogIdentity } from "./history/log-identity.ts";
export { eventAt, positionInLog, readSomeTo } from "./history/event-cursor.ts";
export { streamEvents } from "./history/stream-events.ts";
export {
  type CommitIdentity,
  CommitRefused,
  type Committed,
  CursorBehind,
  Executor,
  LeaseLost,
} from "./work/executor.ts";
export { FoldCache } from "./folds/fold-cache.ts";
export { LogFold, type LogFoldSpec, savedLogFold } from "./folds/log-fold.ts";
export { isOfThisLog, ofAnotherHistory, withEvent } from "./folds/saved-fold.ts";
export { type Machine, type MachineFold, machineFold } from "./folds/machines.ts";
export { type Aggregate, foldOf, type SnapshotCodec, type StreamFold } from "./folds/folds.ts";
export {
  answerHealth,
  type HealthChecks,
  type HttpAddress,
  type Listening,
  listenHttp,
} from "./service/health-server.ts";
export { BodyBudget, HeldBody } from "./service/body-budget.ts";
export { leavesHalf } from "./service/share.ts";
export { LogFollower } from "./folds/log-follower.ts";
export { type HeldLease, LeaseHolder } from "./leadership/lease-holder.ts";
export { runtimeLimits } from "./limits.ts";
export { createLogger, type Logger } from "./logging.ts";
export { migrate } from "./views/migrate.ts";
export {
  Partition,
  type PartitionDeps,
  type Term,
  type TermContext,
} from "./leadership/partition.ts";
export {
  type Overrides,
  openParts,
  openServingParts,
  openTables,
  type Parts,
  type TableOverrides,
} from "./service/parts.ts";
export {
  type Reaction,
  type ReactionHandlers,
  ReactionLoop,
  type ReactionSpec,
} from "./reactions/reactions.ts";
export {
  emptyMeta,
  experimentKey,
  reactionMeta,
  serviceMeta,
  streamsOfExperiment,
} from "./work/correlation.ts";
export { LostRuns, type RunTables } from "./lost-runs.ts";
export {
  type GrantState,
  historyLost,
  lostHistoryDetail,
  lostRun,
  RunGrants,
} from "./run-grants.ts";
export {
  type RunTokenContent,
  readRunToken,
  runToken,
  type SigningKey,
  taskSecret,
} from "./run-token.ts";
export { Problem, problemHeaders, problemText } from "./problem.ts";
export { runMain, type Service } from "./service/service.ts";
export { type ListeningService, type Serving, serviceOf } from "./service/service-of.ts";
export { shownBeside } from "./verification/shown-beside.ts";
export { untilDrained } from "./service/until-drained.ts";
export { KeyedQueue } from "./keyed-queue.ts";
export { databaseEpoch } from "./service/database-epoch.ts";
export { LogEpoch } from "./service/log-epoch.ts";
export { isDatabaseAway, isDatabaseSlow, tableFault } from "./table-fault.ts";
export { version } from "./service/version.ts";
export { createRegistry, enumLabel, Registry } from "./service/telemetry.ts";
export { httpTimes } from "./telemetry/request-metrics.ts";
export { type Measured, measuredGauge } from "./telemetry/measured-gauge.ts";
export { requestIdOf } from "./request-id.ts";
export { openTracer } from "./tracing/open-tracer.ts";
export { continued } from "./tracing/traceparent.ts";
export { tracedBus } from "./tracing/traced-ports.ts";
export { during, noTracer, type Span, type Tracer } from "./tracing/tracer.ts";
export { inTransaction } from "./views/transaction.ts";
export { runChecks } from "./verification/verifications.ts";
export { logFoldCheck } from "./verification/verify-log-fold.ts";
export { snapshotCheck } from "./verification/verify-snapshots.ts";
export { viewCheck } from "./verification/verify-view.ts";
export type { SetAside } from "./views/apply-events.ts";
export { shownView } from "./views/view-commands.ts";
export { viewGauges } from "./views/view-telemetry.ts";
export { type Follower, type Patience, type Peer, viewFollower } from "./readiness/readiness.ts";
export { retryReason } from "./readiness/retry-reason.ts";
export { View, type ViewState } from "./views/view.ts";
export type { TableNames, ViewSpec, ViewTable } from "./views/view-spec.ts";
export { WorkerCall } from "./worker/worker-call.ts";
export { endsTerm, isTransient } from "./work/ends-term.ts";
export { BufferedWork, MovedStream, type Work } from "./work/work.ts";
