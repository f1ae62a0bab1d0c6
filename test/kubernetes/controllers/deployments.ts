/**
 * Rolls a Deployment out: a ReplicaSet for each template, of which the newest gets all pods. RollingUpdate keeps at
 * least `replicas - maxUnavailable` pods available and at most `replicas + maxSurge` in all; Recreate ends all old pods
 * first. A change of `replicas` in the middle of a rollout is not spread over old and new ReplicaSets. Source: docs,
 * "Deployments" (strategy, status, rolling back, progress deadline, clean up policy).
 */
import {
  type Controller,
  type ControllerContext,
  type Key,
  ownedBy,
  ownerKeys,
} from "./controller.ts";
import { isComplete, statusOf } from "./deployment-status.ts";
import { availableIn, limitsOf, type Sets, wantedBy } from "./rollout.ts";
import type { Deployment, Objects, Pod, ReplicaSet } from "./kinds.ts";
import type { Labels } from "./pod-kinds.ts";
import { isDeleted, isOver } from "./pod-facts.ts";
import { claimed, selects } from "./selectors.ts";
import { sameTemplate, templateHash, templateLabel } from "./template-hash.ts";

export const revisionAnnotation = "deployment.kubernetes.io/revision";
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

export function deployments(context: ControllerContext): Controller {
  const { objects } = context;
  return {
    name: "deployment-controller",
    plural: "deployments",
    // A pod's end matters to Recreate; its ReplicaSet's owner is the Deployment.
    reads: {
      replicasets: ownerKeys("Deployment"),
      pods: (pod) =>
        ownerKeys("ReplicaSet")(pod).flatMap(({ namespace, name }) => {
          const set = objects.get("replicasets", namespace, name);
          return set === null ? [] : ownerKeys("Deployment")(set);
        }),
    },
    reconcile: (key) => reconcile(key, context),
  };
}

function reconcile({ namespace, name }: Key, context: ControllerContext): number | null {
  const { objects } = context;
  const deployment = objects.get("deployments", namespace, name);
  if (deployment === null) return null;
  if (!isDeleted(deployment)) rollOut(objects, setsOf(objects, deployment));
  const after = objects.get("deployments", namespace, name);
  if (after === null) return null;
  const sets = setsOf(objects, after);
  const { status, nextMs } = statusOf(sets, context.clock);
  objects.updateStatus("deployments", { ...after, status });
  if (isComplete(after.spec.replicas ?? 1, status)) cleanUp(objects, sets);
  return nextMs;
}

function setsOf(objects: Objects, deployment: Deployment): Sets {
  const all = [...claimed(objects, "replicasets", deployment, deployment.spec.selector)].sort(
    (a, b) => revisionOf(a) - revisionOf(b),
  );
  const newest =
    all.find((set) => sameTemplate(set.spec.template, deployment.spec.template)) ?? null;
  return { deployment, newest, old: all.filter((set) => set !== newest) };
}

export function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[revisionAnnotation] ?? 0);
}

function rollOut(objects: Objects, sets: Sets): void {
  const { deployment, old } = sets;
  const { strategy = {}, replicas = 1, paused = false } = deployment.spec;
  if (paused) {
    // A paused Deployment is scaled, and nothing else.
    const running = [...old, sets.newest].filter((set) => set !== null && wantedBy(set) > 0);
    const [only = sets.newest] = running;
    if (running.length <= 1 && only !== null) scale(objects, only, replicas);
    return;
  }
  if (strategy.type === "Recreate") {
    for (const set of old) scale(objects, set, 0);
    if (hasPods(objects, old)) return;
    scale(objects, current(objects, sets), replicas);
    return;
  }
  roll(objects, { ...sets, newest: current(objects, sets) });
}

/** Returns the template's ReplicaSet with its revision; it is made if there is none. */
function current(objects: Objects, { deployment, newest, old }: Sets): ReplicaSet {
  const highest = Math.max(0, ...old.map(revisionOf));
  const { annotations = {} } = deployment.metadata;
  const shared = Object.fromEntries(
    Object.entries(annotations).filter(
      ([key]) => key !== revisionAnnotation && key !== lastApplied,
    ),
  );
  const revision = newest === null ? highest + 1 : Math.max(revisionOf(newest), highest + 1);
  const given = { ...shared, [revisionAnnotation]: String(revision) };
  const set =
    newest === null ? made(objects, deployment, given) : annotated(objects, newest, given);
  if (annotations[revisionAnnotation] !== String(revision)) {
    const marked = { ...annotations, [revisionAnnotation]: String(revision) };
    const fresh = objects.get(
      "deployments",
      deployment.metadata.namespace ?? "",
      deployment.metadata.name,
    );
    if (fresh !== null) {
      objects.update("deployments", {
        ...fresh,
        metadata: { ...fresh.metadata, annotations: marked },
      });
    }
  }
  return set;
}

