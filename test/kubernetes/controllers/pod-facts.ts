/** Facts about pods that several controllers read. Source: docs, "Pod Lifecycle", "Deployments" (minReadySeconds). */
import type { IntOrPercent, KubeObject, OwnerReference, Pod } from "./kinds.ts";
import type { Condition, PodTemplate } from "./pod-kinds.ts";
import { ownedBy } from "./controller.ts";

/** The pod will not run any more. */
export function isOver({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

export function isDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isActive(pod: Pod): boolean {
  return !isOver(pod) && !isDeleted(pod);
}

export function isReady({ status }: Pod): boolean {
  return conditionIn(status?.conditions, "Ready")?.status === "True";
}

/** Returns how long until the pod counts as available; null if it is not ready. */
export function availableInMs(
  { status }: Pod,
  minReadySeconds: number,
  nowMs: number,
): number | null {
  const ready = conditionIn(status?.conditions, "Ready");
  if (ready?.status !== "True") return null;
  if (minReadySeconds === 0) return 0;
  const sinceMs = Date.parse(ready.lastTransitionTime ?? "");
  return Math.max(0, sinceMs + minReadySeconds * 1_000 - nowMs);
}

export function conditionIn(
  conditions: readonly Condition[] | undefined,
  type: string,
): Condition | undefined {
  return conditions?.find((one) => one.type === type);
}

export type Counts = {
  readonly ready: number;
  readonly available: number;
  /** The time until another pod is available without a change. */
  readonly nextMs: number | null;
};

export function countsOf(pods: readonly Pod[], minReadySeconds: number, nowMs: number): Counts {
  const waits = pods.map((pod) => availableInMs(pod, minReadySeconds, nowMs));
  const later = waits.filter((ms) => ms !== null && ms > 0);
  return {
    ready: pods.filter(isReady).length,
    available: waits.filter((ms) => ms === 0).length,
    nextMs: later.length === 0 ? null : Math.min(...later.map(Number)),
  };
}

/** Returns a pod of a template, without a name. */
export function podOf(
  template: PodTemplate,
  owner: KubeObject,
  metadata: { name: string; generateName?: string },
  labels: Readonly<Record<string, string>> = {},
): KubeObject & { metadata: { ownerReferences?: OwnerReference[] } } {
  const { annotations } = template.metadata ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...metadata,
      ...(owner.metadata.namespace === undefined ? {} : { namespace: owner.metadata.namespace }),
      labels: { ...template.metadata?.labels, ...labels },
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ownerReferences: [ownedBy(owner)],
    },
    spec: structuredClone(template.spec),
  };
}

/** A number, or a part of `total`: a percentage is rounded up for what may be added, and down for what may lack. */
export function amountOf(value: IntOrPercent, total: number, round: "up" | "down"): number {
  if (typeof value === "number") return value;
  const part = (Number.parseInt(value, 10) * total) / 100;
  return round === "up" ? Math.ceil(part) : Math.floor(part);
}
