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
export { checkout, type Home, homeAt, homeFolder } from "./home/home.ts";
export { clusterDoctor, type Finding } from "./doctor.ts";
export { postgresUrl } from "./servers/postgres.ts";
export { buildWeb, type WebBuild, webBuild } from "./web/build.ts";