function annotated(objects: Objects, set: ReplicaSet, given: Labels): ReplicaSet {
  const annotations = { ...set.metadata.annotations, ...given };
  return objects.update("replicasets", { ...set, metadata: { ...set.metadata, annotations } });
}

function made(objects: Objects, deployment: Deployment, annotations: Labels): ReplicaSet {
  const { metadata, spec, status } = deployment;
  for (let collisions = status?.collisionCount ?? 0; ; collisions += 1) {
    const hash = templateHash(spec.template, collisions);
    const labels = { ...spec.template.metadata?.labels, [templateLabel]: hash };
    const name = `${metadata.name}-${hash}`;
    if (objects.get("replicasets", metadata.namespace ?? "", name) !== null) continue;
    const { minReadySeconds } = spec;
    return objects.create("replicasets", {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        name,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        labels,
        annotations: { ...annotations },
        ownerReferences: [ownedBy(deployment)],
      },
      spec: {
        replicas: 0,
        ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
        selector: {
          ...spec.selector,
          matchLabels: { ...spec.selector.matchLabels, [templateLabel]: hash },
        },
        template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
      },
    });
  }
}

/** One step: the new set grows as far as it may, and old ones shrink as far as they may. */
function roll(objects: Objects, { deployment, newest, old }: Sets & { newest: ReplicaSet }): void {
  const { replicas = 1 } = deployment.spec;
  const { surge, unavailable } = limitsOf(deployment);
  const all = [...old, newest].reduce((sum, set) => sum + wantedBy(set), 0);
  const room = Math.max(0, replicas + surge - all);
  const grown = Math.min(replicas, wantedBy(newest) + room);
  const isGrowing = grown > wantedBy(newest);
  scale(objects, newest, grown);
  // The next step follows the status of the grown set.
  if (isGrowing) return;
  const lacking = Math.max(0, wantedBy(newest) - availableIn(newest));
  let mayGo = all - (replicas - unavailable) - lacking;
  if (mayGo <= 0) return;
  // Pods that are not available go first: they are missed by none.
  const shrunk = new Map(old.map((set) => [set, wantedBy(set)]));
  for (const set of old) {
    const gone = Math.max(0, Math.min(mayGo, wantedBy(set) - availableIn(set)));
    shrunk.set(set, wantedBy(set) - gone);
    mayGo -= gone;
  }
  const available = [...old, newest].reduce((sum, set) => sum + availableIn(set), 0);
  let surplus = available - (replicas - unavailable);
  for (const set of old) {
    const gone = Math.max(0, Math.min(surplus, shrunk.get(set) ?? 0));
    shrunk.set(set, (shrunk.get(set) ?? 0) - gone);
    surplus -= gone;
  }
  for (const [set, wanted] of shrunk) scale(objects, set, wanted);
}

function scale(objects: Objects, set: ReplicaSet, replicas: number): void {
  if (wantedBy(set) === replicas) return;
  objects.update("replicasets", { ...set, spec: { ...set.spec, replicas } });
}

function hasPods(objects: Objects, sets: readonly ReplicaSet[]): boolean {
  const isLeft = (pod: Pod, { metadata, spec }: ReplicaSet): boolean =>
    !isOver(pod) &&
    pod.metadata.namespace === metadata.namespace &&
    selects(spec.selector, pod.metadata.labels);
  return sets.some((set) =>
    objects.list("pods", set.metadata.namespace ?? "").some((pod) => isLeft(pod, set)),
  );
}

/** Deletes the oldest ReplicaSets without pods, beyond the history's limit. */
function cleanUp(objects: Objects, { deployment, old }: Sets): void {
  const { revisionHistoryLimit: limit = 10 } = deployment.spec;
  const empty = old.filter(
    (set) => wantedBy(set) === 0 && (set.status?.replicas ?? 0) === 0 && !isDeleted(set),
  );
  for (const set of empty.slice(0, Math.max(0, old.length - limit))) {
    objects.delete("replicasets", set);
  }
}
