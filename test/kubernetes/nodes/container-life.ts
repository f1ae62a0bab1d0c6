/**
 * The life of one container of a pod: it is made, runs, ends, and is made again as the pod's policy says. States, as
 * the container's status shows them: waiting → running → terminated → waiting (CrashLoopBackOff) → running … The first
 * restart is immediate; each later one waits twice as long as the one before. Source: docs, "Pod Lifecycle" (container
 * states, restart policy, handling of problems, termination), "Images" (ImagePullBackOff).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import type {
  Container,
  ContainerState,
  ContainerStatus,
  Handler,
  Probe,
  TerminatedState,
} from "../controllers/pod-kinds.ts";
import { ConfigError } from "./environment.ts";
import type { ContainerSpec, ImageFacts, PodmanApi } from "./podman-api.ts";
import { probe } from "./prober.ts";
import { tried } from "./probes.ts";

export type NodeTimes = {
  /** The first wait before a restart, which doubles up to thirty times itself. */
  readonly backOffMs: number;
  /** The wait before another try to configure a container or to find its image. */
  readonly retryMs: number;
  /** The length of a probe's second. */
  readonly secondMs: number;
};

export type LifeContext = {
  readonly podman: PodmanApi;
  readonly times: NodeTimes;
  /** The pod, as messages name it: NAME_NAMESPACE(UID). */
  readonly podName: string;
  readonly podIP: string;
  readonly gracePeriodSeconds: number;
  readonly restartPolicy: string;
  /** Describes the container for its given try. Throws a ConfigError for what its objects do not have. */
  spec(container: Container, image: ImageFacts, attempt: number): ContainerSpec;
  /** The file of the container's last words. */
  terminationFile(container: Container): string;
  /** The last lines of the container's output. */
  lastWords(container: Container, attempt: number): string;
  readonly event: (type: "Normal" | "Warning", reason: string, message: string) => void;
  readonly changed: () => void;
  /** A fault of the node itself. */
  readonly problem: (error: unknown) => void;
};

const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;
const seconds = (time: string): string => `${new Date(time).toISOString().slice(0, 19)}Z`;
const backOffFactorMax = 30;
/** A container that ran so long starts again without a wait. */
const healthyMs = 600_000;

export class ContainerLife {
  readonly container: Container;
  readonly #context: LifeContext;
  #state: ContainerState = { waiting: { reason: "ContainerCreating" } };
  #lastState: ContainerState = {};
  #restarts = 0;
  #imageId = "";
  #stopSignal = "SIGTERM";
  #id: string | null = null;
  #started = false;
  #ready = false;
  #stopping = false;
  readonly #stopped = new AbortController();
  #exited: Promise<void> = Promise.resolve();

  constructor(container: Container, context: LifeContext, waits: boolean) {
    this.container = container;
    this.#context = context;
    if (waits) this.#state = { waiting: { reason: "PodInitializing" } };
  }

