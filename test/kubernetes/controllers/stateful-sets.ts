/**
 * Pods with names and claims of their own. OrderedReady starts pod N when all before it are ready and ends them from
 * the highest; a rolling update replaces from the highest ordinal, one when the one before is ready; `partition` keeps
 * the lower ones. A new pod below the partition, or before an update has reached it, has the revision before. Claims
 * stay. Source: docs, "StatefulSets" (deployment and scaling guarantees, update strategies, forced rollback),
 * "StatefulSet Basics".
 */
import { type Controller, type ControllerContext, type Key, ownerKeys } from "./controller.ts";
import type { Objects, Pod, StatefulSet } from "./kinds.ts";
import type { PodTemplate } from "./pod-kinds.ts";
import { availableInMs, countsOf, isDeleted, isOver, podOf } from "./pod-facts.ts";
import { forget, type Revisions, revisionLabel, revisionsOf } from "./revisions.ts";
import { claimed } from "./selectors.ts";

export function statefulSets(context: ControllerContext): Controller {
  return {
    name: "statefulset-controller",
    plural: "statefulsets",
    reads: { pods: ownerKeys("StatefulSet") },
    reconcile: (key) => reconcile(key, context),
  };
}

/** The pods by their ordinals: those that should exist, and those beyond. */
type Pods = { readonly wanted: readonly (Pod | null)[]; readonly condemned: readonly Pod[] };

function reconcile({ namespace, name }: Key, { objects, clock }: ControllerContext): number | null {
  const set = objects.get("statefulsets", namespace, name);
  if (set === null) return null;
  const revisions = revisionsOf(objects, set);
  if (!isDeleted(set)) step(objects, set, revisions, clock.nowMs());
  const after = objects.get("statefulsets", namespace, name);
  if (after === null) return null;
  const pods = claimed(objects, "pods", after, after.spec.selector);
  const { minReadySeconds = 0, replicas = 1 } = after.spec;
  const { ready, available, nextMs } = countsOf(pods, minReadySeconds, clock.nowMs());
  const alive = pods.filter((pod) => !isDeleted(pod) && !isOver(pod));
  const having = (revision: string): number =>
    alive.filter(({ metadata }) => metadata.labels?.[revisionLabel] === revision).length;
  const updated = having(revisions.update);
  const isUpdated = updated === replicas && pods.length === replicas && ready === replicas;
  const current = isUpdated ? revisions.update : revisions.current;
  objects.updateStatus("statefulsets", {
    ...after,
    status: {
      observedGeneration: after.metadata.generation ?? 1,
      replicas: pods.length,
      readyReplicas: ready,
      availableReplicas: available,
      currentReplicas: having(current),
      updatedReplicas: updated,
      currentRevision: current,
      updateRevision: revisions.update,
      collisionCount: after.status?.collisionCount ?? 0,
    },
  });
  if (isUpdated) forget(objects, after, revisions.update);
  return nextMs;
}

/** Makes, ends and replaces pods as far as their order allows now. */
function step(objects: Objects, set: StatefulSet, revisions: Revisions, nowMs: number): void {
  const { wanted, condemned } = podsOf(objects, set);
  const isParallel = set.spec.podManagementPolicy === "Parallel";
  const { minReadySeconds = 0 } = set.spec;
  const isHealthy = (pod: Pod): boolean =>
    !isDeleted(pod) && availableInMs(pod, minReadySeconds, nowMs) === 0;
  const start = set.spec.ordinals?.start ?? 0;
  for (const [at, pod] of wanted.entries()) {
    if (pod === null) {
      makePod(objects, set, start + at, revisions);
      if (!isParallel) return;
      continue;
    }
    // A pod that has ended is made again under its name.
    if (isOver(pod) && !isDeleted(pod)) objects.delete("pods", pod);
    if (!isHealthy(pod) && !isParallel) return;
  }
  for (const pod of condemned) {
    if (!isDeleted(pod)) objects.delete("pods", pod);
    if (!isParallel) return;
  }
  update(objects, set, wanted, revisions, isHealthy);
}

