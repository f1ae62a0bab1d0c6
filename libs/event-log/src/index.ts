export { deriveCommitId, newEventId } from "./ids.ts";
export { logLimits } from "./limits.ts";
export type { LogRoles } from "./owners.ts";
export { bytesOfEvents, firstPage, isFullPage } from "./page-size.ts";
export type {
  AppendRequest,
  AppendResult,
  CommitMeta,
  CursorMove,
  CursorState,
  EventLog,
  Fence,
  Lease,
  LogAnchor,
  NewEvent,
  Park,
  ParkedRow,
  SeenEvent,
  SomeEvents,
  SomeStreams,
  StoredEvent,
  StreamGuard,
  StreamWrite,
  VerifyFinding,
  WrittenStream,
} from "./port.ts";
export type { ConnectionConfig } from "./postgres/connection.ts";
export { type MigrateOptions, migrateLog } from "./postgres/migrate.ts";
export {
  createPostgresLog,
  type PostgresLogOptions,
} from "./postgres/postgres-log.ts";
export { applyVersions, type DueVersions, inMigration } from "./postgres/versions.ts";
