/**
 * The work of a node for one pod: its network, volumes and containers, its status, and its end. Source: docs, "Pod
 * Lifecycle", "Init Containers".
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import type { Objects, Pod } from "../controllers/kinds.ts";
import type { Container } from "../controllers/pod-kinds.ts";
import { ContainerLife, type LifeContext, type NodeTimes } from "./container-life.ts";
import { lastWordsIn } from "./container-log.ts";
import { containerSpec } from "./container-spec.ts";
import { environmentOf, hostnameOf, type PodFacts } from "./environment.ts";
import type { Recorder } from "./events.ts";
import type { ContainerSpec, ImageFacts, PodmanApi } from "./podman-api.ts";
import { hostsFile, logFile, resolverFile, terminationFile, writePodFiles } from "./pod-files.ts";
import type { PodAddress, PodNetwork } from "./pod-network.ts";
import { podStatus } from "./pod-status.ts";
import { makeVolumes, MountProblem } from "./volumes.ts";

export type WorkerDeps = {
  readonly objects: Objects;
  readonly podman: PodmanApi;
  readonly network: PodNetwork;
  readonly times: NodeTimes;
  readonly record: Recorder;
  readonly nodeName: string;
  readonly allocatable: PodFacts["allocatable"];
  /** The folder of all pods, and that of all claims. */
  readonly pods: string;
  readonly claims: string;
  /** Names containers, which share the storage of one Podman. */
  readonly prefix: string;
  readonly tokenFor: (pod: Pod) => string;
  /** Hears of faults of the node itself. */
  readonly problem: (error: unknown) => void;
  /** Aborts when the node closes: it writes nothing more. */
  readonly closed: AbortSignal;
};

const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;
const graceSeconds = 30;

export class PodWorker {
  readonly folder: string;
  readonly #deps: WorkerDeps;
  #pod: Pod;
  readonly #startedAt = now();
  readonly #ending = new AbortController();
  readonly #removed = new AbortController();
  #address: PodAddress | null = null;
  #init: readonly ContainerLife[] = [];
  #main: readonly ContainerLife[] = [];
  #volumes: ReadonlyMap<string, string> = new Map();
  readonly #work: Promise<void>;
  #isTerminating = false;
  #holdsAddress = false;
  #isOver = false;
  #failure: { readonly reason: string; readonly message: string } | null = null;

  constructor(pod: Pod, deps: WorkerDeps) {
    this.#pod = pod;
    this.#deps = deps;
    this.folder = join(deps.pods, pod.metadata.uid ?? "");
    this.#work = this.#run().catch((error: unknown) => this.#failed(error));
  }

  get ip(): string | null {
    return this.#address?.ip ?? null;
  }

