// Values that the server fills in, by kind. Source: API reference (the default of each field); docs, "Jobs" (pod
// selector), "Namespaces" (automatic labelling), "Secrets" (stringData), "Network Policies" (policyTypes).
import type { Fields, KubeObject } from "../object-store.ts";
import type { Resource } from "../resources.ts";
import { defaultPodSpec } from "./pod-spec.ts";
import { admitPod } from "./pods.ts";
import { type Allocate, defaultService } from "./services.ts";

export type Surroundings = {
  allocate: Allocate;
  accountOf: (namespace: string, name: string) => KubeObject | null;
};

/** Sets what is absent; `old` is the stored object at an update. */
export const setDefaults = (
  resource: Resource,
  object: KubeObject,
  old: KubeObject | null,
  around: Surroundings,
): void => {
  if (resource.status && old === null) object.status = {};
  switch (resource.kind) {
    case "Namespace":
      defaultNamespace(object, old);
      return;
    case "Pod":
      if (!object.spec) return;
      defaultPodSpec(object.spec);
      if (old === null && object.spec.containers) admitPod(resource, object, around.accountOf);
      return;
    case "Service":
      defaultService(object, old, around.allocate);
      if (old === null) object.status = { loadBalancer: {} };
      return;
    case "Secret":
      defaultSecret(object);
      return;
    case "PersistentVolumeClaim":
      if (object.spec) object.spec.volumeMode ??= "Filesystem";
      if (old === null) object.status = { phase: "Pending" };
      return;
    case "Role":
    case "ClusterRole":
      object.rules ??= null;
      return;
    case "RoleBinding":
    case "ClusterRoleBinding":
      defaultBinding(object);
      return;
    case "NetworkPolicy":
      if (object.spec) defaultPolicy(object.spec);
      return;
    case "EndpointSlice":
      for (const port of object.ports ?? []) {
        port.name ??= "";
        port.protocol ??= "TCP";
      }
      return;
    case "Endpoints":
      for (const { ports } of object.subsets ?? [])
        for (const port of ports ?? []) port.protocol ??= "TCP";
      return;
    default:
      defaultWorkload(resource, object, old);
  }
};

const defaultNamespace = (namespace: KubeObject, old: KubeObject | null): void => {
  const { metadata } = namespace;
  metadata.labels = { ...metadata.labels, "kubernetes.io/metadata.name": metadata.name };
  namespace.spec = old?.spec ?? { finalizers: ["kubernetes"] };
  if (old === null) namespace.status = { phase: "Active" };
};

const defaultSecret = (secret: KubeObject): void => {
  secret.type ??= "Opaque";
  for (const [key, value] of Object.entries((secret.stringData ?? {}) as Record<string, string>)) {
    secret.data = { ...secret.data, [key]: Buffer.from(value).toString("base64") };
  }
  delete secret.stringData;
};

const defaultBinding = (binding: KubeObject): void => {
  const group = "rbac.authorization.k8s.io";
  if (binding.roleRef) binding.roleRef.apiGroup ||= group;
  for (const subject of binding.subjects ?? []) {
    if (subject.kind === "User" || subject.kind === "Group") subject.apiGroup ??= group;
  }
};

const defaultPolicy = (spec: Fields): void => {
  spec.podSelector ??= {};
  spec.policyTypes ??= ["Ingress", ...(spec.egress ? ["Egress"] : [])];
  for (const { ports } of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
    for (const port of ports ?? []) port.protocol ??= "TCP";
  }
};

const QUARTER = "25%";

const defaultWorkload = (resource: Resource, object: KubeObject, old: KubeObject | null): void => {
  const spec: Fields | undefined = object.spec;
  if (!spec) return;
  if (spec.template?.spec) defaultPodSpec(spec.template.spec);
  switch (resource.kind) {
    case "Deployment":
      spec.replicas ??= 1;
      spec.revisionHistoryLimit ??= 10;
      spec.progressDeadlineSeconds ??= 600;
      spec.strategy ??= {};
      spec.strategy.type ??= "RollingUpdate";
      if (spec.strategy.type === "RollingUpdate") {
        spec.strategy.rollingUpdate ??= {};
        spec.strategy.rollingUpdate.maxUnavailable ??= QUARTER;
        spec.strategy.rollingUpdate.maxSurge ??= QUARTER;
      }
      return;
    case "ReplicaSet":
      spec.replicas ??= 1;
      return;
    case "StatefulSet":
      defaultStatefulSet(spec);
      return;
    case "Job":
      defaultJob(object, spec, old);
      return;
    default:
  }
};

const defaultStatefulSet = (spec: Fields): void => {
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  spec.podManagementPolicy ??= "OrderedReady";
  spec.serviceName ??= "";
  spec.updateStrategy ??= {};
  spec.updateStrategy.type ??= "RollingUpdate";
  if (spec.updateStrategy.type === "RollingUpdate") {
    spec.updateStrategy.rollingUpdate ??= {};
    spec.updateStrategy.rollingUpdate.partition ??= 0;
  }
  spec.persistentVolumeClaimRetentionPolicy ??= {};
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ??= "Retain";
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ??= "Retain";
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion ??= "v1";
    claim.kind ??= "PersistentVolumeClaim";
    if (claim.spec) claim.spec.volumeMode ??= "Filesystem";
    claim.status ??= { phase: "Pending" };
  }
};

const defaultJob = (job: KubeObject, spec: Fields, old: KubeObject | null): void => {
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= 6;
  spec.completionMode ??= "NonIndexed";
  spec.suspend ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? "Failed" : "TerminatingOrFailed";
  if (old !== null || spec.manualSelector || !spec.template) return;
  const { uid = "", name } = job.metadata;
  const labels = {
    "batch.kubernetes.io/controller-uid": uid,
    "batch.kubernetes.io/job-name": name,
    "controller-uid": uid,
    "job-name": name,
  };
  spec.template.metadata ??= {};
  spec.template.metadata.labels = { ...spec.template.metadata.labels, ...labels };
  spec.selector ??= { matchLabels: { "batch.kubernetes.io/controller-uid": uid } };
};
