/**
 * Labels, and which objects a controller has. Source: docs, "Labels and Selectors", "ReplicaSet" (acquisition of pods),
 * "Owners and Dependents".
 */
import { controllerOf, ownedBy } from "./controller.ts";
import type { Kinds, KubeObject, Objects, Plural, Selector } from "./kinds.ts";
import type { Labels } from "./pod-kinds.ts";
import { namespaceOf, uidOf } from "./kinds.ts";

export function selects(
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: Labels = {},
): boolean {
  const equal = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
  return (
    equal &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === "Exists") return value !== undefined;
      if (operator === "DoesNotExist") return value === undefined;
      const isIn = value !== undefined && values.includes(value);
      return operator === "In" ? isIn : !isIn;
    })
  );
}

/**
 * Returns the objects of a controller: those that it owns and selects. It adopts selected ones without a controller,
 * and releases owned ones that it no longer selects.
 */
export function claimed<P extends Plural>(
  objects: Objects,
  plural: P,
  owner: KubeObject,
  selector: Selector,
): readonly Kinds[P][] {
  return objects.list(plural, namespaceOf(owner)).flatMap((one) => {
    const controller = controllerOf(one);
    const isOwned = controller?.uid === uidOf(owner);
    const isSelected = selects(selector, one.metadata.labels);
    if (isOwned === isSelected) return isOwned ? [one] : [];
    if (isOwned) {
      if (!one.metadata.deletionTimestamp)
        withOwners(objects, plural, one, (uid) => uid !== uidOf(owner));
      return [];
    }
    const isFree = controller === null && !one.metadata.deletionTimestamp;
    if (!isFree || owner.metadata.deletionTimestamp) return [];
    return [withOwners(objects, plural, one, () => true, owner)];
  });
}

function withOwners<P extends Plural>(
  objects: Objects,
  plural: P,
  object: Kinds[P],
  keeps: (uid: string) => boolean,
  adopter?: KubeObject,
): Kinds[P] {
  const kept = (object.metadata.ownerReferences ?? []).filter(({ uid }) => keeps(uid));
  const ownerReferences = [...kept, ...(adopter === undefined ? [] : [ownedBy(adopter)])];
  return objects.update(plural, { ...object, metadata: { ...object.metadata, ownerReferences } });
}
