/**
 * A node that runs the pods of a store with Podman, each as specified, and the names and addresses by which they find
 * each other. It takes every pod that no node has. What it cannot do, it refuses in the pod's condition PodScheduled.
 * Source: docs, "Nodes", "Pod Lifecycle", "Kubernetes Components".
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { badRequest } from "../api/fault.ts";
import type { ObjectStore } from "../api/object-store.ts";
import type { PodLogs } from "../api/rest/subresources.ts";
import { type Claim, Objects, type Pod, uidOf } from "../controllers/kinds.ts";
import type { NodeTimes } from "./container-life.ts";
import { readLog } from "./container-log.ts";
import { recorder, type Recorder } from "./events.ts";
import { Forwarder } from "./forwarder.ts";
import { type NameServer, serveNames } from "./names.ts";
import { addApiServer, addNode, nodeLabels } from "./own-objects.ts";
import { logFile } from "./pod-files.ts";
import type { PodNetwork } from "./pod-network.ts";
import { dated } from "./pod-status.ts";
import { PodWorker } from "./pod-worker.ts";
import { PodmanApi } from "./podman-api.ts";
import { Services } from "./services.ts";
import { lacking } from "./unsupported.ts";
import { claimFolder } from "./volumes.ts";

export type ApiServer = {
  /** The server's port on 127.0.0.1, with TLS. */
  readonly port: number;
  readonly tokenFor: (namespace: string, serviceAccount: string) => string;
};

export type NodeOptions = {
  readonly store: ObjectStore;
  /** The network, from which the store's Services have their addresses; the node closes it. */
  readonly network: PodNetwork;
  /** The socket of Podman's service. */
  readonly socket: string;
  readonly apiServer?: ApiServer;
  readonly times?: Partial<NodeTimes>;
  readonly name?: string;
};

const realTimes: NodeTimes = { backOffMs: 10_000, retryMs: 1_000, secondMs: 1_000 };
const apiPort = 6_443;

export class PodNode implements AsyncDisposable {
  readonly name: string;
  readonly #objects: Objects;
  readonly #podman: PodmanApi;
  readonly #network: PodNetwork;
  readonly #folder: string;
  readonly #times: NodeTimes;
  readonly #options: NodeOptions;
  readonly #record: Recorder;
  readonly #workers = new Map<string, PodWorker>();
  readonly #removals = new Set<Promise<void>>();
  readonly #hosts = new Map<string, string>();
  readonly #forwarders: Forwarder[] = [];
  readonly #closed = new AbortController();
  #names: NameServer | null = null;
  #services: Services | null = null;
  #watches: readonly (() => void)[] = [];

  private constructor(options: NodeOptions) {
    this.name = options.name ?? "node-1";
    this.#options = options;
    this.#objects = new Objects(options.store);
    this.#podman = new PodmanApi(options.socket);
    this.#network = options.network;
    this.#times = { ...realTimes, ...options.times };
    // Podman's paths of a container may have 100 characters.
    this.#folder = mkdtempSync(join(tmpdir(), "ty-node-"));
    this.#record = recorder(this.#objects, "kubelet", this.name);
  }

  static async start(options: NodeOptions): Promise<PodNode> {
    const node = new PodNode(options);
    await node.#start();
    return node;
  }

  /** The address of the node, by which pods reach what listens on the bridge. */
  get address(): string {
    return this.#network.gateway;
  }

  /** The faults of the node itself, such as a port of a Service that could not be opened. */
  readonly problems: string[] = [];

  /** Makes a port of 127.0.0.1 reachable from pods, by a name and on the same port. */
  async exposeHostPort(name: string, port: number): Promise<{ readonly address: string }> {
    const address = this.#hosts.get(name) ?? this.#network.takeServiceAddress();
    this.#forwarders.push(await Forwarder.open(address, port, [{ host: "127.0.0.1", port }]));
    this.#hosts.set(name.toLowerCase(), address);
    return { address };
  }

  /** Yields the log of a container as text, for `kubectl logs`. Throws an ApiFault for a container without one. */
  readonly logs: PodLogs = {
    read: (pod, container, { tailLines, previous, ...options }, signal) => {
      const life = this.#workers.get(uidOf(pod))?.life(container) ?? null;
      const folder = this.#workers.get(uidOf(pod))?.folder ?? "";
      const { name } = pod.metadata;
      if (life === null)
        throw badRequest(`container "${container}" in pod "${name}" is not available`);
      const attempt = previous ? life.attempt - 1 : life.attempt;
      if (attempt < 0) {
        throw badRequest(`previous terminated container "${container}" in pod "${name}" not found`);
      }
      const { state, lastState } = life.status;
      if (state.waiting !== undefined && lastState.terminated === undefined) {
        const why = `waiting to start: ${state.waiting.message ?? state.waiting.reason}`;
        throw badRequest(`container "${container}" in pod "${name}" is ${why}`);
      }
      const isOver = (): boolean => life.running === null || life.attempt !== attempt;
      const wanted = { ...options, ...(tailLines === null ? {} : { tailLines }) };
      return readLog(logFile(folder, container, attempt), wanted, isOver, signal);
    },
  };