function podsOf(objects: Objects, set: StatefulSet): Pods {
  const { replicas = 1, ordinals: { start = 0 } = {}, selector } = set.spec;
  const all = claimed(objects, "pods", set, selector).flatMap((pod) => {
    const found = ordinalOf(set, pod);
    return found === null ? [] : [{ at: found - start, pod }];
  });
  const wanted = Array.from(
    { length: replicas },
    (_, at) => all.find((one) => one.at === at)?.pod ?? null,
  );
  const beyond = all.filter(({ at }) => at < 0 || at >= replicas).sort((a, b) => b.at - a.at);
  return { wanted, condemned: beyond.map(({ pod }) => pod) };
}

function ordinalOf({ metadata }: StatefulSet, pod: Pod): number | null {
  const rest = pod.metadata.name.slice(metadata.name.length + 1);
  return pod.metadata.name.startsWith(`${metadata.name}-`) && /^\d+$/.test(rest)
    ? Number(rest)
    : null;
}

function update(
  objects: Objects,
  { spec }: StatefulSet,
  wanted: readonly (Pod | null)[],
  revisions: Revisions,
  isHealthy: (pod: Pod) => boolean,
): void {
  const { type = "RollingUpdate", rollingUpdate: { partition = 0 } = {} } =
    spec.updateStrategy ?? {};
  if (type === "OnDelete") return;
  const start = spec.ordinals?.start ?? 0;
  for (let at = wanted.length - 1; at >= Math.max(0, partition - start); at -= 1) {
    const pod = wanted[at];
    if (pod === null || pod === undefined) return;
    const isOld = pod.metadata.labels?.[revisionLabel] !== revisions.update;
    if (isOld && !isDeleted(pod)) {
      objects.delete("pods", pod);
      return;
    }
    if (!isHealthy(pod)) return;
  }
}

function makePod(objects: Objects, set: StatefulSet, ordinal: number, revisions: Revisions): void {
  const { spec, metadata, status } = set;
  const { type = "RollingUpdate", rollingUpdate: { partition = 0 } = {} } =
    spec.updateStrategy ?? {};
  const start = spec.ordinals?.start ?? 0;
  // The rolling update has replaced the pods from the highest ordinal down to those that count as current.
  const bound = partition > 0 ? Math.max(start, partition) : start + (status?.currentReplicas ?? 0);
  const keepsOld =
    type === "RollingUpdate" && revisions.current !== revisions.update && ordinal < bound;
  const revision = keepsOld ? revisions.current : revisions.update;
  const template: PodTemplate = keepsOld ? revisions.currentTemplate : spec.template;
  const name = `${metadata.name}-${ordinal}`;
  const pod = podOf(
    template,
    set,
    { name },
    {
      "statefulset.kubernetes.io/pod-name": name,
      "apps.kubernetes.io/pod-index": String(ordinal),
      [revisionLabel]: revision,
    },
  ) as Pod;
  pod.spec.hostname = name;
  if (spec.serviceName !== undefined) pod.spec.subdomain = spec.serviceName;
  pod.spec.volumes = [...volumesOf(objects, set, name, pod)];
  if (pod.spec.volumes.length === 0) delete pod.spec.volumes;
  objects.create("pods", pod);
}

/** A volume of a claim replaces one of the same name. */
function volumesOf(
  objects: Objects,
  set: StatefulSet,
  name: string,
  { spec }: Pod,
): NonNullable<Pod["spec"]["volumes"]> {
  const { volumeClaimTemplates = [], selector } = set.spec;
  const made = volumeClaimTemplates.map((template) => {
    const claimName = `${template.metadata.name}-${name}`;
    const namespace = set.metadata.namespace ?? "";
    if (objects.get("persistentvolumeclaims", namespace, claimName) === null) {
      objects.create("persistentvolumeclaims", {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: {
          name: claimName,
          namespace,
          labels: { ...template.metadata.labels, ...selector.matchLabels },
          ...(template.metadata.annotations === undefined
            ? {}
            : { annotations: template.metadata.annotations }),
        },
        spec: template.spec,
      });
    }
    return { name: template.metadata.name, persistentVolumeClaim: { claimName } };
  });
  const taken = new Set(made.map((volume) => volume.name));
  return [...(spec.volumes ?? []).filter((volume) => !taken.has(volume.name)), ...made];
}
