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
export { checkout, type Home, homeAt, homeFolder, prepareHome, removeHome } from "./home/home.ts";
export { clusterDoctor, type Finding } from "./doctor.ts";
export { type Command, launch } from "./processes/launch.ts";
export { ensurePorts, isFree, type Ports } from "./supervisor/ports.ts";
export {
  adminRole,
  initialisePostgres,
  postgresCommand,
  postgresProblem,
  postgresUrl,
} from "./servers/postgres.ts";
export { type PostgresBinaries, packagedPostgres } from "./servers/postgres-binaries.ts";
export { type PostgresPlace, preparePlace } from "./servers/postgres-place.ts";
export { identityOf, isAlive, type ProcessIdentity } from "./processes/process-identity.ts";
export { ensureApiToken, ensureSecrets, type Secrets } from "./home/secrets.ts";
export { buildWeb, type WebBuild, webBuild } from "./web/build.ts";