  /** Runs a program in a container, as `kubectl exec` does. */
  async exec(
    namespace: string,
    pod: string,
    container: string,
    argv: readonly string[],
    signal: AbortSignal = AbortSignal.timeout(60_000),
  ): Promise<{ readonly code: number; readonly output: string }> {
    const found = this.#objects.get("pods", namespace, pod);
    const id = this.#workers.get(found === null ? "" : uidOf(found))?.life(container)?.running;
    if (id === null || id === undefined) throw new Error(`container not found ("${container}")`);
    return await this.#podman.exec(id, argv, signal);
  }

  /** Kills all containers, and removes what the node has made. The objects of the pods stay as they are. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    for (const end of this.#watches) end();
    await Promise.allSettled(
      [...this.#workers.values()].map(async (worker) => await worker.remove()),
    );
    await Promise.allSettled(this.#removals);
    for (const forwarder of this.#forwarders) forwarder.abort();
    await this.#services?.close();
    await this.#names?.close();
    await this.#network.close();
    this.#podman.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  readonly #problem = (error: unknown): void =>
    void this.problems.push(
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    );

  async #start(): Promise<void> {
    const objects = this.#objects;
    for (const name of ["pods", "claims"]) mkdirSync(join(this.#folder, name));
    this.#names = await serveNames(this.address, objects, this.#hosts);
    addNode(objects, this.name, this.address, this.#allocatable());
    const { apiServer } = this.#options;
    if (apiServer !== undefined) {
      const targets = [{ host: "127.0.0.1", port: apiServer.port }];
      this.#forwarders.push(await Forwarder.open(this.address, apiPort, targets));
      addApiServer(objects, this.#network.apiServerAddress, this.address, apiPort);
    }
    this.#services = new Services(objects, this.#network, this.#problem);
    this.#watches = [
      objects.watch("pods", (pod, type) => this.#follow(pod, type === "DELETED")),
      objects.watch("secrets", ({ metadata }) => this.#refresh(metadata.namespace)),
      objects.watch("configmaps", ({ metadata }) => this.#refresh(metadata.namespace)),
      objects.watch("persistentvolumeclaims", (claim, type) => {
        if (type === "DELETED") this.#removeClaim(claim);
      }),
    ];
    for (const pod of objects.list("pods")) this.#follow(pod, false);
  }

  #follow(pod: Pod, isGone: boolean): void {
    const worker = this.#workers.get(uidOf(pod));
    if (isGone) return this.#forget(pod, worker);
    if (!pod.spec.nodeName) return this.#bind(pod);
    if (pod.spec.nodeName !== this.name) return;
    const { deletionTimestamp, deletionGracePeriodSeconds: grace = 30 } = pod.metadata;
    const isOver = ["Succeeded", "Failed"].includes(pod.status?.phase ?? "");
    if (worker === undefined && !isOver) this.#workers.set(uidOf(pod), this.#worker(pod));
    if (deletionTimestamp === undefined) return;
    this.#workers.get(uidOf(pod))?.terminate(grace * 1_000);
  }

  /** A pod whose object was removed by force is killed. */
  #forget(pod: Pod, worker: PodWorker | undefined): void {
    if (worker === undefined) return;
    this.#workers.delete(uidOf(pod));
    const removal = worker.remove().finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
    removal.catch(this.#problem);
  }

  #bind(seen: Pod): void {
    const { namespace = "", name } = seen.metadata;
    const pod = this.#objects.get("pods", namespace, name);
    if (pod === null || pod.metadata.uid !== uidOf(seen) || pod.spec.nodeName) return;
    const why = lacking(pod, nodeLabels(this.name));
    if (why !== null) return this.#refuse(pod, `0/1 nodes are available: this node has no ${why}.`);
    pod.spec.nodeName = this.name;
    this.#objects.update("pods", pod);
    const message = `Successfully assigned ${namespace}/${name} to ${this.name}`;
    this.#record(pod, "Normal", "Scheduled", message);
  }

  #refuse(pod: Pod, message: string): void {
    const old = pod.status?.conditions ?? [];
    if (old.some((one) => one.type === "PodScheduled" && one.message === message)) return;
    const now = `${new Date().toISOString().slice(0, 19)}Z`;
    const made = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message,
    } as const;
    const status = { ...pod.status, phase: "Pending", conditions: [dated(made, old, now)] };
    this.#objects.updateStatus("pods", { ...pod, status });
    this.#record(pod, "Warning", "FailedScheduling", message);
  }

  #worker(pod: Pod): PodWorker {
    return new PodWorker(pod, {
      objects: this.#objects,
      podman: this.#podman,
      network: this.#network,
      times: this.#times,
      record: this.#record,
      nodeName: this.name,
      allocatable: this.#allocatable(),
      pods: join(this.#folder, "pods"),
      claims: join(this.#folder, "claims"),
      prefix: `k8s_${process.pid}`,
      tokenFor: ({ metadata, spec }) =>
        this.#options.apiServer?.tokenFor(
          metadata.namespace ?? "",
          spec.serviceAccountName ?? "default",
        ) ?? "",
      problem: this.#problem,
      closed: this.#closed.signal,
    });
  }

  #refresh(namespace: string | undefined): void {
    for (const pod of this.#objects.list("pods", namespace ?? null)) {
      this.#workers.get(uidOf(pod))?.refresh();
    }
  }

  #removeClaim(claim: Claim): void {
    rmSync(claimFolder(join(this.#folder, "claims"), claim), { recursive: true, force: true });
  }

  #allocatable(): Readonly<Record<string, number>> {
    return { cpu: availableParallelism(), memory: totalmem(), "ephemeral-storage": 2 ** 36 };
  }
}
