export { clusterAccess } from "./access.ts";
export {
  clusterDown,
  clusterStatus,
  clusterUp,
  processLog,
  restartProcess,
  type UpOptions,
  type UpResult,
} from "./cluster.ts";
export { ClusterError } from "./cluster-error.ts";
export type { ClusterInfo, ProcessInfo } from "./cluster-info.ts";
export { type DatabaseRole, ensureDatabase } from "./database.ts";
export { checkout, type Home, homeAt, homeFolder, prepareHome, removeHome } from "./home.ts";
export { type Command, type Launched, launch } from "./launch.ts";
export { ensurePorts, isFree, type Ports } from "./ports.ts";
export {
  adminRole,
  databaseName,
  initialisePostgres,
  postgresCommand,
  postgresProblem,
  postgresUrl,
} from "./postgres.ts";
export { type PostgresBinaries, packagedPostgres } from "./postgres-binaries.ts";
export { type PostgresPlace, preparePlace } from "./postgres-place.ts";
export { identityOf, isAlive, type ProcessIdentity } from "./process-identity.ts";
export { ensureApiToken, ensureSecrets, readSecrets, type Secrets } from "./secrets.ts";