  get status(): ContainerStatus {
    const { name, image } = this.container;
    return {
      name,
      image,
      imageID: this.#imageId,
      ...(this.#id === null ? {} : { containerID: `podman://${this.#id}` }),
      ready: this.#ready,
      started: this.#started,
      restartCount: this.#restarts,
      state: this.#state,
      lastState: this.#lastState,
    };
  }

  /** The id of the running container; null if none runs. */
  get running(): string | null {
    return this.#state.running === undefined ? null : this.#id;
  }

  get attempt(): number {
    return this.#restarts;
  }

  /** Resolves when the container has ended for good. Returns whether it succeeded. */
  async run(): Promise<boolean> {
    const { restartPolicy: policy, times } = this.#context;
    for (let waits = 0; ; ) {
      const beganMs = performance.now();
      const end = await this.#once();
      const ok = end?.exitCode === 0;
      const isLast = policy === "Never" || (policy === "OnFailure" && ok);
      if (this.#stopping || end === null || isLast) return ok;
      if (performance.now() - beganMs > healthyMs) waits = 0;
      this.#lastState = { terminated: end };
      const ms = waits === 0 ? 0 : times.backOffMs * Math.min(2 ** (waits - 1), backOffFactorMax);
      if (ms > 0) {
        const message = `back-off ${ms / 1_000}s restarting failed container=${this.container.name} pod=${this.#context.podName}`;
        this.#wait("CrashLoopBackOff", message);
        this.#context.event("Warning", "BackOff", message);
        if (!(await this.#slept(ms))) return false;
      }
      waits += 1;
      this.#restarts += 1;
    }
  }

  /** Ends the container: its hook, SIGTERM, and SIGKILL when the time is over. It does not start again. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    this.#stopped.abort();
    await this.#end(graceMs);
  }

  /** Kills without a hook; a stop that is under way ends by it. */
  async kill(): Promise<void> {
    this.#stopping = true;
    this.#stopped.abort();
    if (this.#id !== null) await this.#context.podman.kill(this.#id, "KILL");
    await this.#exited;
  }

  async #end(graceMs: number): Promise<void> {
    const id = this.running;
    if (id === null) return;
    const { podman } = this.#context;
    const overMs = performance.now() + graceMs;
    const left = (): number => Math.max(0, overMs - performance.now());
    const hook = this.container.lifecycle?.preStop;
    if (hook !== undefined && graceMs > 0) await this.#hook("PreStop", hook, id, left());
    const over = new AbortController();
    await podman.kill(id, this.#stopSignal);
    // A hook that took all the time leaves two seconds more. Source: docs, "Pod Lifecycle" (termination of pods).
    const restMs = Math.max(left(), hook !== undefined && graceMs > 0 ? 2_000 : 0);
    const late = after(restMs, undefined, { signal: over.signal }).then(
      async () => await podman.kill(id, "KILL"),
      () => {},
    );
    await this.#exited;
    over.abort();
    await late;
  }

  /** Makes and runs the container once. Returns null if it was stopped before it ran. */
  async #once(): Promise<TerminatedState | null> {
    const { podman } = this.#context;
    const id = await this.#created();
    if (id === null) return null;
    const over = Promise.withResolvers<void>();
    this.#exited = over.promise;
    try {
      const problem = await podman.start(id).then(
        () => null,
        (error: unknown) => (error as Error).message,
      );
      if (problem !== null) return this.#ended(startError(id, problem));
      this.#state = { running: { startedAt: now() } };
      this.#context.event("Normal", "Started", `Started container ${this.container.name}`);
      const probing = new AbortController();
      this.#watch(id, probing.signal).catch(this.#context.problem);
      if (this.#stopping) await podman.kill(id, "KILL");
      this.#context.changed();
      await podman.ended(id);
      probing.abort();
      return this.#ended(await this.#terminated(id));
    } finally {
      over.resolve();
      await podman.remove(id);
    }
  }

  /** Tries until the image, the variables and the volumes are there. Returns null when it was stopped before. */
  async #created(): Promise<string | null> {
    const { podman, times, event } = this.#context;
    for (let tries = 0; !this.#stopping; tries += 1) {
      const problem = await this.#create(podman, tries).catch((error: unknown) => ({
        reason:
          error instanceof ConfigError ? "CreateContainerConfigError" : "CreateContainerError",
        message: (error as Error).message,
      }));
      if (problem === null) return this.#id;
      this.#wait(problem.reason, problem.message);
      event("Warning", "Failed", `Error: ${problem.message}`);
      await this.#slept(times.retryMs);
    }
    return null;
  }

  async #create(
    podman: PodmanApi,
    tries: number,
  ): Promise<{ readonly reason: string; readonly message: string } | null> {
    const { image: name, imagePullPolicy: policy } = this.container;
    const image = await podman.image(name);
    if (image === null) {
      if (policy === "Never") {
        const message = `Container image "${name}" is not present with pull policy of Never`;
        return { reason: "ErrImageNeverPull", message };
      }
      const message = `failed to pull image "${name}": this node has local images only`;
      return tries % 2 === 0
        ? { reason: "ErrImagePull", message }
        : {
            reason: "ImagePullBackOff",
            message: `Back-off pulling image "${name}": ErrImagePull: ${message}`,
          };
    }
    this.#imageId = image.digest === "" ? image.id : `${repositoryOf(name)}@${image.digest}`;
    this.#stopSignal = image.stopSignal;
    const spec = this.#context.spec(this.container, image, this.#restarts);
    writeFileSync(this.#context.terminationFile(this.container), "");
    this.#id = await podman.create(spec);
    this.#context.event("Normal", "Created", `Created container: ${this.container.name}`);
    return null;
  }

  async #watch(id: string, signal: AbortSignal): Promise<void> {
    const { podman, podIP, times, event, changed } = this.#context;
    const target = { podman, podIP, container: this.container, id };
    const hook = this.container.lifecycle?.postStart;
    if (hook !== undefined && !(await this.#hook("PostStart", hook, id, 60_000))) {
      await podman.kill(id, "KILL");
      return;
    }
    const verdicts = {
      started: () => {
        this.#started = true;
        changed();
      },
      ready: (is: boolean) => {
        if (this.#ready !== is) {
          this.#ready = is;
          changed();
        }
      },
      failed: (kind: string, message: string) =>
        event("Warning", "Unhealthy", `${kind} probe failed: ${message}`),
      unhealthy: (kind: string, { terminationGracePeriodSeconds: own }: Probe) => {
        const { name } = this.container;
        event(
          "Normal",
          "Killing",
          `Container ${name} failed ${kind.toLowerCase()} probe, will be restarted`,
        );
        const grace = own ?? this.#context.gracePeriodSeconds;
        this.#end(grace * 1_000).catch((error: unknown) =>
          event("Warning", "FailedKill", String(error)),
        );
      },
    };
    await probe(target, verdicts, times, signal, () => this.#stopping);
  }

  async #hook(kind: string, handler: Handler, id: string, ms: number): Promise<boolean> {
    const { podman, podIP, event } = this.#context;
    const { ok, message } = await tried(
      handler,
      { podman, podIP, container: this.container, id },
      ms,
    );
    if (!ok) event("Warning", `Failed${kind}Hook`, `${kind}Hook failed: ${message}`);
    return ok;
  }

