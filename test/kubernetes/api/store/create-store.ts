import { type Surroundings, setDefaults } from "../defaults/kinds.ts";
import { createAllocator } from "../defaults/services.ts";
import { forbidden } from "../fault.ts";
import type { KubeObject } from "../object-store.ts";
import { RESOURCES, type Resource, SERVICE_MONITOR } from "../resources.ts";
import { podSecurityViolation } from "../validation/pod-security.ts";
import { validate } from "../validation/validate.ts";
import { MemoryStore, type Rules } from "./memory-store.ts";

export type StoreOptions = {
  /** The cluster has the Prometheus operator's kind. */
  serviceMonitors?: boolean;
  /** Gives each Service its address, which a node has to serve; without it addresses are of 10.96.0.0/16. */
  serviceAddress?: () => string;
};

/** A store as a new cluster has it. Source: docs, "Namespaces" (initial namespaces). */
export const createObjectStore = (options: StoreOptions = {}): MemoryStore => {
  const resources: readonly Resource[] = options.serviceMonitors
    ? [...RESOURCES, SERVICE_MONITOR]
    : RESOURCES;
  const around: Surroundings = {
    allocate: createAllocator(options.serviceAddress),
    accountOf: (namespace, name) => store.get("serviceaccounts", namespace, name),
  };
  const enforcePodSecurity = (resource: Resource, pod: KubeObject): void => {
    const namespace = store.get("namespaces", null, pod.metadata.namespace ?? "");
    const violation = podSecurityViolation(namespace, pod, "enforce");
    if (violation)
      throw forbidden(resource, pod.metadata.name, violation.replace(/^violate/, "violates"));
  };
  const rules: Rules = {
    create: (resource, object) => {
      setDefaults(resource, object, null, around);
      validate(resource, object, null);
      if (object.kind === "Pod") enforcePodSecurity(resource, object);
    },
    update: (resource, object, old, byClient) => {
      setDefaults(resource, object, old, around);
      validate(resource, object, byClient ? old : null);
    },
  };
  const store = new MemoryStore(resources, rules);
  for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
    store.create("namespaces", namespaceOf(name));
    const metadata = { name: "default", namespace: name };
    store.create("serviceaccounts", { apiVersion: "v1", kind: "ServiceAccount", metadata });
  }
  return store;
};

export const namespaceOf = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name },
});
