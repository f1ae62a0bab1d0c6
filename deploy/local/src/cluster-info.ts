import { writeJson } from "./home/atomic-file.ts";
import type { Home } from "./home/home.ts";
import type { ProcessKind } from "./processes/process-plan.ts";

export type ProcessInfo = {
  readonly name: string;
  readonly kind: ProcessKind;
  /** Null while it does not run. */
  readonly pid: number | null;
  /** stopped, starting, running, waiting (to be started again), ended (and not started again), stopping, lost. */
  readonly state: string;
  readonly log: string;
};

/** `cluster.json`, and what `yard cluster status -o json` prints. */
export type ClusterInfo = {
  readonly version: string;
  readonly api: string;
  /** host:port of the gateway's gRPC server, and of the metrics service's, which takes reports. */
  readonly grpc: string;
  readonly metricsGrpc: string;
  readonly natsUrl: string;
  /** The administrator's URL with its password; only the file's owner can read it. */
  readonly postgresUrl: string;
  readonly tokenFile: string;
  readonly home: string;
  readonly processes: readonly ProcessInfo[];
  /** Sentences that a person should read, such as where the database is when it is not in the home folder. */
  readonly notes: readonly string[];
};

export function writeClusterFile(home: Home, info: ClusterInfo): void {
  writeJson(home.clusterFile, info);
}
