export { Batches, type BatchLimits } from "./batches.ts";
export type { Check, Verdict } from "./check.ts";
export { pause, systemClock } from "./clock.ts";
export {
  AcceptedSchema,
  accepted,
  type CommandContext,
  type CommandSpec,
  command,
  commandHandlers,
  decodeReply,
  encodeRequest,
  readRejected,
} from "./commands.ts";
export {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  leaseOwner,
  openBus,
  openLog,
  openPool,
} from "./connections.ts";
export { EffectLoop } from "./effect-loop.ts";
export { parseEnvFile, parseEnvironment, readEnvironment } from "./environment.ts";
export { EventFeed } from "./event-feed.ts";
export {
  type CommitIdentity,
  type Committed,
  CursorBehind,
  Executor,
  LeaseLost,
} from "./executor.ts";
export { FoldCache } from "./fold-cache.ts";
export { type Aggregate, foldOf, type SnapshotCodec, type StreamFold } from "./folds.ts";
export { answerHealth, type HealthChecks, startHealthServer } from "./health-server.ts";
export { type HeldLease, LeaseHolder } from "./lease-holder.ts";
export { runtimeLimits } from "./limits.ts";
export { createLogger, type Logger } from "./logging.ts";
export { migrate } from "./migrate.ts";
export { Partition, type PartitionDeps, type Term, type TermContext } from "./partition.ts";
export { type Overrides, openParts, openTables, type Parts, type TableOverrides } from "./parts.ts";
export {
  type Reaction,
  type ReactionHandlers,
  ReactionLoop,
  type ReactionSpec,
} from "./reactions.ts";
export { emptyMeta, experimentKey, reactionMeta } from "./story.ts";
export { type RunTokenContent, readRunToken, runToken, type SigningKey } from "./run-token.ts";
export { runMain, type Service } from "./service.ts";
export { shownBeside } from "./shown-beside.ts";
export { createRegistry, enumLabel, Registry } from "./telemetry.ts";
export { childOf, newTraceparent } from "./traceparent.ts";
export { inTransaction } from "./transaction.ts";
export { runChecks } from "./verifications.ts";
export { snapshotCheck } from "./verify-snapshots.ts";
export { viewCheck } from "./verify-view.ts";
export { type TableNames, View, type ViewSpec, type ViewTable } from "./view.ts";
export { BufferedWork, MovedStream, type Work } from "./work.ts";
