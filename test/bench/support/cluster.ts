/** The embedded cluster of a benchmark: one of its own, or the one that benchmarks share at the smallest size. */
import type { Client } from "@trainyard/client";
import type { ClusterInfo } from "@trainyard/local-cluster";
import type { BenchContext } from "./bench.ts";
import { type ClusterOptions, EmbeddedCluster } from "./embedded-cluster.ts";
import type { ObjectStore } from "./object-store.ts";

export type BenchCluster = AsyncDisposable & {
  readonly home: string;
  /** Starts the cluster and waits until it is ready; from then on its processor time counts as the benchmark's. */
  up(): Promise<ClusterInfo>;
  /** Stops all processes; the data stays. */
  down(): Promise<void>;
  client(): Client;
  /** The object store of a cluster that is up and was started with one. */
  store(): ObjectStore;
};

/** Returns a cluster with these options, or the shared one, which has at least what each benchmark's options name. */
export function benchCluster(
  context: BenchContext,
  options: ClusterOptions = { slots: 2 },
): BenchCluster {
  const shared = context.cluster;
  const cluster = shared ?? new EmbeddedCluster(options);
  let owned: readonly Disposable[] = [];
  const disown = (): void => {
    for (const process of owned) process[Symbol.dispose]();
    owned = [];
  };
  return {
    home: cluster.home,
    async up() {
      const info = await cluster.up();
      owned = info.processes.flatMap(({ pid }) => (pid === null ? [] : [context.watch.own(pid)]));
      return info;
    },
    async down() {
      disown();
      await cluster.down();
    },
    client: () => cluster.client(),
    store: () => cluster.store,
    async [Symbol.asyncDispose]() {
      disown();
      if (shared === undefined) await cluster[Symbol.asyncDispose]();
    },
  };
}
