/**
 * The status of a PodDisruptionBudget. Source: docs, "Specifying a Disruption Budget for your Application",
 * "Disruptions".
 */
import {
  type Controller,
  type ControllerContext,
  controllerOf,
  type Key,
  keyOf,
  timeText,
} from "./controller.ts";
import type { DisruptionBudget, KubeObject, Objects, Pod, Plural } from "./kinds.ts";
import { amountOf, conditionIn, isActive, isReady } from "./pod-facts.ts";
import { selects } from "./selectors.ts";

const scaled: Readonly<Record<string, Plural>> = {
  ReplicaSet: "replicasets",
  StatefulSet: "statefulsets",
  Deployment: "deployments",
};

export function disruptionBudgets(context: ControllerContext): Controller {
  const { objects } = context;
  const inNamespace = ({ metadata }: KubeObject): readonly Key[] =>
    objects.list("poddisruptionbudgets", metadata.namespace ?? "").map(keyOf);
  return {
    name: "disruption-controller",
    plural: "poddisruptionbudgets",
    reads: {
      pods: inNamespace,
      deployments: inNamespace,
      replicasets: inNamespace,
      statefulsets: inNamespace,
    },
    reconcile: (key) => reconcile(key, context),
  };
}

function reconcile({ namespace, name }: Key, { objects, clock }: ControllerContext): null {
  const budget = objects.get("poddisruptionbudgets", namespace, name);
  if (budget === null) return null;
  const { selector = {} } = budget.spec;
  const pods = objects
    .list("pods", namespace)
    .filter((pod) => isActive(pod) && selects(selector, pod.metadata.labels));
  const expected = expectedOf(objects, pods);
  const desired = desiredOf(budget, pods.length, expected);
  const healthy = pods.filter(isReady).length;
  const allowed = pods.length === 0 ? 0 : Math.max(0, healthy - desired);
  const isEnough = allowed > 0;
  const old = conditionIn(budget.status?.conditions, "DisruptionAllowed");
  const status = isEnough ? "True" : "False";
  const { generation = 1 } = budget.metadata;
  const condition = {
    type: "DisruptionAllowed",
    status,
    reason: isEnough ? "SufficientPods" : "InsufficientPods",
    message: "",
    observedGeneration: generation,
    lastTransitionTime: old?.status === status ? (old.lastTransitionTime ?? "") : timeText(clock),
  } as const;
  objects.updateStatus("poddisruptionbudgets", {
    ...budget,
    status: {
      observedGeneration: generation,
      expectedPods:
        budget.spec.minAvailable !== undefined && typeof budget.spec.minAvailable === "number"
          ? pods.length
          : expected,
      currentHealthy: healthy,
      desiredHealthy: desired,
      disruptionsAllowed: allowed,
      conditions: [condition],
    },
  });
  return null;
}

/** An amount is rounded up. A number of `minAvailable` needs no controllers, as bare pods have none. */
function desiredOf({ spec }: DisruptionBudget, count: number, expected: number): number {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable !== undefined)
    return Math.max(0, expected - amountOf(maxUnavailable, expected, "up"));
  if (typeof minAvailable === "number") return minAvailable;
  return amountOf(minAvailable ?? 1, minAvailable === undefined ? count : expected, "up");
}

/** Returns the sum of the replicas of the pods' controllers: a Deployment counts for its ReplicaSets. */
function expectedOf(objects: Objects, pods: readonly Pod[]): number {
  const found = new Map<string, number>();
  for (const pod of pods) {
    let owner = scaledOwner(objects, pod);
    owner = owner === null ? null : (scaledOwner(objects, owner) ?? owner);
    const replicas = (owner?.["spec"] as { replicas?: number } | undefined)?.replicas ?? 1;
    if (owner !== null) found.set(owner.metadata.uid ?? "", replicas);
  }
  return [...found.values()].reduce((sum, replicas) => sum + replicas, 0);
}

function scaledOwner(objects: Objects, object: KubeObject): KubeObject | null {
  const owner = controllerOf(object);
  const plural = scaled[owner?.kind ?? ""];
  if (owner === null || plural === undefined) return null;
  return objects.get(plural, object.metadata.namespace ?? "", owner.name);
}
