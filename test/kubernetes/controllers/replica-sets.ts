/**
 * Keeps as many pods of a template as a ReplicaSet asks for. Source: docs, "ReplicaSet" (how a ReplicaSet works;
 * scaling down: pods without a node first, then pending ones, then unready ones, then the newest).
 */
import {
  type Controller,
  type ControllerContext,
  type Key,
  ownerKeys,
  timeText,
} from "./controller.ts";
import type { Pod, ReplicaSet } from "./kinds.ts";
import type { Condition } from "./pod-kinds.ts";
import { conditionIn, countsOf, isActive, isDeleted, isReady, podOf } from "./pod-facts.ts";
import { claimed, selects } from "./selectors.ts";

export function replicaSets(context: ControllerContext): Controller {
  return {
    name: "replicaset-controller",
    plural: "replicasets",
    reads: { pods: ownerKeys("ReplicaSet") },
    reconcile: (key) => reconcile(key, context),
  };
}

function reconcile({ namespace, name }: Key, context: ControllerContext): number | null {
  const { objects, clock } = context;
  const set = objects.get("replicasets", namespace, name);
  if (set === null) return null;
  const { selector, replicas: wanted = 1, minReadySeconds = 0 } = set.spec;
  const pods = claimed(objects, "pods", set, selector).filter(isActive);
  let problem: string | null = null;
  if (!isDeleted(set)) {
    try {
      scale(set, pods, wanted, context);
    } catch (error) {
      problem = (error as Error).message;
    }
  }
  const left = claimed(objects, "pods", set, selector).filter(isActive);
  const { ready, available, nextMs } = countsOf(left, minReadySeconds, clock.nowMs());
  const labels = { matchLabels: set.spec.template.metadata?.labels ?? {} };
  const current = objects.get("replicasets", namespace, name);
  if (current === null) return null;
  objects.updateStatus("replicasets", {
    ...current,
    status: {
      replicas: left.length,
      fullyLabeledReplicas: left.filter((pod) => selects(labels, pod.metadata.labels)).length,
      readyReplicas: ready,
      availableReplicas: available,
      observedGeneration: set.metadata.generation ?? 1,
      ...conditions(set, problem, timeText(clock)),
    },
  });
  if (problem !== null) throw new Error(problem);
  return nextMs;
}

function scale(
  set: ReplicaSet,
  pods: readonly Pod[],
  wanted: number,
  { objects }: ControllerContext,
): void {
  for (let count = pods.length; count < wanted; count += 1) {
    const named = { name: "", generateName: `${set.metadata.name}-` };
    objects.create("pods", podOf(set.spec.template, set, named));
  }
  const surplus = [...pods].sort(firstToGo).slice(0, Math.max(0, pods.length - wanted));
  for (const pod of surplus) objects.delete("pods", pod);
}

function firstToGo(a: Pod, b: Pod): number {
  const ranks = (pod: Pod): readonly number[] => [
    pod.spec.nodeName ? 1 : 0,
    pod.status?.phase === "Running" ? 1 : 0,
    isReady(pod) ? 1 : 0,
    -Date.parse(pod.metadata.creationTimestamp ?? ""),
  ];
  const [left, right] = [ranks(a), ranks(b)];
  const at = left.findIndex((rank, index) => rank !== right[index]);
  return at === -1 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

function conditions(
  { status }: ReplicaSet,
  problem: string | null,
  now: string,
): { conditions?: readonly Condition[] } {
  if (problem === null) return {};
  const old = conditionIn(status?.conditions, "ReplicaFailure");
  const at = old?.lastTransitionTime ?? now;
  const failure = { type: "ReplicaFailure", status: "True", reason: "FailedCreate" } as const;
  return { conditions: [{ ...failure, message: problem, lastTransitionTime: at }] };
}