  life(container: string): ContainerLife | null {
    return [...this.#init, ...this.#main].find((one) => one.container.name === container) ?? null;
  }

  /** Ends the pod within the time, and deletes its object. A later call may shorten the time. */
  terminate(graceMs: number): void {
    const { problem } = this.#deps;
    this.#ending.abort();
    if (!this.#isTerminating) this.#terminate(graceMs).catch(problem);
    this.#isTerminating = true;
    const late = after(graceMs, undefined, { ref: false, signal: this.#removed.signal });
    late.then(
      () => this.kill().catch(problem),
      () => {},
    );
  }

  /** Kills the containers, and resolves when they are gone. */
  async kill(): Promise<void> {
    this.#ending.abort();
    await Promise.all([...this.#init, ...this.#main].map(async (life) => await life.kill()));
  }

  /** Frees what the pod has on the host, after its containers. */
  async remove(): Promise<void> {
    await this.kill();
    await this.#work;
    this.#removed.abort();
    await this.#freeNetwork();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Brings mounted Secrets and ConfigMaps up to date. */
  refresh(): void {
    if (this.#volumes.size === 0 || this.#isOver || this.#ending.signal.aborted) return;
    try {
      this.#mount();
    } catch (error) {
      // Files of a deleted object stay.
      if (!(error instanceof MountProblem)) throw error;
    }
  }

  async #run(): Promise<void> {
    const { network, record, times } = this.#deps;
    const { initContainers = [], containers, restartPolicy = "Always" } = this.#pod.spec;
    this.#limitTime();
    const hasInit = initContainers.length > 0;
    this.#init = initContainers.map((one, at) => this.#life(one, "init", at > 0));
    this.#main = containers.map((one) => this.#life(one, restartPolicy, hasInit));
    this.#write();
    const address = await this.#joinNetwork();
    if (address === null) return;
    this.#address = address;
    this.#holdsAddress = true;
    writePodFiles(this.folder, this.#pod, address.ip, network.gateway);
    this.#write();
    while (!this.#tryMount()) await this.#slept(times.retryMs);
    for (const life of this.#init) {
      if (this.#ending.signal.aborted) break;
      if (!(await life.run())) return await this.#over();
      this.#write();
    }
    if (this.#ending.signal.aborted) return await this.#over();
    await Promise.all(this.#main.map(async (life) => await life.run()));
    await this.#over();
    record(this.#pod, "Normal", "Completed", "All containers have ended");
  }

  /** Source: API reference, "PodSpec" (activeDeadlineSeconds); docs, "Init Containers". */
  #limitTime(): void {
    const { activeDeadlineSeconds: seconds, terminationGracePeriodSeconds: grace = graceSeconds } =
      this.#pod.spec;
    if (seconds === undefined) return;
    const exceeded = async (): Promise<void> => {
      if (this.#isOver) return;
      const message = "Pod was active on the node longer than the specified deadline";
      this.#failure = { reason: "DeadlineExceeded", message };
      this.#ending.abort();
      const lives = [...this.#init, ...this.#main];
      await Promise.all(lives.map(async (life) => await life.stop(grace * 1_000)));
    };
    const options = { ref: false, signal: this.#ending.signal };
    after(seconds * 1_000, undefined, options)
      .then(exceeded, () => {})
      .catch(this.#deps.problem);
  }

  async #over(): Promise<void> {
    this.#isOver = true;
    this.#write();
    // The address of a pod that is over is free; its status keeps it.
    await this.#freeNetwork();
  }

  async #freeNetwork(): Promise<void> {
    const address = this.#address;
    if (address === null || !this.#holdsAddress) return;
    this.#holdsAddress = false;
    await this.#deps.network.removePod(address);
  }
  async #terminate(graceMs: number): Promise<void> {
    const lives = [...this.#init, ...this.#main];
    await Promise.all(lives.map(async (life) => await life.stop(graceMs)));
    await this.#work;
    this.#isOver = true;
    this.#write();
    await this.remove();
    const { objects, closed } = this.#deps;
    const { namespace = "", name, uid } = this.#pod.metadata;
    if (closed.aborted || objects.get("pods", namespace, name)?.metadata.uid !== uid) return;
    objects.delete("pods", this.#pod, 0);
  }

  #life(container: Container, policy: string, waits: boolean): ContainerLife {
    const { podman, times, record, problem } = this.#deps;
    const { metadata, spec } = this.#pod;
    const restarts = spec.restartPolicy ?? "Always";
    const context: LifeContext = {
      podman,
      times,
      problem,
      podName: `${metadata.name}_${metadata.namespace}(${metadata.uid})`,
      podIP: "",
      gracePeriodSeconds: spec.terminationGracePeriodSeconds ?? graceSeconds,
      // An init container runs until it succeeds, or once if the pod never restarts.
      restartPolicy: policy === "init" ? (restarts === "Never" ? "Never" : "OnFailure") : restarts,
      spec: (one, image, attempt) => this.#spec(one, image, attempt),
      terminationFile: ({ name }) => terminationFile(this.folder, name),
      lastWords: ({ name }, attempt) => lastWordsIn(logFile(this.folder, name, attempt)),
      event: (type, reason, message) => record(this.#pod, type, reason, message),
      changed: () => this.#write(),
    };
    const withAddress = Object.defineProperty(context, "podIP", { get: () => this.ip ?? "" });
    return new ContainerLife(container, withAddress, waits);
  }

  #spec(container: Container, image: ImageFacts, attempt: number): ContainerSpec {
    const pod = this.#pod;
    const { prefix } = this.#deps;
    const variables = environmentOf(container, {
      objects: this.#deps.objects,
      pod,
      facts: this.#facts(),
    });
    return containerSpec(container, pod, image, variables, {
      name: `${prefix}_${container.name}_${pod.metadata.uid}_${attempt}`,
      network: this.#address?.path ?? "",
      hostname: hostnameOf(pod),
      hosts: hostsFile(this.folder),
      resolver: resolverFile(this.folder),
      termination: terminationFile(this.folder, container.name),
      log: logFile(this.folder, container.name, attempt),
      volumes: this.#volumes,
    });
  }

  #facts(): PodFacts {
    const { nodeName, allocatable, network } = this.#deps;
    return { podIP: this.ip ?? "", hostIP: network.gateway, nodeName, allocatable };
  }

  /** Returns false if a volume is not there yet. */
  #tryMount(): boolean {
    if (this.#ending.signal.aborted) return true;
    try {
      this.#mount();
      return true;
    } catch (error) {
      if (!(error instanceof MountProblem)) throw error;
      this.#deps.record(this.#pod, "Warning", "FailedMount", error.message);
      return false;
    }
  }

  #mount(): void {
    const { objects, claims, tokenFor } = this.#deps;
    const facts = this.#facts();
    const world = { objects, pod: this.#pod, folder: this.folder, claims, facts, tokenFor };
    this.#volumes = makeVolumes(world);
  }

  #write(): void {
    const { objects, closed, network } = this.#deps;
    const { namespace = "", name, uid } = this.#pod.metadata;
    const pod = objects.get("pods", namespace, name);
    if (closed.aborted || pod === null || pod.metadata.uid !== uid) return;
    this.#pod = pod;
    const statuses = (lives: readonly ContainerLife[]) => lives.map(({ status }) => status);
    const status = podStatus(pod, statuses(this.#init), statuses(this.#main), {
      podIP: this.ip,
      hostIP: network.gateway,
      startedAt: this.#startedAt,
      now: now(),
      failure: this.#failure,
    });
    objects.updateStatus("pods", { ...pod, status });
  }

  /** Tries until the pod has an address. Returns null if it was ended before. */
  async #joinNetwork(): Promise<PodAddress | null> {
    const { network, times, record, problem } = this.#deps;
    while (!this.#ending.signal.aborted) {
      try {
        return await network.addPod();
      } catch (error) {
        problem(error);
        record(this.#pod, "Warning", "FailedCreatePodSandBox", (error as Error).message);
        await this.#slept(times.retryMs);
      }
    }
    return null;
  }

  #failed(error: unknown): void {
    if (!this.#deps.closed.aborted) this.#deps.problem(error);
  }

  async #slept(ms: number): Promise<void> {
    await after(ms, undefined, { signal: this.#ending.signal }).catch(() => {});
  }
}