  async #terminated(id: string): Promise<TerminatedState> {
    const facts = await this.#context.podman.inspect(id);
    const exitCode = facts?.exitCode ?? 137;
    const killed = facts?.outOfMemory === true;
    const words = this.#message(exitCode);
    return {
      exitCode,
      reason: killed ? "OOMKilled" : exitCode === 0 ? "Completed" : "Error",
      ...(words === "" ? {} : { message: words }),
      startedAt: seconds(facts?.startedAt ?? now()),
      finishedAt: seconds(facts?.finishedAt ?? now()),
      containerID: `podman://${id}`,
    };
  }

  /** Source: docs, "Determine the Reason for Pod Failure" (4,096 bytes; the end of the log as a fallback). */
  #message(exitCode: number): string {
    const { terminationMessagePolicy: policy } = this.container;
    const written = readFileSync(this.#context.terminationFile(this.container));
    const words = written.subarray(0, 4_096).toString();
    if (words !== "" || exitCode === 0 || policy !== "FallbackToLogsOnError") return words;
    return this.#context.lastWords(this.container, this.#restarts);
  }

  #ended(end: TerminatedState): TerminatedState {
    this.#state = { terminated: end };
    this.#ready = false;
    this.#started = false;
    this.#context.changed();
    return end;
  }

  #wait(reason: string, message: string): void {
    this.#state = { waiting: { reason, message } };
    this.#context.changed();
  }

  /** Returns false if the container was stopped meanwhile. */
  async #slept(ms: number): Promise<boolean> {
    await after(ms, undefined, { signal: this.#stopped.signal }).catch(() => {});
    return !this.#stopping;
  }
}

function startError(id: string, message: string): TerminatedState {
  const at = now();
  const ended = { exitCode: 128, reason: "StartError", message, startedAt: at, finishedAt: at };
  return { ...ended, containerID: `podman://${id}` };
}

function repositoryOf(image: string): string {
  return image.replace(/@.*$/, "").replace(/:[^/:]*$/, "");
}
