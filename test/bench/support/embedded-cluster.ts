/** An embedded cluster with a home folder of its own, which is deleted with it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@trainyard/client";
import { type ClusterInfo, clusterAccess, clusterDown, clusterUp } from "@trainyard/local-cluster";
import { type ObjectStore, startObjectStore } from "./object-store.ts";

export type ClusterOptions = {
  readonly agents?: number;
  readonly slots: number;
  /** Whether the gateway serves the Web UI. */
  readonly web?: boolean;
  /** Whether experiments can store checkpoints in an object store, which discards them. */
  readonly objectStore?: boolean;
  /** The seconds between two saves of the folder of a running task; by default those of an agent. */
  readonly workSeconds?: number;
  /** Whether each service is a process of its own. */
  readonly processes?: boolean;
};

export class EmbeddedCluster implements AsyncDisposable {
  readonly home = mkdtempSync(join(tmpdir(), "trainyard-bench-"));
  readonly #options: ClusterOptions;
  #store: ObjectStore | null = null;

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  /** Starts the cluster unless it is up, and waits until it is ready. */
  async up(): Promise<ClusterInfo> {
    const { agents, slots, web, objectStore, workSeconds, processes = false } = this.#options;
    if (objectStore === true) {
      this.#store ??= await startObjectStore();
      // The cluster's processes inherit these variables.
      Object.assign(process.env, this.#store.variables);
    }
    if (workSeconds !== undefined) {
      process.env["TRAINYARD_AGENT_WORK_SECONDS"] = String(workSeconds);
    }
    const size = agents === undefined ? { slots } : { agents, slots };
    const { cluster } = await clusterUp({ home: this.home, ...size, processes, web: web ?? false });
    return cluster;
  }

  /** Stops all processes of the cluster; the data stays. */
  async down(): Promise<void> {
    await clusterDown(this.home);
  }

  client(): Client {
    const access = clusterAccess(this.home);
    if (access === null) throw new Error("the cluster is not up");
    return new Client({ url: access.api, token: access.token });
  }

  get store(): ObjectStore {
    if (this.#store === null) throw new Error("the cluster was started without an object store");
    return this.#store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await clusterDown(this.home, { purge: true });
    await this.#store?.[Symbol.asyncDispose]();
    rmSync(this.home, { recursive: true, force: true });
  }
}
