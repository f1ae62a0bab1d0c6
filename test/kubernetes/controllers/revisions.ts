/**
 * The templates that a StatefulSet has had, as ControllerRevisions. Source: docs, "StatefulSets"
 * (.spec.revisionHistoryLimit), API reference, "ControllerRevision".
 */
import { controllerOf, ownedBy } from "./controller.ts";
import type { ControllerRevision, Objects, StatefulSet } from "./kinds.ts";
import type { PodTemplate } from "./pod-kinds.ts";
import { uidOf } from "./kinds.ts";
import { sameTemplate, templateHash } from "./template-hash.ts";

export const revisionLabel = "controller-revision-hash";

export type Revisions = {
  /** The name of the revision before the update; that of the update if there is none. */
  readonly current: string;
  readonly currentTemplate: PodTemplate;
  readonly update: string;
};

/** Finds or makes the revision of the template. An older one that is used again becomes the newest. */
export function revisionsOf(objects: Objects, set: StatefulSet): Revisions {
  const all = owned(objects, set);
  const highest = Math.max(0, ...all.map(({ revision }) => revision));
  const same = all.find(({ data }) => sameTemplate(data.spec.template, set.spec.template));
  const update =
    same === undefined ? made(objects, set, highest + 1) : raised(objects, same, highest);
  const current =
    all.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
  return {
    current: current.metadata.name,
    currentTemplate: current.data.spec.template,
    update: update.metadata.name,
  };
}

/** Deletes the oldest revisions that no pod has, beyond the history's limit. */
export function forget(objects: Objects, set: StatefulSet, used: string): void {
  const { revisionHistoryLimit: limit = 10 } = set.spec;
  const old = owned(objects, set).filter(({ metadata }) => metadata.name !== used);
  for (const one of old.slice(0, Math.max(0, old.length - limit))) {
    objects.delete("controllerrevisions", one);
  }
}

function owned(objects: Objects, set: StatefulSet): readonly ControllerRevision[] {
  return objects
    .list("controllerrevisions", set.metadata.namespace ?? "")
    .filter((one) => controllerOf(one)?.uid === uidOf(set))
    .sort((a, b) => a.revision - b.revision);
}

function raised(objects: Objects, found: ControllerRevision, highest: number): ControllerRevision {
  if (found.revision === highest) return found;
  return objects.update("controllerrevisions", { ...found, revision: highest + 1 });
}

function made(objects: Objects, set: StatefulSet, revision: number): ControllerRevision {
  const { metadata, spec } = set;
  const namespace = metadata.namespace ?? "";
  let name = "";
  let hash = "";
  for (let collisions = set.status?.collisionCount ?? 0; ; collisions += 1) {
    hash = templateHash(spec.template, collisions);
    name = `${metadata.name}-${hash}`;
    if (objects.get("controllerrevisions", namespace, name) === null) break;
  }
  return objects.create("controllerrevisions", {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name,
      namespace,
      labels: { ...spec.template.metadata?.labels, "controller.kubernetes.io/hash": hash },
      ownerReferences: [ownedBy(set)],
    },
    data: { spec: { template: spec.template } },
    revision,
  });
}
