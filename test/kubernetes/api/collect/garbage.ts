// Deletes what its owners left behind. An object whose owners are all gone is deleted; an owner that is deleted in the
// foreground waits for the dependents that block it; one that is orphaned first loses its dependents' references. Works
// behind the change, as a real collector does, so that nobody relies on it being at once. Source: docs, "Garbage
// Collection", "Owners and Dependents", "Finalizers".
import type { KubeObject, OwnerReference } from "../object-store.ts";
import type { MemoryStore } from "../store/memory-store.ts";

const FOREGROUND = "foregroundDeletion";
const ORPHAN = "orphan";

export class GarbageCollector {
  readonly #store: MemoryStore;
  readonly #plurals: readonly string[];
  readonly #ends: (() => void)[] = [];
  #scheduled: NodeJS.Immediate | null = null;

  constructor(store: MemoryStore) {
    this.#store = store;
    this.#plurals = store.resources.filter(({ virtual }) => !virtual).map(({ plural }) => plural);
    for (const plural of this.#plurals) {
      this.#ends.push(
        store.watchChanges(plural, null, ({ type, object, previous }) => {
          const ends = type === "DELETED" || object.metadata.deletionTimestamp !== undefined;
          const owned =
            (object.metadata.ownerReferences ?? previous?.metadata.ownerReferences ?? []).length >
            0;
          if (ends || (owned && type === "ADDED")) this.#schedule();
        }),
      );
    }
  }

  close(): void {
    for (const end of this.#ends) end();
    if (this.#scheduled) clearImmediate(this.#scheduled);
  }

  #schedule(): void {
    this.#scheduled ??= setImmediate(() => {
      this.#scheduled = null;
      this.#collect();
    });
  }

  #collect(): void {
    const all = new Map<string, { plural: string; object: KubeObject }>();
    for (const plural of this.#plurals) {
      for (const object of this.#store.list(plural, null)) {
        all.set(object.metadata.uid ?? "", { plural, object });
      }
    }
    const dependents = (uid: string | undefined): { plural: string; object: KubeObject }[] =>
      [...all.values()].filter(({ object }) => ownersOf(object).some((owner) => owner.uid === uid));
    for (const { plural, object } of all.values()) {
      const finalizers = object.metadata.finalizers ?? [];
      if (object.metadata.deletionTimestamp && finalizers.includes(ORPHAN)) {
        for (const dependent of dependents(object.metadata.uid))
          this.#release(dependent, object.metadata.uid);
        this.#removeFinalizer(plural, object, ORPHAN);
      } else if (object.metadata.deletionTimestamp && finalizers.includes(FOREGROUND)) {
        const blocking = dependents(object.metadata.uid).filter(({ object: dependent }) =>
          ownersOf(dependent).some(
            ({ uid, blockOwnerDeletion }) => uid === object.metadata.uid && blockOwnerDeletion,
          ),
        );
        if (blocking.length === 0) this.#removeFinalizer(plural, object, FOREGROUND);
        for (const dependent of dependents(object.metadata.uid))
          this.#delete(dependent, "Foreground");
      }
    }
    for (const { plural, object } of all.values()) {
      const owners = ownersOf(object);
      if (owners.length > 0 && owners.every((owner) => !isPresent(all, owner, object))) {
        this.#delete({ plural, object }, "Background");
      }
    }
  }

  #current(plural: string, { metadata }: KubeObject): KubeObject | null {
    const current = this.#store.get(plural, metadata.namespace ?? null, metadata.name);
    return current?.metadata.uid === metadata.uid ? current : null;
  }

  #delete(
    { plural, object }: { plural: string; object: KubeObject },
    propagation: "Foreground" | "Background",
  ): void {
    const current = this.#current(plural, object);
    if (!current || current.metadata.deletionTimestamp) return;
    this.#store.delete(plural, object.metadata.namespace ?? null, object.metadata.name, {
      propagation,
    });
  }

  #release(
    { plural, object }: { plural: string; object: KubeObject },
    uid: string | undefined,
  ): void {
    const current = this.#current(plural, object);
    if (!current) return;
    current.metadata.ownerReferences = ownersOf(current).filter((owner) => owner.uid !== uid);
    if (current.metadata.ownerReferences.length === 0) delete current.metadata.ownerReferences;
    this.#store.update(plural, current);
  }

  #removeFinalizer(plural: string, object: KubeObject, name: string): void {
    const current = this.#current(plural, object);
    if (!current) return;
    current.metadata.finalizers = (current.metadata.finalizers ?? []).filter((one) => one !== name);
    if (current.metadata.finalizers.length === 0) delete current.metadata.finalizers;
    this.#store.update(plural, current);
  }
}

const ownersOf = ({ metadata }: KubeObject): readonly OwnerReference[] =>
  metadata.ownerReferences ?? [];

/** An owner counts only in the namespace of its dependent, or without one. Source: docs, "Owners and Dependents". */
const isPresent = (
  all: ReadonlyMap<string, { object: KubeObject }>,
  { uid }: OwnerReference,
  dependent: KubeObject,
): boolean => {
  const owner = all.get(uid)?.object;
  if (!owner) return false;
  return (
    owner.metadata.namespace === undefined ||
    owner.metadata.namespace === dependent.metadata.namespace
  );
};
