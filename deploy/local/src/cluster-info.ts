import { writeJson } from "./home/atomic-file.ts";
import type { Home } from "./home/home.ts";
import type { ProcessKind } from "./processes/process-plan.ts";

export type ProcessInfo = {
  readonly name: string;
  readonly kind: ProcessKind;
  /** Null while the process does not run. */
  readonly pid: number | null;
  /** One of: stopped, starting, running, waiting (for its next start), ended (not started again), stopping. */
  readonly state: string;
  readonly log: string;
};

/** The content of `cluster.json` and the output of `yard cluster status -o json`. */
export type ClusterInfo = {
  readonly version: string;
  readonly api: string;
  /** host:port of the gateway's gRPC server, and of the metrics service's, which receives reports. */
  readonly grpc: string;
  readonly metricsGrpc: string;
  readonly natsUrl: string;
  /** The administrator's URL with its password; only the file's owner can read it. */
  readonly postgresUrl: string;
  readonly tokenFile: string;
  readonly home: string;
  readonly processes: readonly ProcessInfo[];
  /** Sentences for a person to read, such as where the database is when it is outside the home folder. */
  readonly notes: readonly string[];
};

export function writeClusterFile(home: Home, info: ClusterInfo): void {
  writeJson(home.clusterFile, info);
}
