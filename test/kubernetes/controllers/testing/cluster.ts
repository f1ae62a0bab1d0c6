/** A store with controllers, a clock that a test advances, and pods that become ready when the test says so. */
import { atRest, ManualClock } from "@trainyard/testing";
import type { KubeObject } from "../../api/object-store.ts";
import { createObjectStore } from "../../api/store/create-store.ts";
import { startControllers } from "../index.ts";
import { type Kinds, Objects, type Pod, type Plural } from "../kinds.ts";
import { isDeleted } from "../pod-facts.ts";
import type { ContainerStatus } from "../pod-kinds.ts";

export const labels = { app: "web" };

export class ControllerCluster implements Disposable {
  readonly objects: Objects;
  readonly clock = new ManualClock(Date.now());
  readonly failures: string[] = [];
  /** New pods run and are ready, and deleted ones are gone at once. */
  works = true;
  readonly #version: () => number;
  readonly #controllers: Disposable;

  constructor() {
    const store = createObjectStore();
    this.#version = () => store.version;
    this.objects = new Objects(store);
    this.objects.watch("pods", (pod, type) => {
      if (type !== "DELETED" && this.works) this.run(pod);
    });
    const failed = (name: string, error: unknown): void =>
      void this.failures.push(`${name}: ${error}`);
    this.#controllers = startControllers({ store, clock: this.clock, failed });
  }

  /** Resolves when the controllers have nothing left to do. */
  async settle(): Promise<void> {
    for (let before = -1; before !== this.#version(); ) {
      before = this.#version();
      await atRest();
    }
  }

  async advance(seconds: number): Promise<void> {
    await this.clock.advance(seconds * 1_000);
    await this.settle();
  }

  /** Does with a pod what a node would: it binds it, makes it ready, or ends it. */
  run(given: Pod): void {
    const pod = this.objects.get("pods", "default", given.metadata.name);
    if (pod === null) return;
    if (!pod.spec.nodeName) {
      pod.spec.nodeName = "node-1";
      this.objects.update("pods", pod);
    } else if (isDeleted(pod)) this.objects.delete("pods", pod, 0);
    else if (pod.status?.phase === "Pending") this.become(pod.metadata.name, "Running", true);
  }

  become(name: string, phase: string, ready = false): void {
    const pod = this.objects.get("pods", "default", name);
    if (pod === null) throw new Error(`no pod ${name}`);
    const at = new Date(this.clock.nowMs()).toISOString();
    const status = ready ? ("True" as const) : ("False" as const);
    const conditions = [{ type: "Ready", status, lastTransitionTime: at }];
    const podIP = `10.0.0.${1 + this.objects.list("pods").findIndex((one) => one.metadata.name === name)}`;
    const terminated = { exitCode: phase === "Failed" ? 1 : 0, finishedAt: at };
    const ended = {
      name: "main",
      restartCount: 0,
      state: { terminated },
    } as unknown as ContainerStatus;
    const containerStatuses = phase === "Running" ? [] : [ended];
    this.objects.updateStatus("pods", {
      ...pod,
      status: { phase, conditions, podIP, containerStatuses },
    });
  }

  create<P extends Plural>(plural: P, kind: string, name: string, spec: object): Kinds[P] {
    const apiVersion = versions[kind] ?? "v1";
    const metadata = { name, namespace: "default" };
    return this.objects.create(plural, { apiVersion, kind, metadata, spec } as KubeObject);
  }

  get<P extends Plural>(plural: P, name: string): Kinds[P] {
    const found = this.objects.get(plural, "default", name);
    if (found === null) throw new Error(`no ${plural} ${name}`);
    return found;
  }

  /** Changes the specification of an object. */
  change<P extends Plural>(plural: P, name: string, spec: object): void {
    const found = this.get(plural, name);
    this.objects.update(plural, {
      ...found,
      spec: { ...(found["spec"] as object), ...spec },
    } as Kinds[P]);
  }

  names(plural: Plural): readonly string[] {
    return this.objects.list(plural, "default").map(({ metadata }) => metadata.name);
  }

  [Symbol.dispose](): void {
    this.#controllers[Symbol.dispose]();
  }
}

const versions: Readonly<Record<string, string>> = {
  Deployment: "apps/v1",
  StatefulSet: "apps/v1",
  ReplicaSet: "apps/v1",
  Job: "batch/v1",
  PodDisruptionBudget: "policy/v1",
};

export function templateOf(image: string, more: object = {}): object {
  return { metadata: { labels }, spec: { containers: [{ name: "main", image }], ...more } };
}

/** Fields of a Deployment or a StatefulSet of this image. */
export function specOf(replicas: number, image: string, more: object = {}): object {
  return { replicas, selector: { matchLabels: labels }, template: templateOf(image), ...more };
}
