// Gives each namespace what every namespace has, and empties one that is deleted before it goes. Source: docs,
// "Namespaces", "Managing Service Accounts" (ServiceAccount controller), "Finalizers"; API reference,
// "kube-root-ca.crt".
import { ApiFault } from "../fault.ts";
import type { KubeObject } from "../object-store.ts";
import type { MemoryStore } from "../store/memory-store.ts";

export class NamespaceController {
  readonly #store: MemoryStore;
  readonly #certificate: string;
  readonly #ends: (() => void)[] = [];
  #scheduled: NodeJS.Immediate | null = null;

  constructor(store: MemoryStore, certificate: string) {
    this.#store = store;
    this.#certificate = certificate;
    for (const { plural, namespaced, virtual } of store.resources) {
      if (virtual || (!namespaced && plural !== "namespaces")) continue;
      this.#ends.push(
        store.watch(plural, ({ type, object }) => {
          const isRecreated =
            ["serviceaccounts", "configmaps"].includes(plural) && type === "DELETED";
          if (plural === "namespaces" || isRecreated || this.#isEnding(object.metadata.namespace))
            this.#schedule();
        }),
      );
    }
    this.#reconcile();
  }

  close(): void {
    for (const end of this.#ends) end();
    if (this.#scheduled) clearImmediate(this.#scheduled);
  }

  #isEnding(name: string | undefined): boolean {
    return (
      this.#store.get("namespaces", null, name ?? "")?.metadata.deletionTimestamp !== undefined
    );
  }

  #schedule(): void {
    this.#scheduled ??= setImmediate(() => {
      this.#scheduled = null;
      this.#reconcile();
    });
  }

  #reconcile(): void {
    for (const namespace of this.#store.list("namespaces", null)) {
      if (namespace.metadata.deletionTimestamp) this.#empty(namespace);
      else this.#fill(namespace.metadata.name);
    }
  }

  #fill(namespace: string): void {
    const metadata = (name: string) => ({ name, namespace });
    this.#ensure("serviceaccounts", {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: metadata("default"),
    });
    const data = { "ca.crt": this.#certificate };
    this.#ensure("configmaps", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: metadata("kube-root-ca.crt"),
      data,
    });
  }

  #ensure(plural: string, object: KubeObject): void {
    if (this.#store.get(plural, object.metadata.namespace ?? null, object.metadata.name)) return;
    this.#store.create(plural, object);
  }

  #empty(namespace: KubeObject): void {
    const { name } = namespace.metadata;
    let left = 0;
    for (const { plural, namespaced, virtual } of this.#store.resources) {
      if (!namespaced || virtual) continue;
      for (const { metadata } of this.#store.list(plural, name)) {
        left += 1;
        if (metadata.deletionTimestamp) continue;
        this.#store.delete(plural, name, metadata.name, { propagation: "Background" });
        left -= this.#store.get(plural, name, metadata.name) === null ? 1 : 0;
      }
    }
    if (left > 0) return;
    try {
      this.#store.finalizeNamespace(name);
    } catch (error) {
      if (!(error instanceof ApiFault) || error.code !== 404) throw error;
    }
  }
}
