import type { KubeObject } from "../object-store.ts";
import { RESOURCES, type Resource, SERVICE_MONITOR } from "../resources.ts";
import { MemoryStore, type Rules } from "./memory-store.ts";

export type StoreOptions = {
  /** The cluster has the Prometheus operator's kind. */
  serviceMonitors?: boolean;
};

/** A store as a new cluster has it. Source: docs, "Namespaces" (initial namespaces). */
export const createObjectStore = (options: StoreOptions = {}): MemoryStore => {
  const rules: Rules = { create: () => undefined, update: () => undefined };
  const resources: readonly Resource[] = options.serviceMonitors
    ? [...RESOURCES, SERVICE_MONITOR]
    : RESOURCES;
  const store = new MemoryStore(resources, rules);
  for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
    store.create("namespaces", namespaceOf(name));
  }
  return store;
};

export const namespaceOf = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name },
});
