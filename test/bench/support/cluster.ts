/** An embedded cluster with a home folder of its own, which is deleted with it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@trainyard/client";
import { type ClusterInfo, clusterAccess, clusterDown, clusterUp } from "@trainyard/local-cluster";
import type { BenchContext } from "./bench.ts";

export type BenchCluster = AsyncDisposable & {
  readonly home: string;
  /** Starts the cluster and waits until it is ready; from then on its processor time counts as the benchmark's. */
  up(): Promise<ClusterInfo>;
  /** Stops all processes; the data stays. */
  down(): Promise<void>;
  client(): Client;
};

export function benchCluster(
  context: BenchContext,
  options: {
    readonly agents?: number;
    readonly slots: number;
    /** Whether the gateway serves the Web UI. */
    readonly web?: boolean;
  } = { slots: 2 },
): BenchCluster {
  const home = mkdtempSync(join(tmpdir(), "trainyard-bench-"));
  let owned: readonly Disposable[] = [];
  const disown = (): void => {
    for (const process of owned) process[Symbol.dispose]();
    owned = [];
  };
  return {
    home,
    async up() {
      const { cluster } = await clusterUp({ home, ...options });
      owned = cluster.processes.flatMap(({ pid }) =>
        pid === null ? [] : [context.watch.own(pid)],
      );
      return cluster;
    },
    async down() {
      disown();
      await clusterDown(home);
    },
    client() {
      const access = clusterAccess(home);
      if (access === null) throw new Error("the cluster is not up");
      return new Client({ url: access.api, token: access.token });
    },
    async [Symbol.asyncDispose]() {
      disown();
      await clusterDown(home, { purge: true });
      rmSync(home, { recursive: true, force: true });
    },
  };
}
